package fleet

import (
	"context"

	"github.com/teaselfuzz/teasel"
)

// incoming is what has come of other machines. The lock of the [Bridge] is held.
type incoming struct {
	inbox []arrived
	given uint64 // sequence number of the last testcase that Pull has returned, or of the last read if it has returned all
	ran   uint64 // the same, of those that have run
	read  uint64 // sequence number of the last message that was read
	taken int    // testcases that have run
}

// arrived is a testcase of another machine.
type arrived struct {
	data     []byte
	sequence uint64
}

// Pull implements [teasel.Source]. That it is called says that the workers have run what it has returned before.
func (b *Bridge) Pull(context.Context) (s teasel.Supply, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = b.given
	n := min(len(b.inbox), giveMost)
	for _, a := range b.inbox[:n] {
		s.Inputs = append(s.Inputs, a.data)
		b.given = a.sequence
	}
	if b.inbox = b.inbox[n:]; len(b.inbox) == 0 {
		b.given, b.inbox = b.read, nil
	}
	b.taken += n
	s.Errands, b.errands.taken = b.errands.taken, nil
	s.Unstable, b.unstable.fresh = b.unstable.fresh, nil
	return s, nil
}

// pull reads what others have sent.
func (b *Bridge) pull(ctx context.Context) error {
	for {
		es, last, n, err := b.link.Pull(ctx, b.read, pullMost)
		if err != nil || n == 0 {
			return err
		}
		b.accept(es, b.acks.at.Cursor)
		b.advance(last)
	}
}

// advance records up to which sequence number there is nothing left to read.
func (b *Bridge) advance(to uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read = to; len(b.inbox) == 0 {
		b.given = to
	}
}

// accept takes testcases from the hub. Those up to the sequence number ran have run here.
func (b *Bridge) accept(es []Entry, ran uint64) {
	b.mu.Lock()
	for i := range es {
		b.take(&es[i], ran)
	}
	b.mu.Unlock()
	for i := range es {
		if e := &es[i]; e.Machine != b.link.config.Machine {
			b.otherBuild(e.Build, "machine "+e.Machine)
		}
	}
}

// take keeps an entry for the workers if it may reach something new here. Of another build, the features say nothing. The lock is held.
func (b *Bridge) take(e *Entry, ran uint64) {
	_, ours := b.outbox[e.Key]
	ours = ours || b.acks.entries[e.Key]
	b.acks.entries[e.Key] = true
	delete(b.outbox, e.Key)
	same := e.Build == b.about.build()
	if same {
		b.unstable.there(e.Unstable)
		for f := range e.Features.All() {
			b.fleet[f] = struct{}{}
		}
	}
	if e.Unstable.Len() > 0 && e.Features.Len() == 0 { // no testcase
		return
	}
	fresh := same && b.unstable.adds(e.Features, b.here)
	if !ours && e.Sequence > ran && (fresh || !same) {
		b.inbox = append(b.inbox, arrived{e.Data, e.Sequence})
	}
}
