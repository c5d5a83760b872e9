package gen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// chain is a tool whose answers hand out something that other tools take: a handle, a key, a session.
type chain struct {
	opener *session.Operation
	users  []link
	closes []link // those whose names say that the thing is gone afterwards
}

// link is a tool that takes what another one hands out.
type link struct {
	tool     *session.Operation
	property string
	number   bool     // the property is a number
	pointers []string // where in the opener's result it may stand, likeliest first
}

// Verbs of tools that hand something out, and of those that take it back.
var (
	openingVerbs = []string{
		"acquire", "add", "alloc", "allocate", "begin", "book", "build", "connect", "create", "enqueue", "generate", "init", "initialize", "insert", "issue", "join", "launch", "lease",
		"lock", "login", "make", "new", "open", "put", "register", "request", "reserve", "schedule", "spawn", "start", "store", "submit", "subscribe", "upload",
	}
	closingVerbs = []string{
		"abort", "cancel", "clear", "close", "commit", "complete", "delete", "deregister", "destroy", "disconnect", "dispose", "drop", "end", "expire", "finish", "free", "kill", "leave",
		"logout", "release", "remove", "return", "revoke", "rollback", "shutdown", "stop", "terminate", "unlock", "unregister", "unsubscribe",
	}
)

// guessChains finds which tools belong together, from names and schemas alone.
func guessChains(tools []*session.Operation) []chain {
	chains := make([]chain, len(tools))
	for i, t := range tools {
		chains[i].opener = t
	}
	for _, user := range tools {
		for _, property := range handleProperties(user) {
			for _, i := range openersOf(tools, user, property) {
				l := link{tool: user, property: property, number: isNumber(user, property), pointers: guessPointers(tools[i], property)}
				if session.HasWord(user.Name, closingVerbs) {
					chains[i].closes = append(chains[i].closes, l)
				} else {
					chains[i].users = append(chains[i].users, l)
				}
			}
		}
	}
	return slices.DeleteFunc(chains, func(c chain) bool { return len(c.users)+len(c.closes) == 0 })
}

// handleProperties returns the properties of a tool that may hold what a server gave out.
func handleProperties(c *session.Operation) (names []string) {
	properties := c.InputSchema.Get("properties")
	if properties == nil {
		return nil
	}
	for _, m := range properties.Members {
		switch kind, _ := m.Value.Get("type").Str(); kind {
		case "string", "integer", "number", "":
		default:
			continue
		}
		if m.Value.Get("enum") == nil && session.HasWord(m.Name, session.HandleWords) {
			names = append(names, m.Name)
		}
	}
	return names
}

func isNumber(c *session.Operation, property string) bool {
	kind, _ := c.InputSchema.Get("properties").Get(property).Get("type").Str()
	return kind == "integer" || kind == "number"
}

// capture returns what stands for the value. A word of a sentence is a text; where a number is wanted it must not stand
// between quotes.
func (l *link) capture(step int, pointer string) *mutate.JSON {
	v := script.Placeholder(step, pointer)
	if l.number && strings.Contains(pointer, "#") {
		return mutate.NewRaw(v.Text)
	}
	return v
}

// maxOpeners is how many tools are taken for the source of one property.
const maxOpeners = 3

