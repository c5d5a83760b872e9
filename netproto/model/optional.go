package model

import "go/token"

// Absent appends the fields that a structure could have and does not have: optional ones, and further items of a repeated
// field. A nil node list means none.
func (t *Tree) Absent(i int, dst []*Field) []*Field {
	typ := t.Nodes[i].Type
	if typ == nil {
		return dst
	}
	for _, f := range typ.Fields {
		if f.Repeat != Once || f.Optional() && f.ID != "" && t.Child(i, f.ID) < 0 {
			dst = append(dst, f)
		}
	}
	return dst
}

// Add puts a field that [Tree.Absent] gave into structure i, with its default value, and makes the condition for it hold
// where that takes no more than the change of a number. scratch is memory for it. It reports whether it could.
func (t *Tree) Add(i int, f *Field, scratch *Tree) bool {
	if f.Switch != nil {
		return false // what it is depends on values that a new one does not see
	}
	at := i + 1
	for _, g := range t.Nodes[i].Type.Fields {
		if g == f {
			break
		}
		for at < t.After(i) && t.Nodes[at].Field == g {
			at = t.After(at)
		}
	}
	parent := i
	if f.Repeat != Once {
		if at >= t.After(i) || t.Nodes[at].Field != f || t.Nodes[at].Flags&Array == 0 {
			return false // the field itself was dropped
		}
		parent, at = at, t.After(at) // one more item
	}
	end := t.Nodes[parent].End
	if at < t.After(parent) {
		end = t.Nodes[at].Start
	}
	if end&7 != 0 || f.Kind == Bits {
		return false
	}
	scratch.Data, scratch.Nodes = scratch.Data[:0], scratch.Nodes[:0]
	b := builder{t: scratch}
	b.open(f, nil, -1, 0) // stands for the structure
	if b.item(f, 0, 0, values{}) != nil || len(scratch.Nodes) < 2 {
		return false
	}
	b.close(0)
	t.Insert(parent, at, scratch, 1)
	t.Satisfy(i, f.If, true)
	return true
}

// Satisfy makes the condition of a field of structure i hold, or not hold, if that takes no more than the change of a
// number. It reports whether it did.
func (t *Tree) Satisfy(i int, e *Expr, want bool) bool {
	if e == nil {
		return false
	}
	return t.satisfy(&scope{tree: t, at: i, item: -1}, e.node, want)
}

func (t *Tree) satisfy(s *scope, n exprNode, want bool) bool {
	v, err := n.eval(s)
	if err != nil {
		return false
	}
	if v.holds() == want {
		return true
	}
	switch n := n.(type) {
	case *reference:
		at, ok := n.find(s)
		return ok && t.SetNumber(at, boolean(want).number)
	case unary:
		return n.op == token.NOT && t.satisfy(s, n.x, !want)
	case binary:
		switch n.op {
		case token.LAND:
			return t.satisfy(s, n.x, want) && (!want || t.satisfy(s, n.y, want))
		case token.LOR:
			return t.satisfy(s, n.x, want) && (want || t.satisfy(s, n.y, want))
		case token.EQL, token.NEQ:
			return t.equate(s, n, want == (n.op == token.EQL))
		}
	}
	return false
}

// equate makes both sides of a comparison with a constant equal, or not equal.
func (t *Tree) equate(s *scope, n binary, same bool) bool {
	c := constantOf(n.y)
	if c == nil {
		return false
	}
	if masked, ok := n.x.(binary); ok && masked.op == token.AND {
		mask := constantOf(masked.y)
		r, ok := masked.x.(*reference)
		if mask == nil || !ok {
			return false
		}
		at, found := r.find(s)
		if !found {
			return false
		}
		v, _ := t.Number(at)
		if same {
			return t.SetNumber(at, v&^*mask|*c&*mask)
		}
		return t.SetNumber(at, v^*mask)
	}
	r, ok := n.x.(*reference)
	if !ok {
		return false
	}
	at, found := r.find(s)
	if !found {
		return false
	}
	if same {
		return t.SetNumber(at, *c)
	}
	return t.SetNumber(at, *c^1)
}

// FlipBit inverts bit k of a node.
func (t *Tree) FlipBit(i, k int) {
	p := int(t.Nodes[i].Start) + k
	if f := t.Nodes[i].Field; f.Kind == Bits && f.Little {
		t.Data[p>>3] ^= 1 << (p & 7)
		return
	}
	t.Data[p>>3] ^= 0x80 >> (p & 7)
}
