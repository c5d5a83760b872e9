package mutate

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// descent is a kind of simpler candidates at a slot: how many there are, and a function that makes the i-th from a copy.
type descent struct {
	count func(e *editor, s *slot) uint64
	apply func(e *editor, s *slot, i uint64)
}

// descents are in the order in which they are tried, after the removal of children.
var descents = [...]descent{
	{countHoists, hoist},
	{
		func(_ *editor, s *slot) uint64 { return once(s.free() && s.node.Kind != Null) },
		func(_ *editor, s *slot, _ uint64) { *s.node = JSON{Kind: Null} },
	},
	{countScalars, simplifyScalar},
	{
		func(e *editor, s *slot) uint64 {
			if !e.fits(atMember, s) {
				return 0
			}
			return 1 + chunks(utf8.RuneCountInString(e.member(s).Name))
		},
		func(e *editor, s *slot, i uint64) {
			m := e.member(s)
			if i == 0 {
				m.read = nil
				return
			}
			if name := simplerText(m.Name, i-1); !e.guarded(e.parent(s), name) {
				m.Name = name
			}
		},
	},
}

func once(ok bool) uint64 {
	if ok {
		return 1
	}
	return 0
}

// Simplify returns the k-th simpler candidate of src and reuses the nodes of dst; false if there are no more. Candidates remove members
// and items, first all of an array or object, then halves and so on; make the names and scalars of runs of values plain; replace a
// value by one inside it, or by null; then shorten strings, numbers and names, and replace true by false. If a candidate would change
// nothing it is src itself, which has the same complexity and is to be skipped.
func (t *JSONTree) Simplify(k uint64, dst, src *JSON) (*JSON, bool) {
	v := copyOnto(dst, src)
	if v == nil {
		return dst, false
	}
	e := &editor{tree: t, root: v, slots: t.slots}
	defer t.release(e)
	e.scan()
	e.measure()
	if e.dropChildren(&k) || e.plainAll(&k) {
		return v, true
	}
	for _, d := range &descents {
		for i := range e.slots {
			s := &e.slots[i]
			n := d.count(e, s)
			if k < n {
				d.apply(e, s, k)
				return v, true
			}
			k -= n
		}
	}
	return v, false
}

// children returns the number of values in an array or object, 0 if none of them may be removed.
func (s *slot) children() int {
	switch {
	case s.pinned:
	case s.node.Kind == Object:
		return len(s.node.Members)
	case s.node.Kind == Array && !s.holds: // removing an item changes the pointers of the following ones
		return len(s.node.Items)
	}
	return 0
}

// dropChildren makes the k-th removal of children, or subtracts the number of removals from k. First each array and object in turn
// loses all children, then halves of them, then quarters, and so on: from coarse to fine over the whole tree.
func (e *editor) dropChildren(k *uint64) bool {
	for level := 0; ; level++ {
		more := false
		for i := range e.slots {
			s := &e.slots[i]
			n := s.children()
			size := (n + 1<<level - 1) >> level
			if n == 0 || level > 0 && size == (n+1<<(level-1)-1)>>(level-1) {
				continue
			}
			more = true
			count := uint64((n + size - 1) / size)
			if *k < count {
				to := n - int(*k)*size
				e.drop(i, max(0, to-size), to)
				return true
			}
			*k -= count
		}
		if !more {
			return false
		}
	}
}

// plainAll makes the names, or all scalars, of a run of values plain: first of all values, then of halves, quarters and so on down to
// runs of two. Irrelevant values are thus simplified by few candidates.
func (e *editor) plainAll(k *uint64) bool {
	n := len(e.slots)
	for _, plain := range [2]func(*editor, *slot){plainName, plainScalar} {
		for size := n; size > 1; size = (size + 1) / 2 {
			count := uint64((n + size - 1) / size)
			if *k >= count {
				*k -= count
				continue
			}
			from := int(*k) * size
			for i := from; i < min(n, from+size); i++ {
				plain(e, &e.slots[i])
			}
			return true
		}
	}
	return false
}

func plainName(e *editor, s *slot) {
	if e.fits(atMember, s) && !e.guarded(e.parent(s), "") {
		m := e.member(s)
		m.Name, m.read = "", nil
	}
}

