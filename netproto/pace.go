package netproto

import "time"

// pace is how long the server takes.
type pace struct {
	patience patience      // for one that is not ours
	cut      int           // dialogues that were ended early
	longest  time.Duration // processor time that a dialogue has used which came to its end
}

// early returns how much processor time a dialogue may use that need not be judged in full: earlyFactor times what the longest has used that
// came to its end, and a part of the time limit at least, which a server needs for what it does only once. The part gets smaller with the
// dialogues that were ended early, but for each wholeEvery-th, so that one that only takes longer comes to its end.
func (p *pace) early(timeout time.Duration) time.Duration {
	least := timeout / earlyPart
	if p.cut%wholeEvery != 0 {
		least >>= min(p.cut/halveEvery, mostHalved)
	}
	return min(max(earlyFactor*p.longest, least), timeout)
}

const (
	earlyFactor = 8
	earlyPart   = 16
	wholeEvery  = 16
	halveEvery  = 4
	mostHalved  = 4 // times: 4 ms of a second are left
)
