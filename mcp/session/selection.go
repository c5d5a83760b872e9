package session

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Selection says which tools may be called. The zero value takes every tool of which nothing suggests that it changes
// something that outlives the server: see [Traits].Changes.
type Selection struct {
	Include  []string // globs of tool names (* ? [a-z]); empty: every tool
	Exclude  []string // globs of tools to leave out, whatever Include says
	Allow    []string // globs of tools that are called though they may destroy
	Patterns []string // regular expressions; a tool without annotations whose name matches one is not called
	Strict   bool     // call only tools whose annotations say that they destroy nothing
	Most     int      // tools that are called, the first by name; 0: all
}

// Blocked is a tool that is not called because it may change something that outlives the server.
type Blocked struct {
	Name string
	Why  string // "its annotations say destructiveHint", ...
}

// Choice is what a [Selection] comes to for one server, all sorted by name.
type Choice struct {
	Tools    []Tool // to be fuzzed
	Blocked  []Blocked
	Excluded []string // left out by Include, Exclude or Most
	Idle     []string // globs of the selection that no tool's name matches

	guarded []string // those of Excluded that would be blocked if they were not
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
		why := s.Refuses(t, patterns)
		allowed := matches(s.Allow, t.Name)
		switch {
		case !included || excluded:
			c.Excluded = append(c.Excluded, t.Name)
			if why != "" && !allowed {
				c.guarded = append(c.guarded, t.Name)
			}
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
	if s.Most > 0 && len(c.Tools) > s.Most {
		for _, t := range c.Tools[s.Most:] {
			c.Excluded = append(c.Excluded, t.Name)
		}
		c.Tools = c.Tools[:s.Most]
		slices.Sort(c.Excluded)
	}
	return c, nil
}

// Blocks reports whether a tool of that name must not be called, because it may change something lasting.
func (c *Choice) Blocks(name string) bool {
	return slices.ContainsFunc(c.Blocked, func(b Blocked) bool { return b.Name == name }) || slices.Contains(c.guarded, name)
}

// Excludes reports whether a tool of that name is left out by Include, Exclude or Most, and nothing else.
func (c *Choice) Excludes(name string) bool {
	return slices.Contains(c.Excluded, name) && !c.Blocks(name) && !slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Name == name })
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

// Refuses says why a tool is not called unless the user allows it; "": it may be called.
func (s Selection) Refuses(t *Tool, patterns []*regexp.Regexp) string {
	traits := TraitsOf(t)
	if !traits.Annotated {
		for _, p := range patterns {
			if p.MatchString(t.Name) {
				return fmt.Sprintf("its name matches the pattern %q", p)
			}
		}
	}
	if s.Strict && traits.Changes == "" && !traits.Harmless {
		return "its annotations do not say that it is harmless, which --strict asks for"
	}
	return traits.Changes
}

// globMatches is [path.Match] in which a slash is a character like any other.
func globMatches(glob, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok
}
