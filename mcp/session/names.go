package session

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// ArgumentNames are those of all that takes a value, each with the other names that its values may go by.
func ArgumentNames(session *Session, choice *Choice) map[string][]string {
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
		for _, name := range TemplateVariables(session.Templates[i].URI) {
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
	words := SplitWords(name)
	if len(words) == 0 || !slices.Contains(roleWords, words[0]) {
		return nil
	}
	rest := strings.Join(append([]string{""}, words[1:]...), "_")
	if rest == "" {
		rest = "_id"
	}
	nouns := SplitWords(tool)
	for _, m := range properties.Members {
		if others := SplitWords(m.Name); len(others) > 1 && slices.Equal(others[1:], words[1:]) {
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
