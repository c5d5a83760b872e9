package flags

import (
	"maps"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	gojudge "github.com/teaselfuzz/teasel/gofunc/judge"
	mcpjudge "github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/netproto"
)

// Kinds are the names of the kinds of target, in the order of the help.
var Kinds = []string{"mcp", "net", "native", "go"}

// RulesOf returns the rules of a kind of target; none if there is no such kind.
func RulesOf(kind string) []teasel.Rule {
	switch kind {
	case "mcp":
		return mcpjudge.Rules()
	case "net":
		return netproto.Rules()
	case "native":
		return native.Rules()
	case "go":
		return gojudge.Rules()
	}
	return nil
}

// Rules returns the rules of all kinds.
func Rules() (all []teasel.Rule) {
	for _, kind := range Kinds {
		all = append(all, RulesOf(kind)...)
	}
	return all
}

// checkSeverities refuses rules that do not exist.
func checkSeverities(severity map[string]string) error {
	known := map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = true
	}
	for _, rule := range slices.Sorted(maps.Keys(severity)) {
		if !known[rule] {
			return exit.Usage("docs/rules.md has the rules, for example mcp/server-crash", "configuration: severity of %q: there is no such rule", rule)
		}
	}
	return nil
}
