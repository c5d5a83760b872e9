package judge

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
)

// OfLibrary reports whether a finding is about what the library that a server is built on does alone: lines that name nothing of the
// server, such as messages that cannot be read, ids, unknown methods and tools, and requests that are answered from what the server has
// registered, such as lists and initialize. What a tool, a prompt or a resource answers, what the server says of itself, and what
// befalls the program as a whole is the server's own.
func OfLibrary(f *teasel.Finding) bool {
	switch {
	case f.Static, ruleIn(securityRules, f.Rule):
		return false
	case strings.HasPrefix(f.Subject, "("):
		return !slices.Contains(ownSubjects, f.Subject)
	case slices.Contains(programRules, f.Rule), ruleIn(processRules, f.Rule) && f.Rule != RuleNoReply:
		return false // the line is only the last one
	}
	return strings.HasSuffix(f.Subject, "(unknown tool)") || strings.HasSuffix(f.Subject, "(unknown prompt)") ||
		slices.Contains(libraryMethods, f.Subject) || f.Rule == RuleInvalidParams && f.Fault == causeMalformed
}

// ownSubjects are about calls of tools, or about what a program does without being asked, though they name none.
var ownSubjects = []string{subjectConverted, check.SubjectEvery, "(nothing sent)", "(unsolicited)", "(end of input)"}

// libraryMethods are answered without a handler of the server.
var libraryMethods = []string{"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "logging/setLevel",
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed"}

// programRules are about what calls leave behind, and about time and memory.
var programRules = []string{check.RuleUsed, check.RuleLostWrite, check.RuleNotRepeatable, check.RuleReadOnly, check.RuleMemoryGrowth, check.RuleSlowGrowth, check.RuleSlower,
	check.RuleShape, check.RuleOpenFiles, check.RuleSameAfterGarbage}

// causeMalformed stands for parameters that the schema of the protocol does not allow.
const causeMalformed = "malformed parameters"

func ruleIn(rules []teasel.Rule, id string) bool {
	return slices.ContainsFunc(rules, func(r teasel.Rule) bool { return r.ID == id })
}
