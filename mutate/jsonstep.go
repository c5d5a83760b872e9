package mutate

import "strings"

// treePhase is a kind of ordered change: how many there are at a slot, and a function that makes the i-th.
type treePhase struct {
	count func(t *JSONTree, e *editor, s *slot) int
	apply func(t *JSONTree, e *editor, s *slot, i int) bool
}

// treePhases are in the order in which they are tried: the most productive per step come first.
var treePhases = [...]treePhase{
	{
		func(_ *JSONTree, e *editor, s *slot) int { return int(once(e.fits(atMember, s) || e.fits(atItem, s))) },
		func(_ *JSONTree, e *editor, s *slot, _ int) bool {
			if e.parent(s).node.Kind == Array {
				return dropItem(e, s)
			}
			return removeMember(e, s)
		},
	},
	whereFree(func(v *JSON) int { return confusionsOf(v.Kind) }, confuse),
	whereFree(countBoundaries, boundaryOf),
	{
		func(_ *JSONTree, e *editor, s *slot) int { return int(once(e.fits(atMember, s))) },
		func(_ *JSONTree, e *editor, s *slot, _ int) bool {
			p, m := e.parent(s), *e.member(s)
			return e.insertMember(p, len(p.node.Members), Member{Name: m.Name, Value: confuse(m.Value, 0), read: m.read})
		},
	},
	{
		func(_ *JSONTree, e *editor, s *slot) int {
			if !e.fits(atObject, s) {
				return 0
			}
			return len(strangeNames)
		},
		func(_ *JSONTree, e *editor, s *slot, i int) bool {
			return e.insertMember(s, len(s.node.Members), Member{Name: strangeNames[i], Value: NewBool(true)})
		},
	},
	whereToken(Injection), whereToken(Unicode),
	whereFree(func(v *JSON) int {
		if v.Kind != String {
			return 0
		}
		return 3
	}, func(_ *JSON, i int) *JSON { return NewString(strings.Repeat("A", []int{1 << 10, 1 << 13, 1 << 16}[i])) }),
	{
		func(_ *JSONTree, _ *editor, s *slot) int { return 9 * int(once(s.free())) },
		func(_ *JSONTree, e *editor, s *slot, i int) bool {
			depth := []int{100, 1000, 9000}[i/3]
			return int(s.depth)+depth+s.node.depth() <= e.maxDepth && e.put(s, nestedText(s.node, depth, i%3))
		},
	},
}

// whereFree returns a phase that replaces values.
func whereFree(count func(v *JSON) int, value func(v *JSON, i int) *JSON) treePhase {
	return treePhase{
		func(_ *JSONTree, _ *editor, s *slot) int {
			if !s.free() {
				return 0
			}
			return count(s.node)
		},
		func(_ *JSONTree, e *editor, s *slot, i int) bool { return e.put(s, value(s.node, i)) },
	}
}

// whereToken returns a phase that replaces each string by each token of a category, and appends the token to it.
func whereToken(c Category) treePhase {
	return treePhase{
		func(t *JSONTree, _ *editor, s *slot) int {
			if !s.free() || s.node.Kind != String {
				return 0
			}
			return 2 * len(t.words.Tokens(c))
		},
		func(t *JSONTree, e *editor, s *slot, i int) bool {
			token := t.words.Tokens(c)[i/2]
			if i%2 == 1 {
				token = s.node.Text + token
			}
			return e.put(s, NewString(token))
		},
	}
}

func countBoundaries(v *JSON) int {
	switch v.Kind {
	case Bool:
		return 1
	case Number:
		return len(boundaryNumbers) + len(boundaryRaws)
	case String:
		return len(boundaryStrings)
	case Array, Object:
		return min(1, v.childCount())
	}
	return 0
}

func boundaryOf(v *JSON, i int) *JSON {
	switch {
	case v.Kind == Bool:
		return NewBool(v.Text != "true")
	case v.Kind == Number && i < len(boundaryNumbers):
		return NewNumber(boundaryNumbers[i])
	case v.Kind == Number:
		return NewRaw(boundaryRaws[i-len(boundaryNumbers)])
	case v.Kind == String:
		return NewString(boundaryStrings[i])
	}
	return &JSON{Kind: v.Kind}
}

// Step returns the k-th ordered change of src and reuses the nodes of dst; false if there are no more. For each value: it is removed;
// converted to another type; set to boundary values; its member is duplicated; members with strange names are added; injections and
// unusual characters replace, and are appended to, each string; strings are made long; the value is nested 100, 1,000 and 9,000 deep. A
// step that would leave src unchanged, or exceed a limit, inserts null or 0 instead.
func (t *JSONTree) Step(k uint64, dst, src *JSON) (*JSON, bool) {
	v := copyOnto(dst, src)
	if v == nil {
		return dst, false
	}
	e := t.edit(nil, v)
	defer t.release(e)
	e.scan()
	for _, p := range &treePhases {
		for i := range e.slots {
			s := &e.slots[i]
			n := uint64(p.count(t, e, s))
			if k >= n {
				k -= n
				continue
			}
			if !p.apply(t, e, s, int(k)) && s.free() && !e.put(s, NewNull()) {
				e.put(s, NewInt(0))
			}
			return v, true
		}
	}
	return v, false
}
