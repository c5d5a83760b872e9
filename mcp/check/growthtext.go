package check

import (
	"strings"

	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Growth is a text that can be had in any length.
type Growth struct {
	name string
	Text func(n int) string
}

// Growths are texts that cost a careless reader more than their length: regular expressions that backtrack, loops over
// what was already seen. n is the length that is wanted.
var Growths = []Growth{
	{"a", func(n int) string { return script.LongText(n-1) + "!" }},
	{"spaces", func(n int) string { return "a" + strings.Repeat(" ", n-2) + "a" }},
	{"open", func(n int) string { return strings.Repeat("(", n) }},
	{"digits", func(n int) string { return strings.Repeat("1", n-1) + "x" }},
	{"words", func(n int) string { return strings.Repeat("a ", n/2) }},
	{"lines", func(n int) string { return strings.Repeat("a\n", n/2) }},
	{"dots", func(n int) string { return strings.Repeat("a.", n/2) + "!" }},
	{"slashes", func(n int) string { return strings.Repeat("/", n) }},
	{"dashes", func(n int) string { return strings.Repeat("-", n) + "x" }},
	{"commas", func(n int) string { return strings.Repeat("a,", n/2) + "=" }},
	{"address", func(n int) string { return "a@" + strings.Repeat("a.", n/2) }},
	{"markup", func(n int) string { return strings.Repeat("<a", n/2) }},
	{"quotes", func(n int) string { return strings.Repeat(`\"`, n/2) }},
	{"stars", func(n int) string { return strings.Repeat("*", n) + "b" }},
	{"brackets", func(n int) string { return strings.Repeat("[", n) }},
	{"marks", func(n int) string { return "e" + strings.Repeat("\u0301", n/2) }},
}

// seededGrowths is how many of them are tried of every text before the campaign, beside those that its name suggests; the
// rest is left to chance.
const seededGrowths = 3

// suggested says which growths a name suggests: what is matched, walked or parsed in a way of its own.
var suggested = []struct {
	words   []string
	growths []string
}{
	{[]string{"glob", "pattern", "mask", "wildcard", "filter", "match", "exclude", "include", "like"}, []string{"stars", "brackets"}},
	{[]string{"regex", "regexp", "expression", "expr", "rule", "formula", "condition"}, []string{"open", "brackets", "stars"}},
	{[]string{"path", "file", "filename", "dir", "directory", "folder", "uri", "url", "route"}, []string{"slashes", "dots"}},
	{[]string{"mail", "email", "address", "host", "hostname", "domain"}, []string{"address", "dots"}},
	{[]string{"html", "xml", "markup", "markdown", "template", "body", "content"}, []string{"markup", "brackets"}},
	{[]string{"csv", "list", "tags", "items", "fields", "columns"}, []string{"commas"}},
	{[]string{"slug", "tag", "id", "identifier", "key", "version"}, []string{"dashes", "digits"}},
}

// suggestedGrowths are those that the last name of a place suggests.
func suggestedGrowths(place string) (names []string) {
	name := place[strings.LastIndexAny(place, "/ ")+1:]
	for _, s := range suggested {
		if session.HasWord(name, s.words) {
			names = append(names, s.growths...)
		}
	}
	return names
}

// shortGrowths are the texts for that. A pattern that backtracks takes exponential time where one text fits it in several
// ways, part by part, and fails at the end: n is the number of letters, or of parts between separators.
var shortGrowths = []struct {
	name string
	text func(n int) string
}{
	{"letters", script.LongText},
	{"letters end", func(n int) string { return script.LongText(n-1) + "!" }},
	{"digits end", func(n int) string { return strings.Repeat("1", n-1) + "x" }},
	{"spaces end", func(n int) string { return strings.Repeat(" ", n-1) + "x" }},
	{"words end", func(n int) string { return strings.Repeat("a.", n/2-1) + "a!" }},
	{"parts end", func(n int) string { return strings.Repeat("a-", n) + "!" }},
	{"steps end", func(n int) string { return strings.Repeat("a/", n) + "\x00" }},
	{"list end", func(n int) string { return strings.Repeat("a,", n) + ";/&#" }}, // one of which no variable of a URI template takes
	{"blanks end", func(n int) string { return strings.Repeat("a ", n) + "!" }},
}
