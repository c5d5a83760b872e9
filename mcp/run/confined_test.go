package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestConfined sends the seeds about directories and about time to servers that serve the files of a directory: what leads out of it, or
// doubles the time with each part of a text, is found where it is planted and nowhere else.
func TestConfined(t *testing.T) {
	program := mcptest.BuildServer(t, "confined")
	list, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"prefix": judge.RuleTraversal, "prefix-list": judge.RuleTraversal, "parent": judge.RuleTraversal, "linked": judge.RuleTraversal,
		"cursor": check.RuleSlowGrowth + " resources/list", "template": check.RuleSlowGrowth + " resources/read"}
	for line := range strings.Lines(string(list)) {
		mode, about, _ := strings.Cut(line, "\t")
		t.Run(mode, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "files")
			if err := os.Mkdir(root, 0o755); err != nil {
				t.Fatal(err)
			}
			command := []string{program, mode, root}
			canary, err := script.PlaceCanary(command, nil, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := canary.Remove(); err != nil {
					t.Error(err)
				}
			})
			e := open(t, &Target{Command: server.Command{Args: command}, Canary: canary})
			d := judge.Detectors(judge.DetectorConfig{})[0]
			found := ""
			for _, s := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
				if s.Script.Check != check.Traversal && (s.Script.Check != check.GrowthTime || !strings.Contains(s.Name, "_short_")) {
					continue
				}
				_, obs := execute(t, e, s.Script)
				for _, f := range d.Detect(&obs) {
					if f.Rule == judge.RuleTraversal || f.Rule == check.RuleSlowGrowth {
						found = f.Rule + " " + f.Subject
						t.Log(s.Name, f.Message)
					}
				}
				if found != "" {
					break
				}
			}
			if w := want[mode]; !strings.HasPrefix(found, w) || (w == "") != (found == "") {
				t.Errorf("%s: found %q, want %q", strings.TrimSpace(about), found, w)
			}
		})
	}
}
