package mutate

import (
	"slices"
	"strings"
)

func removeMember(e *editor, at *slot) bool {
	p := e.parent(at)
	e.room += at.node.size()
	p.node.Members = slices.Delete(p.node.Members, int(at.index), int(at.index)+1)
	return true
}

// renameMember changes a name such that a parser which folds case, trims or truncates names may take it for the old one.
func renameMember(e *editor, at *slot) bool {
	m := e.member(at)
	name := m.Name
	switch below(e.r, 12) {
	case 0:
		name = strings.ToUpper(name)
	case 1:
		name = strings.Map(swapCase, name)
	case 2:
		name = "_" + name
	case 3:
		name += "_"
	case 4:
		name = " " + name
	case 5:
		name += "\x00"
	case 6:
		name += string(rune(between(e.r, 1, 0x1f)))
	case 7:
		name = e.mapRunes(name, homoglyph)
	case 8:
		name += e.tree.words.TokenOf(e.r, Unicode)
	case 9:
		name = e.tree.words.TokenOf(e.r, Field)
	case 10:
		name = ""
	case 11:
		from, to := e.stretch(name)
		name = name[:from] + name[to:]
	}
	grow := (*verbatim)(nil).size(name) - m.read.size(m.Name)
	if name == m.Name || grow > e.room || e.guarded(e.parent(at), name) {
		return false
	}
	e.room -= grow
	m.Name, m.read = name, nil
	return true
}

// duplicateMember inserts a second member with the same name and another value, before or after the first.
func duplicateMember(e *editor, at *slot) bool {
	p, m := e.parent(at), *e.member(at)
	value := confuse(m.Value, below(e.r, confusionsOf(m.Value.Kind)))
	if m.Value.Kind == Number && chance(e.r, 1, 2) {
		value = NewNumber(pick(e.r, boundaryNumbers))
	}
	where := int(at.index)
	if chance(e.r, 1, 2) {
		where = len(p.node.Members)
	}
	return e.insertMember(p, where, Member{Name: m.Name, Value: value, read: m.read})
}

// insertMember inserts a member into an object. It returns false if the result would be too long or too deep, or if the member would
// override a protected one.
func (e *editor) insertMember(object *slot, where int, m Member) bool {
	grow := m.read.size(m.Name) + m.Value.size() + len(":,")
	if grow > e.room || int(object.depth)+1+m.Value.depth() > e.maxDepth || e.guarded(object, m.Name) {
		return false
	}
	e.room -= grow
	object.node.Members = slices.Insert(object.node.Members, where, m)
	return true
}

// strangeNames are names with a special meaning in programming languages.
var strangeNames = [...]string{
	"__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__class__", "length", "then", "toJSON", "$ref", "$schema", "@type", "",
	"unknown", "extra", "x-unknown", "0", "-1", "null", "\x00", " ", ".", "a.b", "a[0]", "_meta", "additionalProperties",
}

func addMember(e *editor, at *slot) bool {
	name := pick(e.r, strangeNames[:])
	if chance(e.r, 1, 3) {
		name = e.tree.words.TokenOf(e.r, Field)
	}
	var value *JSON
	switch below(e.r, 6) {
	case 0:
		value = NewObject(Member{Name: pick(e.r, strangeNames[:]), Value: NewBool(true)})
	case 1:
		value = NewArray(NewInt(1))
	case 2:
		value = NewNull()
	case 3:
		value = NewNumber(pick(e.r, boundaryNumbers))
	case 4:
		value = NewBool(true)
	default:
		value = NewString(e.tree.words.Token(e.r))
	}
	return e.insertMember(at, len(at.node.Members), Member{Name: name, Value: value})
}

// permuted returns a random permutation of n elements, at least two. It may be the identity.
func (e *editor) permuted(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	switch below(e.r, 3) {
	case 0:
		slices.Reverse(order)
	case 1:
		i := below(e.r, n)
		j := (i + between(e.r, 1, n-1)) % n
		order[i], order[j] = order[j], order[i]
	default:
		e.r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

func shuffleMembers(e *editor, at *slot) bool {
	old := at.node.Members
	if len(old) < 2 {
		return false
	}
	members := make([]Member, 0, len(old))
	for _, i := range e.permuted(len(old)) {
		members = append(members, old[i])
	}
	return e.put(at, &JSON{Kind: Object, Members: members})
}

func reorderItems(e *editor, at *slot) bool {
	old := at.node.Items
	if len(old) < 2 {
		return false
	}
	items := make([]*JSON, 0, len(old))
	for _, i := range e.permuted(len(old)) {
		items = append(items, old[i])
	}
	return e.put(at, &JSON{Kind: Array, Items: items})
}

func duplicateItem(e *editor, at *slot) bool {
	p := e.parent(at)
	grow := at.node.size() + len(",")
	if grow > e.room {
		return false
	}
	times := 1
	if chance(e.r, 1, 4) {
		times = max(1, e.drawLength(min(1024, e.room/grow)))
	}
	e.room -= times * grow
	copies := make([]*JSON, times)
	for i := range copies {
		copies[i] = at.node.Clone()
	}
	p.node.Items = slices.Insert(p.node.Items, int(at.index), copies...)
	return true
}

func dropItem(e *editor, at *slot) bool {
	p := e.parent(at)
	e.room += at.node.size()
	p.node.Items = slices.Delete(p.node.Items, int(at.index), int(at.index)+1)
	return true
}

// inside reports whether a slot is outer or lies within its value.
func (e *editor) inside(s, outer *slot) bool {
	for s != nil && s != outer {
		s = e.parent(s)
	}
	return s != nil
}

func swapValues(e *editor, at *slot) bool {
	other := e.draw(anywhere)
	if e.inside(at, other) || e.inside(other, at) || at.node.identical(other.node) ||
		int(at.depth)+other.node.depth() > e.maxDepth || int(other.depth)+at.node.depth() > e.maxDepth {
		return false
	}
	*at.node, *other.node = *other.node, *at.node
	return true
}

// copyValue replaces a value by a copy of another one, which may be protected.
func copyValue(e *editor, at *slot) bool {
	return e.put(at, pick(e.r, e.slots).node.Clone())
}

// spliceValue replaces a value by one of the other tree: half the time one of the same kind, if there is one.
func spliceValue(e *editor, at *slot) bool {
	if e.donor == nil {
		return false
	}
	var all, same []*JSON
	e.donor.each(func(v *JSON) {
		all = append(all, v)
		if v.Kind == at.node.Kind {
			same = append(same, v)
		}
	})
	if len(same) > 0 && chance(e.r, 1, 2) {
		all = same
	}
	return e.put(at, pick(e.r, all).Clone())
}
