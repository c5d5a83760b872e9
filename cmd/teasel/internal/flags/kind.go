package flags

import (
	"maps"
	"slices"
	"strings"

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

// RulesOf returns the rules of a kind of target, with those of the engine; none if there is no such kind.
func RulesOf(kind string) []teasel.Rule {
	for _, k := range kinds {
		if k.name == kind {
			return append(k.rules(), teasel.Rules()...)
		}
	}
	return nil
}

// Rules returns the rules of all kinds, and those of the engine, whose ids name no kind.
func Rules() (all []teasel.Rule) {
	for _, k := range kinds {
		all = append(all, k.rules()...)
	}
	return append(all, teasel.Rules()...)
}

// OfEngine reports whether a rule is the engine's own: its findings are not confirmed, and it has the severity that it has.
func OfEngine(r *teasel.Rule) bool { return !strings.Contains(r.ID, "/") }

// checkSeverities refuses rules that do not exist.
func checkSeverities(severity map[string]string) error {
	known := map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = !OfEngine(&r)
	}
	for _, rule := range slices.Sorted(maps.Keys(severity)) {
		if !known[rule] {
			return exit.Usage("docs/rules.md has the rules, for example mcp/server-crash", "configuration: severity of %q: there is no such rule", rule)
		}
	}
	return nil
}
