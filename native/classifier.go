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

// classifier determines why a run of a program without our runtime has failed, by its wait status and its standard error.
type classifier struct {
	limit   uint64 // bytes that a run may hold
	symbols triage.Symbols
	crashes map[string]*virgin.Deaths // crashes without a stack, by rule
}

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
	if !r.RustPanic(c.Report) && (r.Fault == triage.Exit || r.Fault == triage.Abort) && strings.Contains(c.Report, "goroutine ") && r.GoCrash(c.Report) {
		if rule(kind+string(r.Fault)) == nil { // a fault that only Go programs have
			r.Fault = triage.Panic
		}
	}
	reader(&w.symbols).Refine(r, c.Report, "")
	c.set(r)
	o.Detail, o.Evidence = c.sentence(r), c
	return c
}

// sanitizerExit reports whether status is an exit status of a sanitizer: one of those that we set, which are AFL's, or a default.
func sanitizerExit(status int) bool {
	return status == 86 || status == 66 || status == 23 || status == 1 || status == 77
}
