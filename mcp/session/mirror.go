package session

import (
	"slices"

	"github.com/teaselfuzz/teasel/mutate"
)

// A Mirror is an argument of a tool that the head of a call repeats over HTTP, from [StatelessVersion] on.
type Mirror struct {
	Head string   // the name of its line, such as Mcp-Param-Region
	Path []string // names of properties, from the arguments on
}

// mirrorPrefix begins the name of the line of each [Mirror].
const mirrorPrefix = "Mcp-Param-"

// mirrorsOf returns the arguments that a tool's input schema has repeated: those with x-mcp-header at the end of a chain of properties.
func mirrorsOf(schema *mutate.JSON, path []string) (all []Mirror) {
	properties := schema.Get("properties")
	if properties == nil || properties.Kind != mutate.Object {
		return nil
	}
	for _, p := range properties.Members {
		at := append(slices.Clone(path), p.Name)
		if name, ok := p.Value.Get("x-mcp-header").Str(); ok && isFieldName(name) {
			all = append(all, Mirror{Head: mirrorPrefix + name, Path: at})
		}
		all = append(all, mirrorsOf(p.Value, at)...)
	}
	return all
}

// isFieldName reports whether a text may stand before the colon of a line in a head.
func isFieldName(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == ':' {
			return false
		}
	}
	return s != ""
}

// Value returns what an argument of a call is as a text; false: it is missing, null, or nothing that a head repeats.
func (m *Mirror) Value(arguments *mutate.JSON) (text string, ok bool) {
	v := arguments
	for _, name := range m.Path {
		v = v.Get(name)
	}
	switch {
	case v == nil:
		return "", false
	case v.Kind == mutate.String:
		return v.Str()
	case v.Kind == mutate.Bool, v.Kind == mutate.Number:
		return v.Text, true
	}
	return "", false
}

// line returns the line that repeats the argument in the head; "": there is none.
func (m *Mirror) line(arguments *mutate.JSON) string {
	text, ok := m.Value(arguments)
	switch {
	case !ok:
		return ""
	case text == "": // without a value it would be left out
		return "\n" + m.Head + ": " + EncodedHead(text)
	}
	return "\n" + m.Head + ": " + HeadValue(text)
}
