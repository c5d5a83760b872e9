package view_test

import (
	"fmt"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/view"
)

func Example() {
	r := view.NewRecorder(view.State{Kind: "mcp", Target: "node server.js"}, nil, view.Options{})
	for _, e := range []teasel.Event{
		{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: 2 * time.Second, Executions: 12000, Corpus: 12, Features: 80}},
		{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: "mcp/server-crash", Severity: teasel.Critical,
			Subject: "tools/call divide", Message: "the server ended with status 1", Stable: 3, Tries: 3}},
	} {
		_ = r.Report(e) // a recorder never fails
	}
	r.End("runs")
	s := r.Snapshot()
	fmt.Printf("%s: %s\n", s.Target, s.Status)
	fmt.Printf("%.0f executions/s, %d features\n", s.Figures.Rate, s.Figures.Features)
	for _, f := range s.Findings {
		fmt.Printf("%s  %s: %s\n", f.Rule, f.Subject, f.Message)
	}
	// Output:
	// node server.js: ended: all of its executions were made
	// 6000 executions/s, 80 features
	// mcp/server-crash  tools/call divide: the server ended with status 1
}
