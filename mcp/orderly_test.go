package mcp_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/gen"
)

// TestOrderlyServers fuzzes each of the servers that do nothing wrong for some seconds: nothing above information may be
// found. Each campaign ends by a number of executions, or with a slow server by the clock, which says only how hard it has tried.
func TestOrderlyServers(t *testing.T) {
	program := mcptest.BuildServer(t, "orderly")
	list, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	modes := strings.Split(strings.TrimSpace(string(list)), "\n")
	if len(modes) < 30 {
		t.Fatalf("%d modes, want 30 at least", len(modes))
	}
	patience, enough := 6*time.Second, uint64(8000)
	if testing.Short() {
		patience, enough = time.Second, 500
		t.Logf("%v or %d executions each instead of 6s or 8000 with -short", patience, enough)
	}
	for _, line := range modes {
		name, about, _ := strings.Cut(line, "\t")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hunt{command: []string{program, name}, profile: gen.CI, timeout: 2 * time.Second, seed: 1, patience: patience, enough: enough}
			sum := h.run(t)
			if sum.Executions == 0 {
				t.Error("nothing was executed")
			}
			for _, f := range sum.Findings {
				if f.Severity > teasel.Info {
					t.Errorf("false alarm: the server does nothing wrong (%s), but there is a finding: %s %s %s: %s\n%s", about, f.Severity, f.Rule, f.Subject, f.Message, f.Detail)
				} else {
					t.Logf("%s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Message)
				}
			}
		})
	}
}
