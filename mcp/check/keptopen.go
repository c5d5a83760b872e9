package check

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

const (
	openTimes = 64 // calls after which it is counted what is open
	openTools = 6
)

// checkKeptOpen repeats a call of a tool that only reads or is idempotent. Others may have something open for their caller from then on, whatever their names are: a
// login, a job, a lock.
func checkKeptOpen(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	for _, t := range quickTools(b, r, openTools, func(t *session.Operation) bool { return t.Reads || t.Idempotent }) {
		emit(t.Name, script.NewShared(KeptOpen, script.Step{Line: t.Call(), Times: openTimes}, script.Send(t.Call())))
	}
}

// keptOpen judges what a server has open, and how many processes run or have ended and were not waited for, after calls.
func (j *Case) keptOpen(g *script.Growth) {
	for _, of := range []struct {
		what   string
		counts []float64
	}{{"open files", g.Values}, {"child processes", g.Processes}} {
		if !risesWithCalls(g.Sizes, of.counts) {
			continue
		}
		s, last := &j.Transcript.Sent[0], len(g.Sizes)-1
		j.report(RuleKeptOpen, j.subject(s), of.what, fmt.Sprintf("After %s was repeated %.0f times the server has %.0f %s more than before.",
			jsonrpc.Cut(s.Raw, 160), g.Sizes[last]-g.Sizes[0], of.counts[last]-of.counts[0], of.what)).Alone = true
	}
}

// risesWithCalls reports whether a count rises with at least every second call, to the end. The first quarter may open the connections that the
// others use.
func risesWithCalls(calls, counts []float64) bool {
	if len(counts) != len(calls) || counts[0] == 0 {
		return false
	}
	for i := 2; i < len(counts); i++ {
		if n := calls[i] - calls[i-1]; n > 1 && counts[i]-counts[i-1] < n/2 {
			return false
		}
	}
	return true
}
