package monitor_test

import (
	"os"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/monitor"
)

func Example() {
	m := monitor.NewLines(os.Stdout, monitor.Options{})
	for _, e := range []teasel.Event{
		{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: time.Second, Executions: 6000, Corpus: 12, Features: 80}},
		{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: "mcp/server-crash", Severity: teasel.Critical,
			Subject: "tools/call divide", Message: "the server ended with status 1", Stable: 3, Tries: 3}},
	} {
		_ = m.Report(e) // a monitor never fails
	}
	_ = m.Close()
	// Output:
	// #6000  1s  6000/s  corpus 12  features 80  findings 0  memory 0 MB
	// FOUND critical  mcp/server-crash  tools/call divide: the server ended with status 1
}
