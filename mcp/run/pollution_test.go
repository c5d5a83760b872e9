package run

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestPollution runs the check on a server whose merge writes to the prototype of all objects, and on its clean twin.
func TestPollution(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		mcptest.Missing(t, err)
	}
	script, err := filepath.Abs("../testdata/pollution/server.js")
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]int{"merging": 1, "safe": 0} {
		t.Run(mode, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{node, script, mode}}, Spares: 1})
			seeds := gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds()
			i := slices.IndexFunc(seeds, func(s gen.Seed) bool { return s.Script.Check == check.Pollution })
			if i < 0 {
				t.Fatal("no seed for the check")
			}
			_, obs := execute(t, e, seeds[i].Script)
			found := judge.Detectors(judge.DetectorConfig{})[0].Detect(&obs)
			found = slices.DeleteFunc(found, func(f teasel.Finding) bool { return f.Rule != check.RulePollution })
			if len(found) != want || want > 0 && found[0].Subject != "tools/call merge_objects" {
				t.Errorf("found %v, want %d", found, want)
			}
		})
	}
}
