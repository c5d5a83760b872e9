package native

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/internal/virgin"
)

// classifier determines why a run of a program without our runtime has failed, by its wait status and its standard error.
type classifier struct {
	limit   uint64 // bytes that a run may hold
	symbols triage.Symbols
	crashes map[string]*virgin.Deaths // crashes without a stack, by rule
	noTrace bool                      // the program cannot be traced
	threads threads
}

func newClassifier(t Target) classifier {
	return classifier{limit: t.memory(), noTrace: len(t.Tracer) > 0} // the stack would be that of an emulator
}

// look is a [forkserver.Command.Look].
func (w *classifier) look(pid int) bool { return !w.noTrace && w.threads.look(pid, &w.symbols) }

func (w *classifier) deaths(rule string) *virgin.Deaths {
	if w.crashes == nil {
		w.crashes = map[string]*virgin.Deaths{}
	}
	if w.crashes[rule] == nil {
		w.crashes[rule] = &virgin.Deaths{}
	}
	return w.crashes[rule]
}

// classify fills in the observation of a failed run and returns its evidence.
func (w *classifier) classify(o *teasel.Observation, result forkserver.Result, stderr []byte, limit time.Duration) *Crash {
	c, r := &Crash{Report: strings.TrimSpace(strings.ToValidUTF8(string(stderr), "?"))}, &triage.Report{}
	o.Features, o.Exit = o.Features[:0], teasel.ExitCrash
	if end := (ending{result.Killed, result.Waited, result.Status}); !end.explain(o, c, r, limit, w.limit) {
		c.Signal = result.Status.Signal()
		r.Fault, r.Message = triage.OfSignal(c.Signal, c.Report), triage.AbortMessage(c.Report)
		if r.Fault == triage.Signal {
			r.Message = signalName(c.Signal)
		}
		if c.Signal == syscall.SIGKILL && result.Gone {
			r.Message += ": the fork server has died as well"
		}
	}
	if result.Killed != proc.NotKilled && result.Looked {
		w.threads.explain(r, c)
	}
	if !r.RustPanic(c.Report) && (r.Fault == triage.Exit || r.Fault == triage.Abort) && strings.Contains(c.Report, "goroutine ") && r.GoCrash(c.Report) {
		if rule(kind+string(r.Fault)) == nil { // a fault that only Go programs have
			r.Fault = triage.Panic
		}
	}
	if r.Fault == triage.Exit {
		exception(r, c.Report)
	}
	reader(&w.symbols).Refine(r, c.Report, "")
	c.set(r)
	o.Detail, o.Evidence = c.sentence(r), c
	return c
}

// exception reads what the runtime of another language has written of an exception that nobody has caught, for which it has ended the
// program.
func exception(r *triage.Report, stderr string) {
	c, found := triage.LastCrash([]byte(stderr), true)
	if !found || c.Logged() || c.Sanitizer || len(c.Stack) == 0 {
		return
	}
	switch c.Language {
	case triage.C, triage.Go, triage.Rust:
		return
	}
	*r = c.Report
	if rule(kind+string(r.Fault)) == nil { // an assertion is an exception too
		r.Fault = triage.Exception
	}
}

// wordless reports whether nothing says where a signal has ended the program.
func (c *Crash) wordless() bool {
	return c.Signal != 0 && c.Signal != syscall.SIGKILL && len(c.Stack) == 0
}

// locateTries is how often an input that does not crash always is run to see where it does.
const locateTries = 3

// locate runs an input that a signal has ended once more, under a tracer, and adds where that was. It does nothing if another signal ends that
// run and further ones, or none: then the place is unknown.
func (w *classifier) locate(ctx context.Context, p *forkserver.Plain, in []byte, o *teasel.Observation, c *Crash, limit time.Duration) error {
	for try := 0; try < locateTries && !w.noTrace && len(c.Stack) == 0; try++ {
		if err := w.trace(ctx, p, in, o, c, limit); err != nil {
			return err
		}
	}
	return nil
}

// trace runs an input under a tracer, and adds to a crash where it is if the run ends in the same way.
func (w *classifier) trace(ctx context.Context, p *forkserver.Plain, in []byte, o *teasel.Observation, c *Crash, limit time.Duration) error {
	var f sancov.Fault
	var stack triage.Stack
	result, err := p.RunTraced(ctx, in, limit, func(s proc.Stop) {
		if at, pc, sp, err := w.symbols.Stopped(s.Thread, s.Registers); err == nil { // otherwise it was killed, or runs elsewhere
			stack = at
			f = sancov.Fault{Signal: s.Signal, Code: s.Code, Address: s.Address, PC: pc, SP: sp, Frames: make([]uint64, len(at))}
		}
	})
	switch {
	case err != nil && ctx.Err() == nil:
		w.noTrace = true
		return nil
	case err != nil:
		return err
	case result.Killed == proc.Cancelled:
		return context.Cause(ctx)
	}
	o.Runs++
	if result.Killed != proc.NotKilled || result.Status.Signal() != c.Signal || f.Signal != c.Signal || len(stack) == 0 {
		return nil
	}
	r := c.triage()
	if f.Signal == syscall.SIGSEGV && f.Address == f.PC {
		f.Access = sancov.AccessExecute
	}
	c.signalled(r, stack, f)
	if top := r.Stack.Top(); top != nil && top.File == "" && r.Fault != triage.Recursion { // without lines, several faults of one function look alike
		if n, ok := w.symbols.Within(top.Module, top.Offset); ok {
			c.within = fmt.Sprintf("%s+%#x", top.Function, n)
		}
	}
	c.set(r)
	o.Detail = c.sentence(r)
	return nil
}

// sanitizerExit reports whether status is an exit status of a sanitizer: one of those that we set, which are AFL's, or a default.
func sanitizerExit(status int) bool {
	return status == 86 || status == 66 || status == 23 || status == 1 || status == 77
}
