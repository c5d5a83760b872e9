package mutate

import (
	"math/rand/v2"
	"strconv"
)

// slot is the position of a value in a tree.
type slot struct {
	node   *JSON
	parent int32 // slot of the parent, -1 at the root
	index  int32 // in the parent's items or members
	depth  int32 // arrays and objects around it
	pinned bool  // the value is protected, or lies within a protected one
	holds  bool  // a value below it is protected
	height int32 // nesting depth of the value itself; see measure
}

// editor changes a tree. Its slots are those before the last change.
type editor struct {
	tree     *JSONTree
	r        *rand.Rand
	root     *JSON
	donor    *JSON // the second tree of Cross
	room     int   // number of bytes by which the text may still grow
	maxDepth int
	slots    []slot
}

// scan lists the slots of the tree.
func (e *editor) scan() {
	clear(e.slots)
	e.slots = e.slots[:0]
	if e.tree.Protect == nil {
		e.list(e.root, -1, 0, 0)
	} else {
		e.listGuarded(e.root, slot{parent: -1}, path{})
	}
}

func (e *editor) list(v *JSON, parent, index, depth int32) {
	if v == nil {
		return
	}
	at := int32(len(e.slots))
	e.slots = append(e.slots, slot{node: v, parent: parent, index: index, depth: depth})
	switch v.Kind {
	case Array:
		for i, item := range v.Items {
			e.list(item, at, int32(i), depth+1)
		}
	case Object:
		for i := range v.Members {
			e.list(v.Members[i].Value, at, int32(i), depth+1)
		}
	}
}

// listGuarded is list for trees with protected values. It reports whether v or a value below it is protected.
func (e *editor) listGuarded(v *JSON, s slot, p path) bool {
	if v == nil {
		return false
	}
	at := int32(len(e.slots))
	s.node, s.pinned = v, s.pinned || e.tree.Protect(p.pointer)
	e.slots = append(e.slots, s)
	below := slot{parent: at, depth: s.depth + 1, pinned: s.pinned}
	holds := false
	switch v.Kind {
	case Array:
		for i, item := range v.Items {
			below.index = int32(i)
			holds = e.listGuarded(item, below, p.step(strconv.Itoa(i))) || holds
		}
	case Object:
		for i, m := range v.Members {
			below.index = int32(i)
			holds = e.listGuarded(m.Value, below, p.step(m.Name)) || holds
		}
	}
	e.slots[at].holds = holds
	return holds || s.pinned
}

// free reports whether the value, with everything below it, may be replaced.
func (s *slot) free() bool { return !s.pinned && !s.holds }

func (e *editor) parent(s *slot) *slot {
	if s.parent < 0 {
		return nil
	}
	return &e.slots[s.parent]
}

// fits reports whether an operator that requires f can be applied to a slot.
func (e *editor) fits(f fit, s *slot) bool {
	switch f {
	case atObject: // protected members keep their pointers
		return s.node.Kind == Object && !s.pinned
	case atNumber:
		return s.node.Kind == Number && s.free()
	case atString:
		return (s.node.Kind == String || s.node.Kind == Raw) && s.free()
	case atArray:
		return s.node.Kind == Array && s.free()
	case atItem:
		p := e.parent(s)
		return p != nil && p.node.Kind == Array && p.free()
	case atMember:
		p := e.parent(s)
		return p != nil && p.node.Kind == Object && s.free()
	}
	return s.free()
}

// draw returns a random slot that fits, nil if there is none.
func (e *editor) draw(f fit) *slot {
	n := 0
	for i := range e.slots {
		if e.fits(f, &e.slots[i]) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	k := below(e.r, n)
	for i := range e.slots {
		if !e.fits(f, &e.slots[i]) {
			continue
		}
		if k == 0 {
			return &e.slots[i]
		}
		k--
	}
	return nil
}

// apply tries an operator at some of the slots that fit.
func (e *editor) apply(op JSONOperator) bool {
	o := &jsonOperators[op]
	for range 4 {
		s := e.draw(o.fit)
		if s == nil {
			return false
		}
		if o.edit(e, s) {
			return true
		}
	}
	return false
}

// put replaces the value of a slot by v, which becomes part of the tree. It returns false if the two are identical, or if the result
// would be too long or too deep.
func (e *editor) put(s *slot, v *JSON) bool {
	grow := v.size() - s.node.size()
	if grow > e.room || int(s.depth)+v.depth() > e.maxDepth || v.identical(s.node) {
		return false
	}
	e.room -= grow
	*s.node = *v
	return true
}

// setText sets the text of a String or Raw.
func (e *editor) setText(s *slot, text string) bool {
	return e.put(s, &JSON{Kind: s.node.Kind, Text: text})
}

// moved returns the value of a slot as a node of its own, which may become part of the value that replaces it.
func (s *slot) moved() *JSON {
	v := *s.node
	return &v
}

// member returns the member whose value is in a slot.
func (e *editor) member(s *slot) *Member { return &e.parent(s).node.Members[s.index] }

// guarded reports whether an object has a protected member with that name: a duplicate could override it.
func (e *editor) guarded(object *slot, name string) bool {
	if !object.holds {
		return false
	}
	self := int32(-1)
	for i := range e.slots {
		s := &e.slots[i]
		if s == object {
			self = int32(i)
		}
		if self >= 0 && s.parent == self && !s.free() && object.node.Members[s.index].Name == name {
			return true
		}
	}
	return false
}
