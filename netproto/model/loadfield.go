package model

import (
	"go.yaml.in/yaml/v3"
)

// maxPad is how many digits a number in text may be filled up to.
const maxPad = 255

// extent reads how long a field is.
func (l *loader) extent(e *entries, f *Field, path string) {
	f.ToEnd = l.flag(e.get("size-eos"), path+".size-eos", false)
	if n := e.get("size"); n != nil {
		f.Size = l.expr(n, path+".size")
		if f.Size != nil {
			f.sizing = asLinear(f.Size.node)
		}
		if f.Fixed() || f.Kind == Varint {
			l.fail(n, path, "", "a %s has no size", f.Kind)
		}
	}
	if n := e.get("terminator"); n != nil {
		f.stop = l.rawBytes(n, path+".terminator")
		if f.Kind != Text && f.Kind != Bytes && f.Kind != Digits {
			l.fail(n, path, "", "a %s has no terminator", f.Kind)
		}
		if len(f.stop) == 0 {
			l.fail(n, path, "", "the terminator is empty")
		}
	}
	if f.stop != nil && (f.Size != nil || f.ToEnd) {
		l.fail(e.node, path, "put the field into a type of that size", "a field has a size or a terminator, not both")
	}
	f.included = l.flag(e.get("include"), path+".include", false)
	f.optional = !l.flag(e.get("eos-error"), path+".eos-error", true)
	if n := e.get("consume"); n != nil && !l.flag(n, path+".consume", true) {
		l.fail(n, path, "name the terminator as the contents of the next field", "consume: false is not supported")
	}
	f.Pad = int(l.integer(e.get("pad"), path+".pad", 0))
	if f.Pad != 0 && f.Kind != Digits {
		l.fail(e.get("pad"), path, "", "only dec, hex and oct have a pad")
	}
	if f.Pad < 0 || f.Pad > maxPad {
		l.fail(e.get("pad"), path, "", "a pad is a number of digits from 0 to %d", maxPad)
	}
	if (f.Kind == Text || f.Kind == Bytes) && f.Size == nil && !f.ToEnd && f.stop == nil {
		l.fail(e.node, path, "give it a size, size-eos: true, or a terminator", "nothing says where the field ends")
	}
}

func (l *loader) repetition(e *entries, f *Field, path string) {
	n := e.get("repeat")
	for _, other := range [...]string{"repeat-expr", "repeat-until", "repeat-before"} {
		if x := e.get(other); x != nil && n == nil {
			l.fail(x, path, "", "%s without repeat", other)
			return
		}
	}
	if n == nil {
		return
	}
	want := ""
	switch l.choice(n, path+".repeat", "eos", "expr", "until", "before") {
	case 0:
		f.Repeat = RepeatEOS
		return
	case 1:
		want, f.Repeat, f.Times = "repeat-expr", RepeatCount, l.expr(e.get("repeat-expr"), path+".repeat-expr")
		if f.Times != nil {
			f.counting = asLinear(f.Times.node)
		}
	case 2:
		want, f.Repeat, f.Times = "repeat-until", RepeatUntil, l.expr(e.get("repeat-until"), path+".repeat-until")
	case 3:
		want, f.Repeat, f.Before = "repeat-before", RepeatBefore, l.rawBytes(e.get("repeat-before"), path+".repeat-before")
	}
	if want != "" && e.get(want) == nil {
		l.fail(n, path, "", "repeat: %s wants %s", n.Value, want)
	}
	f.sizing = nil // one size of many items
}

// values reads which values a field may have and which one it begins with.
func (l *loader) values(e *entries, f *Field, path string) {
	if n := e.get("enum"); n != nil {
		f.Enum = l.findEnum(l.text(n, path+".enum"))
		if f.Enum == nil {
			l.fail(n, path, "", "there is no enum %q", n.Value)
		}
		if !f.Kind.Number() {
			l.fail(n, path, "", "only numbers have an enum")
		}
	}
	if n := e.get("value"); n != nil {
		c := l.constant(n, f, path+".value")
		f.initial = &c
	}
	n := e.get("valid")
	if n == nil {
		return
	}
	f.Valid = &Valid{}
	if n.Kind != yaml.MappingNode {
		f.Valid.AnyOf = []constant{l.constant(n, f, path+".valid")}
		return
	}
	m, ok := l.mapping(n, path+".valid", "eq", "min", "max", "any-of")
	if !ok {
		return
	}
	for _, c := range append(list(m.get("any-of")), list(m.get("eq"))...) {
		f.Valid.AnyOf = append(f.Valid.AnyOf, l.constant(c, f, path+".valid"))
	}
	for key, into := range map[string]**int64{"min": &f.Valid.Min, "max": &f.Valid.Max} {
		if c := m.get(key); c != nil {
			v := l.integer(c, path+".valid."+key, 0)
			*into = &v
		}
	}
}

// integers returns which integers fit into a field; false: any may.
func (f *Field) integers() (least, most int64, ok bool) {
	if f.Width <= 0 || f.Width >= 64 {
		return 0, 0, false
	}
	switch f.Kind {
	case Unsigned, Bits:
		return 0, 1<<f.Width - 1, true
	case Signed:
		return -1 << (f.Width - 1), 1<<(f.Width-1) - 1, true
	}
	return 0, 0, false
}

// constant reads a value of a field: a number, the name of one, or bytes.
func (l *loader) constant(n *yaml.Node, f *Field, path string) constant {
	if f.Kind == Text && n.Kind == yaml.ScalarNode {
		return constant{bytes: []byte(n.Value), text: true}
	}
	if !f.Kind.Number() {
		return constant{bytes: l.rawBytes(n, path), text: true}
	}
	if f.Enum != nil && n.Kind == yaml.ScalarNode {
		if v, ok := f.Enum.Value(n.Value); ok {
			return constant{number: v}
		}
	}
	if n.Kind == yaml.ScalarNode {
		switch n.Value {
		case "true":
			return constant{number: 1}
		case "false":
			return constant{}
		}
		if e, err := parseExpr(n.Value, l.enumValue); err == nil {
			if v := constantOf(e.node); v != nil {
				if least, most, ok := f.integers(); ok && (*v < least || *v > most) {
					l.fail(n, path, "", "%d does not fit into the field, which takes %d to %d", *v, least, most)
				}
				return constant{number: *v}
			}
		}
	}
	hint := ""
	if f.Enum != nil {
		hint = "the names are those of enum " + f.Enum.Name
	}
	l.fail(n, path, hint, "expected is a number, here stands %s", shape(n))
	return constant{}
}
