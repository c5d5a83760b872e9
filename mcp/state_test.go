package mcp_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// What takes several calls in one order, which no single script need have, is found, put down to them all, and made as short as it is.
// The clean twins have the same state and do not die of it.
func TestState(t *testing.T) {
	long(t)
	program := mcptest.BuildServer(t, "obedient")
	for _, tt := range []struct {
		name  string
		tools []string
		calls int
	}{
		{"five presses", []string{"press"}, 5},
		{"a file", []string{"note", "rotate"}, 3},
		{"three tools", []string{"fill_tank", "heat_tank", "seal_tank", "echo"}, 3},
	} {
		for seed := range uint64(1) {
			t.Run(fmt.Sprintf("%s/%d", tt.name, seed+1), func(t *testing.T) {
				t.Parallel()
				h := &hunt{command: append([]string{program}, tt.tools...), env: []string{"TMPDIR=" + t.TempDir()}, seed: seed + 1, runs: 100_000,
					stop: func(fs []teasel.Finding) bool {
						return slices.ContainsFunc(deaths(fs), func(f teasel.Finding) bool { return callsOf(t, f) == tt.calls })
					}}
				found := deaths(h.run(t).Findings)
				if len(found) != 1 {
					t.Errorf("%d deaths are reported, want 1", len(found))
				}
				for _, f := range found {
					if n := callsOf(t, f); n != tt.calls || f.Stable != f.Tries {
						t.Errorf("%s %s takes %d calls, want %d; it was reproduced %d of %d times:\n%s", f.Rule, f.Subject, n, tt.calls, f.Stable, f.Tries, f.Input)
					}
				}
			})
		}
		t.Run(tt.name+"/clean", func(t *testing.T) {
			t.Parallel()
			h := &hunt{command: append([]string{program, "clean"}, tt.tools...), env: []string{"TMPDIR=" + t.TempDir()}, seed: 1, runs: 20_000}
			for _, f := range deaths(h.run(t).Findings) {
				t.Errorf("false alarm: %s %s: %s", f.Rule, f.Subject, f.Message)
			}
		})
	}
}

// deaths returns the findings that are deaths of the server.
func deaths(fs []teasel.Finding) []teasel.Finding {
	return slices.DeleteFunc(slices.Clone(fs), func(f teasel.Finding) bool { return !slices.Contains(mcp.CrashRules(), f.Rule) })
}

// callsOf returns how many calls of tools the input of a finding has. A list that a value comes from does not count.
func callsOf(t *testing.T, f teasel.Finding) (n int) {
	t.Helper()
	in, err := script.Codec{}.Decode(f.Input)
	if err != nil {
		t.Error(err)
	}
	for i := range in.Steps {
		if s := &in.Steps[i]; bytes.Contains(s.Line, []byte("tools/call")) {
			n += max(s.Times, 1)
		}
	}
	return n
}
