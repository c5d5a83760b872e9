package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/report"
)

// goTarget is what a finding's file says of its fuzz test.
type goTarget struct {
	Dir     string        `json:"dir"`
	Package string        `json:"package"`
	Test    string        `json:"test"`
	Race    bool          `json:"race,omitempty"`
	Tags    string        `json:"tags,omitempty"`
	Timeout time.Duration `json:"timeout"`
	Memory  size          `json:"memory_limit,omitempty"`
}

// target is what the findings of a fuzz test say of it.
func (s *goSession) target(t *goTest) *goTarget {
	o := s.options
	return &goTarget{t.pkg.Dir, t.pkg.Path, t.target.Name, o.Race, o.Tags, o.Timeout, o.MemoryLimit}
}

// addGoFlags gives a verb the flags of teasel go that a file of testdata/fuzz cannot say.
func addGoFlags(cmd *cobra.Command, g *goTarget) {
	const of = "of a file of testdata/fuzz: "
	f := cmd.Flags()
	f.DurationVar(&g.Timeout, "timeout", 0, of+"how long the input may take; 0: 10s")
	f.Var(&g.Memory, "memory-limit", of+"memory that the test process may hold; 0: 2GiB")
	f.BoolVar(&g.Race, "race", false, of+"build with the race detector")
	f.StringVar(&g.Tags, "tags", "", of+"build tags, separated by commas")
}

// unneeded refuses the flags of addGoFlags for a finding's file, which has all that they say.
func unneeded(cmd *cobra.Command, file string) error {
	for _, name := range []string{"timeout", "memory-limit", "race", "tags"} {
		if isSet(cmd.Flags(), name) {
			return usage("leave the flag out", "--%s is for files of testdata/fuzz: %s says itself how it was run", name, file)
		}
	}
	return nil
}

// goTimeout is the time limit of an input if the user sets none.
const goTimeout = 10 * time.Second

// needed returns the flags with which teasel repro shows a finding of a rule from its file in testdata/fuzz.
func (g *goTarget) needed(rule string) (flags []string) {
	if g.Race {
		flags = append(flags, "--race")
	}
	if g.Tags != "" {
		flags = append(flags, "--tags", report.Quote(g.Tags))
	}
	if limit := cmp.Or(g.Timeout, goTimeout); limit != goTimeout && slices.Contains(judge.HangRules(), rule) {
		flags = append(flags, "--timeout", limit.String())
	}
	if g.Memory > 0 && rule == judge.MemoryRule {
		flags = append(flags, "--memory-limit", g.Memory.String())
	}
	return flags
}

// byHand returns the command with which the go command shows a saved finding; "": it shows nothing. f may be nil.
func (g *goTarget) byHand(dir, file string, f *teasel.Finding) string {
	if f != nil && f.Rule == judge.MemoryRule && !strings.HasPrefix(f.Message, "fatal error") { // it went over our limit, and go test has none
		return ""
	}
	if dir != "." && dir[0] != '/' {
		dir = "./" + dir
	}
	words := append([]string{"go", "test"}, (overlay.Flags{Race: g.Race, Tags: g.Tags}).Arguments()...)
	if f != nil && slices.Contains(judge.HangRules(), f.Rule) {
		words = append(words, "-timeout="+cmp.Or(g.Timeout, goTimeout).String())
	}
	for i := range words {
		words[i] = report.Quote(words[i])
	}
	run := report.Quote("^" + g.Test + "$/^" + regexp.QuoteMeta(file) + "$") // or those run whose names begin so
	return strings.Join(append(words, "-run="+run, report.Quote(dir)), " ")
}
