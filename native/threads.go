package native

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/triage"
)

// threads are those of a process at the end of a run that is over a limit: what they do says where a program hangs, or holds too much. The
// watchdog looks while the executor waits for the run.
type threads struct {
	looks int
	seen  []*thread // the first thread of the process first
}

// thread is what was seen of one thread.
type thread struct {
	number int
	busy   int  // how often it ran
	joins  bool // it waited for the end of another thread
	stacks []triage.Stack
}

const (
	threadLooks = 8 // at threads that run: what all stacks have in common is the function with the loop
	threadPause = 2 * time.Millisecond
)

// look stops a process and reads the stacks of its threads, several times while one of them runs. Once all wait, where they do is all that
// counts: on a busy machine some may only have begun before. What cannot be stopped in time, or is within a runtime's own assembly, may be
// seen at the next look. It reports whether any stack was read.
func (t *threads) look(pid int, symbols *triage.Symbols) bool {
	*t = threads{}
	for t.looks < threadLooks {
		busy, last := false, threads{looks: 1}
		err := proc.Interrupt(pid, func(s proc.Stop) {
			busy = busy || s.Busy
			stack, _, _, err := symbols.Stopped(s.Thread, s.Registers)
			if err != nil || len(stack) == 0 {
				return
			}
			t.add(s, stack)
			last.add(s, stack)
		})
		if t.looks++; err == nil && !busy && len(last.seen) > 0 {
			*t = last
			break
		}
		time.Sleep(threadPause)
	}
	return len(t.seen) > 0
}

func (t *threads) add(s proc.Stop, stack triage.Stack) {
	i := slices.IndexFunc(t.seen, func(h *thread) bool { return h.number == s.Thread })
	if i < 0 {
		i = len(t.seen)
		t.seen = append(t.seen, &thread{number: s.Thread})
	}
	h := t.seen[i]
	h.stacks = append(h.stacks, stack)
	if h.joins = s.Joins; s.Busy {
		h.busy++
	}
}

// stack returns the functions that were active in all looks, and the innermost of them at the first. What was unwound in part, as within a
// runtime's own assembly, does not count: it does not begin where most others do.
func (h *thread) stack() triage.Stack {
	begins := map[string]int{}
	for _, s := range h.stacks {
		begins[s[len(s)-1].Function]++
	}
	whole := slices.DeleteFunc(slices.Clone(h.stacks), func(s triage.Stack) bool {
		n := begins[s[len(s)-1].Function]
		return slices.ContainsFunc(h.stacks, func(other triage.Stack) bool { return begins[other[len(other)-1].Function] > n })
	})
	at := whole[0]
	for _, other := range whole[1:] {
		n := 0
		for n < min(len(at), len(other)) && at[len(at)-1-n].Function == other[len(other)-1-n].Function {
			n++
		}
		at = at[len(at)-n:]
	}
	return withoutRuntime(at)
}

// blamed returns the threads that the run waits for, the one that names the fault first: one that runs, those that wait for a lock, those
// that the first thread waits for the end of, or the first thread. Their order does not depend on which was started first.
func (t *threads) blamed() []*thread {
	var busy, locked, others []*thread
	for i, h := range t.seen {
		if h.stack().Top() == nil {
			continue
		}
		switch {
		case 2*h.busy > len(h.stacks):
			busy = append(busy, h)
		case h.stack().Locked():
			locked = append(locked, h)
		case !h.joins && i > 0:
			others = append(others, h)
		}
	}
	blamed := busy
	switch {
	case len(busy) > 0 || len(t.seen) == 0:
	case len(locked) > 0:
		blamed = locked
	case len(others) > 0 && t.seen[0].joins:
		blamed = others
	default:
		blamed = t.seen[:1:1]
	}
	slices.SortStableFunc(blamed, func(a, b *thread) int { return cmp.Compare(a.key(), b.key()) })
	return blamed
}

func (h *thread) key() string {
	r := triage.Report{Fault: triage.Hang, Stack: h.stack()}
	return r.Key()
}

// explain adds to a report where the program was, and to its text the stacks of all threads if there are several. It reports whether the
// threads were looked at.
func (t *threads) explain(r *triage.Report, c *Crash) bool {
	blamed := t.blamed()
	if len(blamed) == 0 {
		return false
	}
	r.Stack, c.Sampled = blamed[0].stack(), true
	if r.Stack.Locked() {
		r.Message += "; a thread waits for a lock"
		for _, h := range blamed[1:] {
			if f := h.stack().Top(); h.key() != blamed[0].key() {
				r.Message += fmt.Sprintf(", and so does one in %v", f)
				break
			}
		}
	}
	if len(t.seen) == 1 {
		return true
	}
	var b strings.Builder
	for i, h := range t.seen {
		stack, what := h.stack(), ""
		if stack.Locked() {
			what = ", which waits for a lock"
		} else if h.joins {
			what = ", which waits for the end of another"
		}
		fmt.Fprintf(&b, "thread %d%s:\n", i+1, what)
		for k, f := range stack {
			fmt.Fprintf(&b, "    #%d %v\n", k, f)
		}
	}
	c.Report = strings.TrimSpace(c.Report + "\n\n" + b.String())
	return true
}
