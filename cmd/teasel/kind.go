package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	mcpjudge "github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// kind is what verbs that take any campaign or finding need of a kind of target.
type kind struct {
	name  string
	rules func() []teasel.Rule
	// newReplayer returns what runs the inputs of findings of a target.
	newReplayer func(ctx context.Context, target json.RawMessage) (replayer, error)
	// preparation says what newReplayer does that takes long, such as building; nil: nothing takes long.
	preparation func(target json.RawMessage) string
	// resume runs the campaign in a directory again. change sets its options to those of this run.
	resume func(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error
	// byHand returns the command that shows a finding without teasel, given the file with its input; nil: there is none.
	byHand func(target json.RawMessage, f *teasel.Finding, input string) string
	// script returns a program that shows a finding without teasel; nil: there is none.
	script func(target json.RawMessage, f *corpus.FindingFile) (string, error)
	// panels returns what makes the panels of a campaign of this kind, nil if it has none; nil: the kind has none.
	panels func(m *corpus.Meta) view.Paneler
	// coverage counts what testcases reach; nil: it cannot be known from a campaign's directory alone.
	coverage func(m *corpus.Meta, entries []teasel.Entry) report.Coverage
}

func kinds() []kind {
	return []kind{
		{name: "mcp", rules: mcpjudge.Rules, newReplayer: newMCPReplayer, resume: resumeMCP, coverage: mcpCoverage, script: mcpScript, panels: mcpPanels},
		{name: "net", rules: netproto.Rules, newReplayer: newNetReplayer, resume: resumeNet, coverage: netCoverage, script: netScript, panels: netPanels},
		{name: "native", rules: native.Rules, newReplayer: newNativeReplayer, resume: resumeNative, coverage: nativeCoverage, byHand: nativeByHand, panels: nativePanels},
		{name: "go", rules: judge.Rules, newReplayer: newGoReplayer, resume: gotest.Resume, preparation: gotest.Preparation, byHand: gotest.ByHand},
	}
}

// kindOf returns the kind with a name. what, a finding or a campaign, is what an error says to be of that kind.
func kindOf(name, what string) (kind, error) {
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, exit.Usage("was it written by a newer teasel?", "%s of kind %q: this teasel knows %s", what, name, strings.Join(kindNames(), ", "))
}

// kindNames returns the names of the kinds.
func kindNames() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// allRules returns the rules of all kinds.
func allRules() (all []teasel.Rule) {
	for _, k := range kinds() {
		all = append(all, k.rules()...)
	}
	return all
}

// byHand returns the command that shows the finding whose file is at path without teasel; "": there is none.
func byHand(kindName string, target json.RawMessage, f *teasel.Finding, path string) string {
	k, err := kindOf(kindName, "")
	input := corpus.InputFile(path, f.ID())
	if err != nil || k.byHand == nil || input == "" {
		return ""
	}
	return k.byHand(target, f, input)
}

// replayer runs the input of a finding, whatever the type of input.
type replayer interface {
	Repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error
	Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error)
}

// newGoReplayer builds the fuzz test of a finding.
func newGoReplayer(ctx context.Context, raw json.RawMessage) (replayer, error) {
	r, err := gotest.NewReplayer(ctx, raw)
	if err != nil {
		return nil, err
	}
	return r, nil
}
