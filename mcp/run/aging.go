package run

import "time"

// What it takes for a server to count as slowed down by what it has collected. A server that reads and writes all its notes for each call runs
// 17,289 and 21,684 scripts in 15 s, and 7,684 and 3,582 where it is not replaced.
const (
	agingScripts = 64                   // of which the processor time is measured together
	agingFactor  = 8                    // times what a script took when the server was new
	agingLeast   = 2 * time.Millisecond // for a script
	agingSpans   = 2                    // measurements in a row
)

// aging measures how much of the processor a server uses for a script, now and when it was new. A server that keeps what it is told, in memory
// or in a file that it reads and writes for each call, gets slower with every script, whatever that is.
type aging struct {
	scripts int           // since the last measurement
	used    time.Duration // of the processor by then
	began   bool          // the first span is over, in which a server loads and compiles
	fresh   time.Duration // for a script when it was new; 0: not known
	slow    int           // spans in a row
}

// ran notes scripts, with the processor time that the server has used since its start, and reports whether it is old.
func (a *aging) ran(scripts int, used func() time.Duration) (old bool) {
	if a.scripts += scripts; a.scripts < agingScripts {
		return false
	}
	total := used()
	now := max(0, total-a.used) / time.Duration(a.scripts)
	a.scripts, a.used = 0, total
	switch {
	case !a.began:
		a.began = true
	case a.fresh == 0:
		a.fresh = max(now, 1)
	case now > agingFactor*a.fresh && now > agingLeast:
		a.slow++
	default:
		a.slow = 0
	}
	return a.slow == agingSpans
}

// renewOld replaces a server that has become slow by one that has collected nothing, in a home of its own that is empty. Where that does not
// help, since what it has collected is elsewhere, the next is compared with what it was itself, so that it is not done for nothing often.
func (e *executor) renewOld(scripts int) error {
	s := e.live
	if s == nil || e.target.Exact {
		return nil
	}
	if !s.aging.ran(scripts, s.Used) {
		return nil
	}
	return e.discard(s, nil)
}
