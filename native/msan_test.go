package native_test

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestInitialisedArguments: the arguments that the runtime passes to a harness's functions count as initialised for MemorySanitizer,
// whatever the previous call has passed.
func TestInitialisedArguments(t *testing.T) {
	for _, test := range []struct {
		name   string
		flags  []string
		custom bool // the harness has a custom mutator
	}{
		{"of the harness", nil, false},
		{"of its preparation", []string{"-DINITIALIZE"}, false},
		{"of its mutator", []string{"-DMUTATOR"}, true},
		{"of its crossing", []string{"-DCROSSOVER"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin := build(t, source(t, "hostile/arguments.c"), append(test.flags, "-g", "-fsanitize=memory")...)
			c := campaign(bin, 1)
			c.Seeds, c.Runs = [][]byte{[]byte("x"), []byte("y"), []byte("z")}, 3_000
			ex := open(t, native.Target{Command: []string{bin}})
			for _, in := range c.Seeds {
				if o := run(t, ex, teasel.Ask{}, string(in)); o.Exit != teasel.ExitOK {
					t.Fatalf("%q: %v: %s", in, o.Exit, o.Detail)
				}
			}
			if !test.custom {
				return
			}
			s, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s.Findings {
				t.Errorf("%s: %s\n%s", f.Rule, f.Message, f.Detail)
			}
			if !slices.ContainsFunc(s.Stats.Stages, func(st teasel.StageStats) bool { return st.Name == "custom" && st.Executions > 0 }) {
				t.Errorf("the harness's mutator has made no input: %v", s.Stats.Stages)
			}
		})
	}
}
