package native

import (
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/internal/virgin"
)

// classifier says what went wrong in a run of a program without our signal handlers, by its wait status and by what it has
// written to standard error.
type classifier struct {
	limit   uint64 // bytes that a run may hold
	symbols triage.Symbols
	reached map[string]*virgin.Deaths // what crashes have reached, by rule
}

func (w *classifier) deaths(rule string) *virgin.Deaths {
	if w.reached == nil {
		w.reached = map[string]*virgin.Deaths{}
	}
	if w.reached[rule] == nil {
		w.reached[rule] = &virgin.Deaths{}
	}
	return w.reached[rule]
}

// classify fills in how a run ended and returns its evidence.
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
			r.Message += ": the process that it was forked from is gone as well"
		}
	}
	if !r.RustPanic(c.Report) && (r.Fault == triage.Exit || r.Fault == triage.Abort) && strings.Contains(c.Report, "goroutine ") && r.GoCrash(c.Report) {
		if rule(kind+string(r.Fault)) == nil { // of Go only
			r.Fault = triage.Panic
		}
	}
	reader(&w.symbols).Refine(r, c.Report, "")
	c.set(r)
	o.Detail, o.Evidence = c.sentence(r), c
	return c
}

// Exit statuses of sanitizers that do not abort: those that we set, which are AFL's, and what they have of their own.
func sanitizerExit(status int) bool {
	return status == 86 || status == 66 || status == 23 || status == 1 || status == 77
}
