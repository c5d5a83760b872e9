package native

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// wrecks explains deaths that no handler of ours has seen: by how they ended and by what was said.
type wrecks struct {
	limit   uint64 // bytes that a run may hold
	symbols symbols
	reached map[string]*forkserver.Deaths // by rule
}

func (w *wrecks) deaths(rule string) *forkserver.Deaths {
	if w.reached == nil {
		w.reached = map[string]*forkserver.Deaths{}
	}
	if w.reached[rule] == nil {
		w.reached[rule] = &forkserver.Deaths{}
	}
	return w.reached[rule]
}

// explain fills in what is known of a death.
func (w *wrecks) explain(o *teasel.Observation, r forkserver.Result, stderr []byte, limit time.Duration) *Crash {
	c := &Crash{Report: strings.TrimSpace(strings.ToValidUTF8(string(stderr), "?"))}
	o.Features, o.Exit = o.Features[:0], teasel.ExitCrash
	switch {
	case r.Killed == forkserver.Slow:
		o.Exit, c.Rule, c.Message = teasel.ExitHang, ruleHang, fmt.Sprintf("no end after %v", limit)
	case r.Killed == forkserver.Fat:
		c.Rule, c.Message = ruleMemory, fmt.Sprintf("more than %d MiB held", w.limit>>20)
	case r.Status.Exited():
		c.Status = r.Status.ExitStatus()
		c.Rule, c.Message = ruleExit, fmt.Sprintf("exit status %d", c.Status)
	default:
		c.Signal = r.Status.Signal()
		c.Rule, c.Message = faultRule(c, sancov.Fault{}), libraryMessage(c.Report)
		c.panicked()
		if c.Signal == syscall.SIGKILL && r.Gone {
			c.Message = "the process that it was forked from is gone as well"
		}
	}
	sanitized(c, &sancov.Death{Report: c.Report}, w.symbols.frame)
	o.Detail, o.Evidence = c.String(), c
	return c
}

// Exit statuses of sanitizers that do not abort: those that we set, which are AFL's, and what they have of their own.
func sanitizerExit(status int) bool {
	return status == 86 || status == 66 || status == 23 || status == 1 || status == 77
}

// reported reports whether a sanitizer has said something.
func reported(stderr []byte) bool {
	return bytes.Contains(stderr, []byte("Sanitizer")) && headline.Match(stderr) || bytes.Contains(stderr, []byte("runtime error:")) && runtimeError.Match(stderr)
}
