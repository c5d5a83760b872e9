package check

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// The sizes between which a growing text doubles, in bytes.
const (
	growFrom = 1 << 10
	growTo   = 1 << 16
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

// short makes a script of one line at small sizes: what takes twice as long for each character more, or for each item,
// shows itself there, and hides behind a limit of the length elsewhere.
func short(line func(n int) []byte) script.Script {
	var steps []script.Step
	for n := 10; n <= 26; n += 4 {
		steps = append(steps, script.Send(line(n)))
	}
	return script.NewShared(GrowthTime, steps...)
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
	{"list end", func(n int) string { return strings.Repeat("a,", n) + ";" }},
	{"blanks end", func(n int) string { return strings.Repeat("a ", n) + "!" }},
}

// grow makes a script of one line at sizes that double.
func grow(from, to int, line func(n int) []byte) script.Script {
	var steps []script.Step
	for n := from; n <= to; n *= 2 {
		steps = append(steps, script.Send(line(n)))
	}
	return script.NewShared(GrowthTime, steps...)
}

// maxGrown is of how many texts, and of how many arrays, the time is measured that growing ones take: the scripts for one text
// have half a megabyte. Where there are more, some are drawn.
const maxGrown = 48

func checkGrowthTime(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	order := r.Perm(len(Growths) - seededGrowths)
	grown := SomeTexts(b, r, maxGrown)
	EachPlace(grown, func(name string, line func(string) []byte) {
		names := suggestedGrowths(name)
		for i, g := range Growths {
			if i < seededGrowths || i == seededGrowths+order[0] || slices.Contains(names, g.name) {
				emit(name+" "+g.name, grow(growFrom, growTo, func(n int) []byte { return line(g.Text(n)) }))
			}
		}
	})
	EachPlace(grown, func(name string, line func(string) []byte) {
		names := suggestedGrowths(name)
		for _, g := range Growths[seededGrowths:] {
			if slices.Contains(names, g.name) {
				emit(name+" short "+g.name, short(func(n int) []byte { return line(g.Text(n)) }))
			}
		}
		for _, g := range shortGrowths {
			emit(name+" short "+g.name, short(func(n int) []byte { return line(g.text(n)) }))
		}
	})
	for _, base := range ResourceBases(b.Session) {
		for _, g := range shortGrowths {
			emit(base+" short "+g.name, short(func(n int) []byte {
				return jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", base+g.text(n)))
			}))
		}
	}
	emit("method", grow(growFrom, growTo, func(n int) []byte { return jsonrpc.RequestLine(script.LongText(n), nil) }))
	growTools(someTools(b, r, maxLargeTools), emit)
}

// growTools makes the scripts for arrays, and for arguments that no tool has.
func growTools(tools []*session.Operation, emit Emitter) {
	arrays := 0
	for i, t := range tools {
		if t.Slow {
			continue
		}
		largest := 1 << 14
		if i >= largeTools {
			largest = 1 << 12
		}
		for _, m := range t.Full.Members {
			if m.Value.Kind != mutate.Array || len(m.Value.Items) == 0 || arrays == maxGrown {
				continue
			}
			arrays++
			emit(t.Name+" items of "+m.Name, grow(1<<6, largest, func(n int) []byte { return t.CallWith(repeatItem(t, m.Name, n)) }))
			emit(t.Name+" short items of "+m.Name, short(func(n int) []byte { return t.CallWith(repeatItem(t, m.Name, n)) }))
		}
		if i >= largeTools {
			continue
		}
		extra := func(value string) []byte {
			v := t.Plain.Clone()
			v.Members = append(v.Members, jsonrpc.Member("teasel_extra", mutate.NewRaw(value)))
			return t.CallWith(v)
		}
		emit(t.Name+" depth", grow(64, 4096, func(n int) []byte { return extra(DeepText("[", "0", "]", n)) }))
		emit(t.Name+" keys", grow(1<<9, 1<<15, func(n int) []byte { return t.CallWith(mutate.NewRaw(WideObject(n))) }))
	}
}

// shapeWidth is how many members or items a shape has.
const shapeWidth = 50_000

// MakeShapeTime looks at one tool, or at ping if there is none: what parses and validates is the same for all.
func MakeShapeTime(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	text := func(n int) string { return `{"teasel_extra":` + Quote(script.LongText(n)) + `}` }
	pair := func(name, shape string, line func(arguments string) []byte) {
		one, other := script.Send(line(text(len(shape)))), script.Send(line(shape))
		emit(name, script.NewShared(ShapeTime, one, other, one, other))
	}
	keys, items := WideObject(shapeWidth), `{"teasel_extra":[`+strings.Repeat("{},", shapeWidth-1)+"{}]}"
	tools := quickTools(b, r, 1)
	for _, t := range tools {
		call := func(arguments string) []byte { return t.CallWith(mutate.NewRaw(arguments)) }
		pair(t.Name+" keys", keys, call)
		pair(t.Name+" items", items, call)
	}
	if len(tools) == 0 {
		pair("ping keys", keys, func(params string) []byte { return jsonrpc.RequestLine("ping", mutate.NewRaw(params)) })
	}
}

// repeatItem returns the full arguments with the first item of an array repeated.
func repeatItem(c *session.Operation, name string, n int) *mutate.JSON {
	v := c.Full.Clone()
	item := v.Get(name).Items[0].String()
	v.Set(name, mutate.NewRaw("["+strings.Repeat(item+",", n-1)+item+"]"))
	return v
}

// How often and with how much text memory is asked for.
const (
	memoryTimes = 512
	memoryText  = 1 << 10
)

func checkGrowthMemory(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		arguments := t.SwitchedOn()
		if len(t.Texts) > 0 {
			if long := session.WithText(arguments, t.Texts[0], script.LongText(memoryText)); t.Schema == nil || t.Schema.Validate(long) == nil {
				arguments = long
			}
		}
		emit(t.Name, script.NewShared(GrowthMemory, script.Step{Line: t.CallWith(arguments), Times: memoryTimes}))
	}
}
