package mutate

import (
	"strconv"
	"strings"
)

// confusion converts a value to another kind. The result never has the same kind, and never shares nodes with the argument.
type confusion struct {
	from kinds
	make func(v *JSON) *JSON
}

// kinds is a set of kinds.
type kinds uint16

func setOf(list ...Kind) kinds {
	var s kinds
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

func (s kinds) has(k Kind) bool { return s>>k&1 == 1 }

const everyKind = kinds(0xffff)

var confusions = [...]confusion{
	{everyKind &^ setOf(Null), func(*JSON) *JSON { return NewNull() }},
	{everyKind &^ setOf(Bool), func(*JSON) *JSON { return NewBool(true) }},
	{everyKind &^ setOf(Bool), func(*JSON) *JSON { return NewBool(false) }},
	{everyKind &^ setOf(Number), func(*JSON) *JSON { return NewInt(0) }},
	{everyKind &^ setOf(Number), func(*JSON) *JSON { return NewInt(1) }},
	{everyKind &^ setOf(Number), func(v *JSON) *JSON { return NewInt(-int64(v.size())) }},
	{everyKind &^ setOf(Number), func(*JSON) *JSON { return NewNumber("1.5") }},
	{everyKind &^ setOf(String), func(*JSON) *JSON { return NewString("") }},
	{everyKind &^ setOf(String), func(v *JSON) *JSON { return NewString(v.String()) }}, // 1 to "1", [1] to "[1]"
	{everyKind &^ setOf(String), func(*JSON) *JSON { return NewString("true") }},
	{everyKind &^ setOf(String), func(*JSON) *JSON { return NewString("null") }},
	{everyKind &^ setOf(String), func(*JSON) *JSON { return NewString("0") }},
	{everyKind &^ setOf(Array), func(*JSON) *JSON { return NewArray() }},
	{everyKind &^ setOf(Array), func(v *JSON) *JSON { return NewArray(v.Clone()) }},
	{everyKind &^ setOf(Array), func(v *JSON) *JSON { return NewArray(v.Clone(), v.Clone()) }},
	{everyKind &^ setOf(Array), func(*JSON) *JSON { return NewArray(NewNull()) }},
	{everyKind &^ setOf(Object), func(*JSON) *JSON { return NewObject() }},
	{everyKind &^ setOf(Object), func(v *JSON) *JSON { return NewObject(Member{Name: "value", Value: v.Clone()}) }},
	{everyKind &^ setOf(Object), func(v *JSON) *JSON { return NewObject(Member{Name: "0", Value: v.Clone()}) }},
	{setOf(Array, Object), func(v *JSON) *JSON { return otherThan(v.Kind, firstLeaf(v).Clone()) }},
	{setOf(String), stringToNumber},
	{setOf(String), stringToArray},
	{setOf(Array), arrayToObject},
	{setOf(Object), func(v *JSON) *JSON { return objectToArray(v, false) }},
	{setOf(Object), func(v *JSON) *JSON { return objectToArray(v, true) }},
	{setOf(Array, Object), func(v *JSON) *JSON { return NewInt(int64(len(v.Items) + len(v.Members))) }},
}

// confusionsOf returns the number of confusions that can be applied to a kind.
func confusionsOf(k Kind) int {
	n := 0
	for i := range confusions {
		if confusions[i].from.has(k) {
			n++
		}
	}
	return n
}

// confuse returns the result of the i-th confusion of v.
func confuse(v *JSON, i int) *JSON {
	for _, c := range &confusions {
		if !c.from.has(v.Kind) {
			continue
		}
		if i == 0 {
			return c.make(v)
		}
		i--
	}
	return NewNull()
}

func confuseType(e *editor, at *slot) bool {
	return e.put(at, confuse(at.node, below(e.r, confusionsOf(at.node.Kind))))
}

// firstLeaf returns the first value below v that has no values below it.
func firstLeaf(v *JSON) *JSON {
	for {
		switch {
		case v == nil:
			return NewNull()
		case v.Kind == Array && len(v.Items) > 0:
			v = v.Items[0]
		case v.Kind == Object && len(v.Members) > 0:
			v = v.Members[0].Value
		default:
			return v
		}
	}
}

func otherThan(k Kind, v *JSON) *JSON {
	if v.Kind == k {
		return NewNull()
	}
	return v
}

// stringToNumber returns the number in a string, or the length of the string if it is not a number.
func stringToNumber(v *JSON) *JSON {
	if text := strings.TrimSpace(v.Text); isNumber(text) {
		return NewNumber(text)
	}
	return NewInt(int64(len(v.Text)))
}

func isNumber(text string) bool {
	_, ok := parseDecimal(text)
	return ok
}

// stringToArray splits a string into its first 16 characters.
func stringToArray(v *JSON) *JSON {
	a := NewArray()
	for i, c := range v.Text {
		if len(a.Items) == 16 {
			a.Items = append(a.Items, NewString(v.Text[i:]))
			break
		}
		a.Items = append(a.Items, NewString(string(c)))
	}
	return a
}

func arrayToObject(v *JSON) *JSON {
	o := NewObject()
	for i, item := range v.Items {
		o.Members = append(o.Members, Member{Name: strconv.Itoa(i), Value: item.Clone()})
	}
	return o
}

func objectToArray(v *JSON, names bool) *JSON {
	a := NewArray()
	for _, m := range v.Members {
		if names {
			a.Items = append(a.Items, NewArray(NewString(m.Name), m.Value.Clone()))
		} else {
			a.Items = append(a.Items, m.Value.Clone())
		}
	}
	return a
}
