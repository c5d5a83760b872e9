package mcp

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/mutate"
)

// Bounds of what is asked before a campaign to learn what a server knows, and of what is kept of it.
const (
	maxLookedAt = 24
	learnLimit  = 3 * time.Second // for all of it
	maxLearned  = 8               // values of one name
)

// Learn calls those of the chosen tools that only read, once each with plain arguments, and reads some resources. What
// their answers show under the name of an argument, such as the keys of what there is, goes into the session's Learned:
// with a key that the server has, a call gets further than with one that it has not. A server that refuses, falls silent or
// dies meanwhile teaches less, which is no error: what is wrong with it is the campaign's business.
func (v *Visit) Learn(ctx context.Context, choice *Choice) error {
	var shown Note
	deadline := time.Now().Add(learnLimit)
	preparing, stop := context.WithDeadline(ctx, deadline)
	defer stop()
	for i, line := range lookingLines(preparing, v.Session, choice) {
		answer, _, err := v.server.call(ctx, line, min(v.target.timeout(), completionLimit, time.Until(deadline)))
		if errors.Is(err, errSilent) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			break
		}
		if answer.Result != nil && !answer.isRefusal() {
			shown.captures(i, answer.Result)
		}
	}
	v.Session.Learned = shown.byName(argumentNames(v.Session, choice))
	return ctx.Err()
}

// lookingLines are the requests that are made to see what there is. None names a tool that must not be called: an argument
// may do so, and many a server that finds a name calls it. When the context ends, the tools that were not prepared by then
// are left out.
func lookingLines(ctx context.Context, session *Session, choice *Choice) (lines [][]byte) {
	blocked := newBlocklist(session, choice.Blocks, nil)
	add := func(line []byte) {
		if len(lines) < maxLookedAt && blocked.mentions(nil, line) == "" {
			lines = append(lines, line)
		}
	}
	for i := range choice.Tools {
		if len(lines) == maxLookedAt || ctx.Err() != nil {
			break
		}
		if traits := TraitsOf(&choice.Tools[i]); traits.Reads && !traits.Slow {
			add(new(repertoire).prepare(&choice.Tools[i]).call())
		}
	}
	for i := range session.Resources {
		add(requestLine("resources/read", object("uri", session.Resources[i].URI)))
	}
	return lines
}

// argumentNames are those of all that takes a value, each with the other names that its values may go by.
func argumentNames(session *Session, choice *Choice) map[string][]string {
	names := make(map[string][]string)
	add := func(name string, others ...string) {
		for _, other := range append([]string{name}, others...) {
			if !slices.Contains(names[name], other) {
				names[name] = append(names[name], other)
			}
		}
	}
	for i := range choice.Tools {
		t := &choice.Tools[i]
		properties := t.InputSchema.Get("properties")
		if properties == nil {
			continue
		}
		for _, m := range properties.Members {
			if choices(m.Value) == nil {
				add(m.Name, withoutRole(m.Name, t.Name, properties)...)
			}
		}
	}
	for i := range session.Prompts {
		for _, a := range session.Prompts[i].Arguments {
			add(a.Name)
		}
	}
	for i := range session.Templates {
		for _, name := range templateVariables(session.Templates[i].URI) {
			add(name)
		}
	}
	return names
}

// roleWords say which of several things of a kind an argument names, not of which kind it is.
var roleWords = []string{
	"after", "base", "before", "child", "dest", "destination", "dst", "first", "from", "head", "into", "left", "master", "new", "next", "old", "origin", "original", "other",
	"parent", "previous", "right", "second", "source", "src", "target", "to",
}

// withoutRole returns what an argument whose name begins with a role may be called elsewhere: source_id of merge_notes
// names a note, and so does parent_id beside note_id.
func withoutRole(name, tool string, properties *mutate.JSON) (names []string) {
	words := splitWords(name)
	if len(words) == 0 || !slices.Contains(roleWords, words[0]) {
		return nil
	}
	rest := strings.Join(append([]string{""}, words[1:]...), "_")
	if rest == "" {
		rest = "_id"
	}
	nouns := splitWords(tool)
	for _, m := range properties.Members {
		if others := splitWords(m.Name); len(others) > 1 && slices.Equal(others[1:], words[1:]) {
			nouns = append(nouns, others[0])
		}
	}
	for _, noun := range nouns {
		if !slices.Contains(roleWords, noun) {
			names = append(names, noun+rest)
		}
	}
	return names
}

// ofTheProtocol is where a result has what every result has, or a text as it stands.
var ofTheProtocol = regexp.MustCompile(`^/contents?/\d+/(text|type|mimeType|blob|data)(#\d+)?$|#\d+$`)

// byName sorts the captures by the arguments whose names they go by.
func (n *Note) byName(arguments map[string][]string) map[string][]string {
	learned := make(map[string][]string)
	for i := range n.Captures {
		c := &n.Captures[i]
		if c.Value == "" || len(c.Value) > maxSpoken || ofTheProtocol.MatchString(c.Pointer) {
			continue
		}
		for name, called := range arguments {
			if known := learned[name]; slices.ContainsFunc(called, c.names) && len(known) < maxLearned && !slices.Contains(known, c.Value) {
				learned[name] = append(known, c.Value)
			}
		}
	}
	return learned
}

// inform puts what was learned of the server into the tool's examples, where the schema allows it: where two arguments
// take the same, each another.
func (c *callable) inform(learned map[string][]string) {
	used := make(map[string]int)
	for _, property := range c.properties() {
		values := learned[property.Name]
		if len(values) == 0 {
			continue
		}
		first := values[0]
		values = values[used[first]%len(values):]
		used[first]++
		for _, example := range []**mutate.JSON{&c.plain, &c.full} {
			if (*example).Get(property.Name) == nil {
				continue
			}
			for _, value := range append([]*mutate.JSON{mutate.NewString(values[0])}, numbers(values[:1])...) {
				if better := c.changed(*example, property.Name, value); better != nil {
					*example = better
					break
				}
			}
		}
	}
}
