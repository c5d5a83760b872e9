package run

import (
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// conclude fills in the observation of a script that is at its end.
func (k *talk) conclude() {
	if k.obs == nil {
		return
	}
	o := k.obs
	switch k.state {
	case lost:
		o.Exit, o.Runs = teasel.ExitLost, k.t.Executions()+k.runs
		if first := k.t.FirstUnanswered(); first != nil { // the engine tries what has waited longest first
			o.Elapsed = time.Since(k.began.Add(first.At))
		}
		// Of several it is not known what was said to them; how the server ended is.
		clear(k.t.Sent)
		clear(k.t.Received)
		k.t.Sent, k.t.Received = k.t.Sent[:0], k.t.Received[:0]
		o.Features, o.Evidence = o.Features[:0], &k.t
		return
	case judged:
		return
	case skipped, waiting:
		o.Exit, o.Runs = teasel.ExitOK, 0
		return
	case suspended, postponed:
		if k.server != nil { // else it has not begun
			k.reported = k.t.Executions() + k.runs + k.missing()
		}
		o.Exit, o.Runs = teasel.ExitOK, k.reported
		return
	}
	k.state = judged
	o.Runs = max(k.t.Executions()+k.runs, 1)
	k.e.runs += uint64(o.Runs)
	o.Elapsed = k.last.Sub(k.began)
	o.Exit, o.Detail = observe.Exit(&k.t)
	o.Evidence, o.Expensive, o.Work = &k.t, k.in.Start == script.Fresh, k.t.Work(k.alone)
	if o.Features = o.Features[:0]; k.in.Check == "" && !k.t.Cut { // a check is judged, not kept: its plain parts are seeds as well
		o.Features = observe.Fingerprint(o.Features, &k.t)
	}
	if o.Ask.Features {
		o.Note = observe.NewNote(&k.t)
	}
}
