package mcp

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Selection says which tools may be called. The zero value takes every tool that does not look destructive.
//
// Whether a tool may destroy something is told by its annotations, if it has any: readOnlyHint wins, then
// destructiveHint, and where that is missing the specification's default holds, which is true. A tool without
// annotations is judged by Patterns, then by the words of its name and the verbs of its description's first sentence.
type Selection struct {
	Include  []string // globs of tool names (* ? [a-z]); empty: every tool
	Exclude  []string // globs of tools to leave out, whatever Include says
	Allow    []string // globs of tools that are called though they may destroy
	Patterns []string // regular expressions; a tool without annotations whose name matches one is destructive
}

// Blocked is a tool that is not called because it may destroy something.
type Blocked struct {
	Name string
	Why  string // "its annotations say destructiveHint", ...
}

// Choice is what a [Selection] comes to for one server, all sorted by name.
type Choice struct {
	Tools    []Tool // to be fuzzed
	Blocked  []Blocked
	Excluded []string // left out by Include or Exclude
	Idle     []string // globs of the selection that no tool's name matches
}

// Apply judges the tools of a session. Of several tools with one name it is the most dangerous that counts. An error
// names the glob or regular expression that cannot be read.
func (s Selection) Apply(session *Session) (Choice, error) {
	var c Choice
	patterns, err := s.compile()
	if err != nil {
		return c, err
	}
	matched := make(map[string]bool)
	matches := func(globs []string, name string) (any bool) {
		for _, g := range globs {
			if globMatches(g, name) {
				matched[g], any = true, true
			}
		}
		return any
	}
	for i := range session.Tools {
		t := &session.Tools[i]
		included := len(s.Include) == 0 || matches(s.Include, t.Name)
		excluded := matches(s.Exclude, t.Name)
		why := danger(t, patterns)
		allowed := matches(s.Allow, t.Name)
		switch {
		case !included || excluded:
			c.Excluded = append(c.Excluded, t.Name)
		case why != "" && !allowed:
			c.Blocked = append(c.Blocked, Blocked{Name: t.Name, Why: why})
		default:
			c.Tools = append(c.Tools, *t)
		}
	}
	for _, g := range slices.Concat(s.Include, s.Exclude, s.Allow) {
		if !matched[g] {
			c.Idle = append(c.Idle, g)
		}
	}
	c.settle()
	return c, nil
}

// Blocks reports whether a tool of that name must not be called.
func (c *Choice) Blocks(name string) bool {
	return !slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Name == name }) &&
		(slices.Contains(c.Excluded, name) || slices.ContainsFunc(c.Blocked, func(b Blocked) bool { return b.Name == name }))
}

// settle sorts and takes out doubles.
func (c *Choice) settle() {
	slices.SortStableFunc(c.Blocked, func(a, b Blocked) int { return cmp.Compare(a.Name, b.Name) })
	c.Blocked = slices.CompactFunc(c.Blocked, func(a, b Blocked) bool { return a.Name == b.Name })
	slices.SortStableFunc(c.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	c.Tools = slices.CompactFunc(c.Tools, func(a, b Tool) bool { return a.Name == b.Name })
	c.Tools = slices.DeleteFunc(c.Tools, func(t Tool) bool {
		return slices.ContainsFunc(c.Blocked, func(b Blocked) bool { return b.Name == t.Name })
	})
	for _, list := range []*[]string{&c.Excluded, &c.Idle} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

func (s Selection) compile() ([]*regexp.Regexp, error) {
	for _, g := range slices.Concat(s.Include, s.Exclude, s.Allow) {
		if _, err := path.Match(g, ""); err != nil {
			return nil, fmt.Errorf("tool glob %q: expected *, ?, [a-z] and plain characters: %w", g, err)
		}
	}
	patterns := make([]*regexp.Regexp, len(s.Patterns))
	for i, p := range s.Patterns {
		var err error
		if patterns[i], err = regexp.Compile(p); err != nil {
			return nil, fmt.Errorf("destructive pattern %q: %w", p, err)
		}
	}
	return patterns, nil
}

// globMatches is [path.Match] in which a slash is a character like any other.
func globMatches(glob, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok
}

// danger says why a tool counts as destructive; "": it does not.
func danger(t *Tool, patterns []*regexp.Regexp) string {
	if t.Annotations != nil && t.Annotations.Kind == mutate.Object {
		return dangerAnnotated(t.Annotations)
	}
	for _, p := range patterns {
		if p.MatchString(t.Name) {
			return fmt.Sprintf("its name matches the pattern %q", p)
		}
	}
	if w := dangerousName(t.Name); w != "" {
		return fmt.Sprintf("its name says %q", w)
	}
	if w := dangerousSentence(t.Description); w != "" {
		return fmt.Sprintf("its description says %q", w)
	}
	return ""
}

func dangerAnnotated(a *mutate.JSON) string {
	hint := func(name string) string {
		if v := a.Get(name); v != nil && v.Kind == mutate.Bool {
			return v.Text
		}
		return ""
	}
	switch {
	case hint("readOnlyHint") == "true":
		return ""
	case hint("destructiveHint") == "true":
		return "its annotations say destructiveHint"
	case hint("destructiveHint") == "":
		return "its annotations leave out destructiveHint, whose default is true"
	}
	return ""
}
