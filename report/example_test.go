package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/report"
)

func Example() {
	run := &report.Run{
		Version: "0.1.0", Kind: "mcp", Target: "node server.js", Seed: 1, Dir: "teasel-out",
		Blocked: []string{"delete_all"},
		Summary: teasel.Summary{
			Stats: teasel.Stats{Elapsed: 20 * time.Second, Executions: 120000, Features: 321, Corpus: 57},
			Findings: []teasel.Finding{{Rule: "mcp/server-crash", Severity: teasel.Critical, Subject: "tools/call divide",
				Message: "the server ended with status 1", Stable: 3, Tries: 3, Occurrences: 12}},
		},
	}
	if err := report.Write(os.Stdout, "text", run); err != nil {
		fmt.Println(err)
	}
	// Output:
	// CRITICAL
	//   mcp/server-crash  tools/call divide
	//     the server ended with status 1
	//     seen 12 times, reproduced 3 of 3 times
	//     execution 0 of worker 0, not minimised
	//     teasel repro teasel-out/findings/0be93742abe77c0c.json
	//
	// Blocked because they may destroy something; --allow NAME fuzzes one
	//   delete_all
	//
	// 1 finding: 1 critical
	// 120000 executions in 20.0s (6000/s), 321 features, 57 corpus
}