// openersOf returns the tools that most likely hand out what the property wants, best first.
func openersOf(tools []*session.Operation, user *session.Operation, property string) []int {
	score := make([]int, len(tools))
	var order []int
	for i, t := range tools {
		if t == user || requires(t, property) {
			continue
		}
		if outputPointer(t, property) != "" {
			score[i] += 4
		}
		if session.HasWord(t.Name, openingVerbs) {
			score[i] += 3
		}
		if sharesNoun(t.Name, user.Name) || sharesNoun(t.Name, property) {
			score[i]++
		}
		if score[i] >= 3 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order[:min(maxOpeners, len(order))]
}

func requires(c *session.Operation, property string) bool {
	required := c.InputSchema.Get("required")
	if required == nil {
		return false
	}
	return slices.ContainsFunc(required.Items, func(v *mutate.JSON) bool { return v != nil && v.Text == property })
}

// sharesNoun reports whether two names have a word in common that is no verb of opening or closing and no handle's.
func sharesNoun(a, b string) bool {
	words := session.SplitWords(b)
	return slices.ContainsFunc(session.SplitWords(a), func(w string) bool {
		return len(w) > 1 && slices.Contains(words, w) && !slices.Contains(openingVerbs, w) && !slices.Contains(closingVerbs, w) && !slices.Contains(session.HandleWords, w)
	})
}

// outputPointer returns where the output schema has a property of that name; "": nowhere.
func outputPointer(c *session.Operation, property string) string {
	properties := c.OutputSchema.Get("properties")
	if properties == nil {
		return ""
	}
	for _, m := range properties.Members {
		if m.Name == property {
			return "/structuredContent/" + escapePointer(property)
		}
	}
	for _, m := range properties.Members {
		if inner := m.Value.Get("properties"); inner.Get(property) != nil {
			return "/structuredContent/" + escapePointer(m.Name) + "/" + escapePointer(property)
		}
	}
	return ""
}

func escapePointer(name string) string { return observe.PointerName.Replace(name) }

// guessPointers returns where an answer may have what the property wants: structured, as JSON in a text, or as a word of
// a sentence.
func guessPointers(opener *session.Operation, property string) []string {
	if p := outputPointer(opener, property); p != "" {
		return []string{p}
	}
	pointers := []string{"/content/0/text/" + escapePointer(property)}
	for n := range 4 {
		pointers = append(pointers, "/content/0/text#"+strconv.Itoa(n))
	}
	words := session.SplitWords(property)
	for _, other := range []string{"id", "handle", strings.Join(words, "_"), words[0]} {
		if p := "/content/0/text/" + other; !slices.Contains(pointers, p) {
			pointers = append(pointers, p)
		}
	}
	return append(pointers, "/structuredContent/"+escapePointer(property), "/content/0/text")
}

// sequence is an order in which the tools of a chain are called: the opener first, then links by number, each with the
// answer of which opener's call it takes.
type sequence struct {
	name  string
	opens int
	calls []link
	from  []int // by call
}

// sequences returns the orders that are worth trying once each: use, use twice, use after closing, close twice, a
// handle of one in the life of another.
func (c *chain) sequences() (all []sequence) {
	add := func(name string, calls ...link) {
		all = append(all, sequence{name: name, opens: 1, calls: calls, from: make([]int, len(calls))})
	}
	for _, k := range c.closes {
		for _, u := range c.users {
			add("use after close", u, k, u)
		}
		add("close twice", k, k)
	}
	for _, u := range c.users {
		add("use twice", u, u)
		for _, other := range c.users {
			if other.tool != u.tool {
				add("use both", u, other)
			}
		}
	}
	for _, k := range c.closes {
		for _, u := range c.users {
			all = append(all, sequence{name: "close another", opens: 2, calls: []link{k, u, u}, from: []int{0, 1, 0}})
		}
	}
	return all
}

// script says a sequence with the guess-th pointer; false: there is no such guess.
func (c *chain) script(s sequence, guess int, arguments func(*session.Operation) *mutate.JSON) (script.Script, bool) {
	var steps []script.Step
	for range s.opens {
		steps = append(steps, script.Send(c.opener.CallWith(arguments(c.opener))))
	}
	for i, l := range s.calls {
		if guess >= len(l.pointers) {
			return script.Script{}, false
		}
		v := arguments(l.tool)
		if v.Kind != mutate.Object {
			return script.Script{}, false
		}
		v.Set(l.property, l.capture(s.from[i], l.pointers[guess]))
		steps = append(steps, script.Send(l.tool.CallWith(v)))
	}
	return script.NewShared("", steps...), true
}

// plainArguments are the same every time.
func plainArguments(c *session.Operation) *mutate.JSON { return c.Plain.Clone() }
