package run

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestKeeping runs the checks of what calls leave behind on servers that keep notes: one finding for what is planted, none for what is
// right.
func TestKeeping(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	list, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"brittle": check.RuleUsed + " (every tool)", "fragile": check.RuleUsed + " (every tool)", "locked": check.RuleUsed + " tools/call add_note", "spoiled": check.RuleUsed + " tools/call list_notes",
		"half-done": check.RuleUsed + " tools/call add_note", "mixed": check.RuleMixedAnswers + " tools/call add_note", "lossy": check.RuleLostWrite + " tools/call add_note",
	}
	for line := range strings.Lines(string(list)) {
		mode, about, _ := strings.Cut(line, "\t")
		if mode == "together" || mode == "late-death" || strings.HasPrefix(mode, "growing") { // it ends, or is only slow
			continue
		}
		t.Run(mode, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: []string{program, mode}}, Spares: 1})
			d := judge.Detectors(judge.DetectorConfig{})[0]
			found := map[string]bool{}
			for _, s := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
				if s.Script.Check != check.Used && s.Script.Check != check.SideBySide && s.Script.Check != check.InFlight {
					continue
				}
				_, obs := execute(t, e, s.Script)
				for _, f := range d.Detect(&obs) {
					if f.Rule == check.RuleUsed || f.Rule == check.RuleLostWrite || f.Rule == check.RuleMixedAnswers {
						found[f.Rule+" "+f.Subject] = true
						t.Log(s.Name, f.Message)
					}
				}
			}
			if w := want[mode]; len(found) > 1 || (w != "") != found[w] || w == "" && len(found) > 0 {
				t.Errorf("%s: found %v, want %s", strings.TrimSpace(about), found, fmt.Sprint(w))
			}
		})
	}
}

// A tool that refuses a call now and then, as state has it, is not taken for one that treats the name in that call otherwise.
func TestNamesAndState(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	found := map[string]map[string]string{}
	for _, mode := range []string{"clean", "clean-box"} {
		t.Run(mode, func(t *testing.T) { found[mode] = oddNames(t, program, mode) })
	}
	if len(found["clean"]) == 0 {
		t.Error("the key that only case tells apart is not found")
	}
	for name, message := range found["clean-box"] {
		if found["clean"][name] == "" {
			t.Errorf("false alarm: %s: %s", name, message)
		}
	}
}

// oddNames returns what is found of names and keys, by the name of the seed.
func oddNames(t *testing.T, program, mode string) map[string]string {
	found := map[string]string{}
	e := open(t, &Target{Command: server.Command{Args: []string{program, mode}}, Spares: 1})
	d := judge.Detectors(judge.DetectorConfig{})[0]
	for _, s := range gen.NewMutator(gen.MutatorConfig{Session: e.session}).Seeds() {
		if s.Script.Check != check.VariantKey && s.Script.Check != check.UnknownName {
			continue
		}
		_, obs := execute(t, e, s.Script)
		for _, f := range d.Detect(&obs) {
			if f.Rule == check.RuleVariantKey || f.Rule == check.RuleRuntimeName {
				found[s.Name] = f.Message
			}
		}
	}
	return found
}
