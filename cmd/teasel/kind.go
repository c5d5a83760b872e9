package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/mcp"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/report"
)

// kind is what the verbs that take any campaign or finding need to know of a kind of target.
type kind struct {
	name  string
	rules func() []teasel.Rule
	bench func(ctx context.Context, target json.RawMessage) (replayer, error)
	// prepares says what bench does first that takes long; nil: nothing does.
	prepares func(target json.RawMessage) string
	resume   func(cmd *cobra.Command, dir *corpus.Dir, change func(*options)) error
	// byHand returns the command that shows a finding without teasel, given the file with its input; nil: there is none.
	byHand func(target json.RawMessage, f *teasel.Finding, input string) string
	// script returns a program that shows a finding without teasel; nil: there is none.
	script func(target json.RawMessage, f *corpus.FindingFile) (string, error)
	// states draws what of the target's states was reached; nil: the kind has none.
	states func(w io.Writer, target json.RawMessage, entries []teasel.Entry) error
	// coverage counts what testcases reach; nil: their campaign alone does not tell.
	coverage func(m *corpus.Meta, entries []teasel.Entry) report.Coverage
}

func kinds() []kind {
	return []kind{
		{"mcp", mcp.Rules, mcpBench, nil, resumeMCP, nil, nil, nil, mcpCoverage},
		{"net", netproto.Rules, netBench, nil, resumeNet, nil, netScript, netStates, netCoverage},
		{"native", native.Rules, nativeBench, nil, resumeNative, nativeByHand, nil, nil, nativeCoverage},
		{"go", judge.Rules, goBench, goBuilds, resumeGo, goByHand, nil, nil, nil},
	}
}

// kindOf finds a kind; what names it, for the error, is a finding or a campaign.
func kindOf(name, what string) (kind, error) {
	var names []string
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, usage("was it written by a newer teasel?", "%s of kind %q: this teasel knows %s", what, name, strings.Join(names, ", "))
}

// allRules returns what the detectors of all kinds look for.
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

// stored reads the options that a campaign was begun with.
func stored(dir *corpus.Dir, into any) error {
	if err := json.Unmarshal(dir.Meta().Options, into); err != nil {
		return usage("", "%s: reading the campaign's options: %w", dir.Path(), err)
	}
	return nil
}

// described reads what a finding's file says of its target.
func described(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return usage("", "reading the finding's target: %w", err)
	}
	return nil
}

// checkSeverities looks for rules that nobody knows.
func checkSeverities(severity map[string]string) error {
	known := map[string]bool{}
	for _, r := range allRules() {
		known[r.ID] = true
	}
	for _, rule := range slices.Sorted(maps.Keys(severity)) {
		if !known[rule] {
			return usage("docs/rules.md has the rules, for example mcp/server-crash", "configuration: severity of %q: there is no such rule", rule)
		}
	}
	return nil
}
