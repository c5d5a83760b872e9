// Package wear finds out whether a server ends of how much it is sent, whatever that is: it counts, or runs out of something. Which message came
// last is not to blame then.
package wear

import "context"

// Least is how many messages or connections are so many that a server may have ended of their number.
const Least = 8

const (
	first = 512  // that are tried at first, at least
	most  = 8192 // that are tried at most
)

// Amount is how much a server was sent when it ended. The zero value says that it does not end of that.
type Amount struct {
	Messages    int
	Connections int // 0: they do not count
}

// Ends is how much a server takes until it ends, by the way in which it does, as far as that is known. Its zero value is ready for use by one
// goroutine.
type Ends[How comparable] struct{ known map[How]trial }

type trial struct {
	found Amount
	times int
}

// After returns after how much the server ends in a way in which it has ended after so much. If that is not known, try has the server sent what
// every server takes so many times at most, and returns after how much it has ended in that way; nil: nothing is tried now. If the context ends
// meanwhile, nothing is known: what the server was seen to do counts all the same.
func (e *Ends[How]) After(ctx context.Context, how How, had int, try func(times int) (Amount, error)) (Amount, error) {
	known := e.known[how]
	if try == nil || known.found != (Amount{}) || known.times >= min(max(had, 1), most) {
		return known.found, nil
	}
	times := min(max(2*had, first), most)
	found, err := try(times)
	switch {
	case ctx.Err() != nil:
		return Amount{}, nil
	case err != nil:
		return Amount{}, err
	}
	if e.known == nil {
		e.known = map[How]trial{}
	}
	e.known[how] = trial{found, times}
	return found, nil
}