func plainScalar(_ *editor, s *slot) {
	if !s.free() {
		return
	}
	switch s.node.Kind {
	case Bool:
		s.node.Text = "false"
	case Number:
		s.node.Text = "0"
	case String:
		s.node.Text, s.node.read = "", nil
	}
}

// drop removes those of the children from:to of slot i that are free.
func (e *editor) drop(i, from, to int) {
	s := &e.slots[i]
	if s.node.Kind == Array {
		s.node.Items = slices.Delete(s.node.Items, from, to)
		return
	}
	keep := make(map[int32]bool)
	for j := i + 1; j < len(e.slots) && s.holds; j++ {
		if c := &e.slots[j]; int(c.parent) == i && !c.free() {
			keep[c.index] = true
		}
	}
	var members []Member
	for j, m := range s.node.Members {
		if j < from || j >= to || keep[int32(j)] {
			members = append(members, m)
		}
	}
	s.node.Members = members
}

// countHoists counts the values inside a value that may replace it: one for each halving of its height, then each child.
func countHoists(_ *editor, s *slot) uint64 {
	if !s.free() {
		return 0
	}
	n := uint64(s.node.childCount())
	for h := s.height / 2; h > 1; h /= 2 {
		n++
	}
	return n
}

func hoist(e *editor, s *slot, i uint64) {
	h := s.height / 2
	for ; h > 1 && i > 0; h /= 2 {
		i--
	}
	inner := s.node
	if h > 1 {
		inner = e.highest(s, s.depth+h)
	} else {
		inner = inner.child(int(i))
	}
	if inner == nil {
		inner = NewNull()
	}
	*s.node = *inner
}

// highest returns the deepest of the values at a given depth inside another one.
func (e *editor) highest(outer *slot, depth int32) *JSON {
	var best *slot
	within := false
	for i := range e.slots {
		s := &e.slots[i]
		switch {
		case s == outer:
			within = true
		case within && s.depth <= outer.depth:
			return best.node
		case within && s.depth == depth && (best == nil || s.height > best.height):
			best = s
		}
	}
	return best.node
}

// measure computes the heights of all slots.
func (e *editor) measure() {
	for i := len(e.slots) - 1; i >= 0; i-- {
		s := &e.slots[i]
		if k := s.node.Kind; k == Array || k == Object {
			s.height = max(s.height, 1)
		}
		if p := e.parent(s); p != nil {
			p.height = max(p.height, s.height+1)
		}
	}
}

func (v *JSON) childCount() int {
	switch v.Kind {
	case Array:
		return len(v.Items)
	case Object:
		return len(v.Members)
	}
	return 0
}

func (v *JSON) child(i int) *JSON {
	if v.Kind == Array {
		return v.Items[i]
	}
	return v.Members[i].Value
}

func countScalars(_ *editor, s *slot) uint64 {
	if !s.free() {
		return 0
	}
	switch s.node.Kind {
	case Bool:
		return once(s.node.Text != "false")
	case Number, String, Raw:
		return 1 + chunks(utf8.RuneCountInString(s.node.Text))
	}
	return 0
}

func simplifyScalar(_ *editor, s *slot, i uint64) {
	v := s.node
	switch {
	case v.Kind == Bool:
		v.Text = "false"
	case i == 0 && v.Kind == Number:
		v.Text = "0"
	case i == 0 && v.Kind == Raw: // the value of the text, if it is valid JSON
		if w, err := ParseJSON([]byte(v.Text)); err == nil && w.childCount() == 0 {
			*v = *w
		}
	case i == 0:
		v.read = nil
	default:
		text := simplerText(v.Text, i-1)
		if v.Kind != Number || isNumber(text) || !isNumber(v.Text) {
			v.Text = text
		}
	}
}

// simplerText removes characters of a text or replaces them by '0'.
func simplerText(text string, k uint64) string {
	starts := make([]int, 0, len(text)+1)
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	c, ok := chunk(k, len(starts)-1)
	if !ok {
		return text
	}
	from, to := starts[c.from], starts[c.to]
	if c.fill {
		return text[:from] + strings.Repeat("0", c.to-c.from) + text[to:]
	}
	return text[:from] + text[to:]
}
