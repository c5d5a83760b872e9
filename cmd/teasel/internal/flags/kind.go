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

// kinds are the kinds of target, in the order of the help.
var kinds = [...]struct {
	name   string
	behind string   // the key of what stands behind the flags on the command line
	target []string // the keys that name a target, in the order in which people read them
	rules  func() []teasel.Rule
}{
	{"mcp", "command", []string{"url", "command"}, mcpjudge.Rules},
	{"net", "command", []string{"model", "connect", "command"}, netproto.Rules},
	{"native", "command", []string{"command"}, native.Rules},
	{"go", "packages", []string{"packages"}, gojudge.Rules},
}

// Kinds returns the names of the kinds of target, in the order of the help.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// RulesOf returns the rules of a kind of target; none if there is no such kind.
func RulesOf(kind string) []teasel.Rule {
	for _, k := range kinds {
		if k.name == kind {
			return k.rules()
		}
	}
	return nil
}

// Rules returns the rules of all kinds.
func Rules() (all []teasel.Rule) {
	for _, k := range kinds {
		all = append(all, k.rules()...)
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
