package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestBoundaries runs the check on file servers that look at the root in three ways. Paths are compared with it by their
// beginnings, links not followed before; or they are followed; or both is done right.
func TestBoundaries(t *testing.T) {
	for _, tt := range []struct {
		mode string
		want []string // severities
	}{{"prefix", []string{"critical", "medium"}}, {"link", []string{"medium"}}, {"resolved", nil}} {
		t.Run(tt.mode, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			command := []string{mcptest.BuildServer(t, "orderly"), "files-" + tt.mode, root}
			canary, err := script.PlaceCanary(command, nil, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer canary.Remove()
			e := open(t, &Target{Command: server.Command{Args: command}, Canary: canary, Spares: 1})
			var found []string
			for _, seed := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
				if seed.Script.Check != check.Traversal {
					continue
				}
				_, obs := execute(t, e, seed.Script)
				for _, f := range judge.Detectors(judge.DetectorConfig{})[0].Detect(&obs) {
					if f.Rule == judge.RuleTraversal && f.Severity > teasel.Info && !slices.Contains(found, f.Severity.String()) {
						found = append(found, f.Severity.String())
					}
				}
			}
			if slices.Sort(found); !slices.Equal(found, tt.want) {
				t.Errorf("found %s, want %s", strings.Join(found, ", "), strings.Join(tt.want, ", "))
			}
		})
	}
}
