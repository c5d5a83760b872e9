package gotest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Target describes a fuzz test in a finding's file.
type Target struct {
	Dir             string        `json:"dir"`
	Package         string        `json:"package"`
	Test            string        `json:"test"`
	Race            bool          `json:"race,omitempty"`
	Tags            string        `json:"tags,omitempty"`
	Timeout         time.Duration `json:"timeout"`
	Memory          flags.Size    `json:"memory_limit,omitempty"`
	flags.Isolation `json:"isolation,omitzero"`
}

// target returns the description of a fuzz test for its findings.
func (s *testRun) target(t *fuzzTest) *Target {
	o := s.options
	return &Target{t.pkg.Dir, t.pkg.Path, t.target.Name, o.Race, o.Tags, o.Timeout, o.MemoryLimit, o.Isolation}
}

// AddFlags gives a verb the flags of teasel go that a file of testdata/fuzz does not contain.
func (g *Target) AddFlags(cmd *cobra.Command) {
	const of = "of a file of testdata/fuzz: "
	f := cmd.Flags()
	f.DurationVar(&g.Timeout, "timeout", 0, of+"how long the input may take; 0: 10s")
	f.Var(&g.Memory, "memory-limit", of+"memory that the test process may hold; 0: 2GiB")
	f.BoolVar(&g.Race, "race", false, of+"build with the race detector")
	f.StringVar(&g.Tags, "tags", "", of+"build tags, separated by commas")
}

// RefuseFlags refuses the flags of [Target.AddFlags] for a finding's file, which contains their values.
func RefuseFlags(cmd *cobra.Command, file string) error {
	for _, name := range []string{"timeout", "memory-limit", "race", "tags"} {
		if flags.IsSet(cmd.Flags(), name) {
			return exit.Usage("leave the flag out", "--%s is for files of testdata/fuzz: %s says itself how it was run", name, file)
		}
	}
	return nil
}

// defaultTimeout is the time limit of an input if the user sets none.
const defaultTimeout = 10 * time.Second

// reproFlags returns the flags that teasel repro needs to show a finding of a rule from its file in testdata/fuzz.
func (g *Target) reproFlags(rule string) (words []string) {
	if g.Race {
		words = append(words, "--race")
	}
	if g.Tags != "" {
		words = append(words, "--tags", plain.Quote(g.Tags))
	}
	if limit := cmp.Or(g.Timeout, defaultTimeout); limit != defaultTimeout && slices.Contains(judge.HangRules(), rule) {
		words = append(words, "--timeout", limit.String())
	}
	if g.Memory > 0 && rule == judge.MemoryRule {
		words = append(words, "--memory-limit", g.Memory.String())
	}
	return words
}

// goTestCommand returns the command line of go test that shows a saved finding; "": go test does not show it. f may be nil.
func (g *Target) goTestCommand(dir, file string, f *teasel.Finding) string {
	if f != nil && f.Rule == judge.MemoryRule && !strings.HasPrefix(f.Message, "fatal error") { // of our limit: go test has none
		return ""
	}
	if dir != "." && dir[0] != '/' {
		dir = "./" + dir
	}
	words := append([]string{"go", "test"}, (overlay.Flags{Race: g.Race, Tags: g.Tags}).Arguments()...)
	if f != nil && slices.Contains(judge.HangRules(), f.Rule) {
		words = append(words, "-timeout="+cmp.Or(g.Timeout, defaultTimeout).String())
	}
	for i := range words {
		words[i] = plain.Quote(words[i])
	}
	run := plain.Quote("^" + g.Test + "$/^" + regexp.QuoteMeta(file) + "$") // the whole name, or others that begin with it run too
	return strings.Join(append(words, "-run="+run, plain.Quote(dir)), " ")
}
