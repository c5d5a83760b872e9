package model

import (
	"fmt"
	"strings"
)

// A Pattern finds the values that a response brings without the model, by a regular expression over bytes that a response
// matches from its first byte on. It is for programs that show a finding without teasel.
type Pattern struct {
	Regexp string // in the syntax of Python, with re.DOTALL. Group i is the value of Values[i-1].
	Whole  bool   // the match is the response and not only its beginning
	Values []PatternValue
}

// PatternValue says how the bytes of a captured value are read.
type PatternValue struct {
	Name string
	Form string // see [Form]
}

// A Slot is where a message carries a captured value.
type Slot struct {
	Name       string
	Start, End int // of the bytes
	Form       string
}

// The forms of values in bytes: an integer in big or little endian order, with a sign or without, digits, or the bytes themselves.
const (
	FormBig          = "big"
	FormBigSigned    = "big signed"
	FormLittle       = "little"
	FormLittleSigned = "little signed"
	FormDecimal      = "10"
	FormOctal        = "8"
	FormHexadecimal  = "16"
	FormBytes        = "bytes"
)

// form returns how a field's values are written, "" if no form fits.
func (f *Field) form() string {
	switch {
	case f.Kind == Unsigned && f.Little:
		return FormLittle
	case f.Kind == Unsigned:
		return FormBig
	case f.Kind == Signed && f.Little:
		return FormLittleSigned
	case f.Kind == Signed:
		return FormBigSigned
	case f.Kind == Digits:
		return fmt.Sprint(f.Base)
	case f.Kind == Bytes || f.Kind == Text:
		return FormBytes
	}
	return ""
}

// Pattern returns a pattern of a response; false if its captures cannot be had that way: they are computed, or stand behind a
// field whose size only the model knows.
func (m *Message) Pattern() (Pattern, bool) {
	p := patternWriter{names: map[*Field][]string{}}
	if m.When != nil {
		return Pattern{}, false
	}
	for i := range m.Captures {
		f := m.captured(&m.Captures[i])
		if f == nil || f.form() == "" {
			return Pattern{}, false
		}
		p.names[f] = append(p.names[f], m.Captures[i].Name)
		p.left++
	}
	p.Whole = p.fields(m.Type)
	p.Regexp = p.b.String()
	return p.Pattern, p.left == 0 && (p.Whole || len(m.Captures) > 0)
}

// captured returns the field that a capture takes as it is, nil if it takes another value.
func (m *Message) captured(c *Capture) *Field {
	r, ok := c.From.node.(*reference)
	if !ok || r.up > 0 || r.item || len(c.Transforms) > 0 {
		return nil
	}
	typ := m.Type
	for i, id := range r.path {
		if typ == nil || typ.instance(id) != nil {
			return nil
		}
		f := typ.Field(id)
		if f == nil || f.Repeat != Once {
			return nil
		}
		if i == len(r.path)-1 {
			return f
		}
		typ = f.Type
	}
	return nil
}

// patternWriter writes the pattern of a response.
type patternWriter struct {
	Pattern
	b     strings.Builder
	names map[*Field][]string // captures
	left  int                 // captures that were not written yet
}

// fields writes the fields of a structure, as far as a regular expression can. It reports whether it can to the end.
func (p *patternWriter) fields(t *Type) bool {
	for _, f := range t.Fields {
		if f.If != nil || f.Repeat != Once || f.Switch != nil {
			return false
		}
		if f.Kind == Struct {
			if f.Size != nil || f.ToEnd || f.Type == nil || !p.fields(f.Type) {
				return false
			}
			continue
		}
		text := f.regexp()
		if text == "" {
			return false
		}
		names := p.names[f]
		if len(names) > 1 {
			return false
		}
		if len(names) == 1 {
			text = "(" + text + ")"
			p.Values = append(p.Values, PatternValue{names[0], f.form()})
			p.left--
		}
		p.b.WriteString(text)
	}
	return true
}

// regexp returns a regular expression of a field, "" if there is none.
func (f *Field) regexp() string {
	size := -1
	if f.Size != nil {
		l, ok := f.Size.node.(literal)
		if !ok || l.v.text {
			return ""
		}
		size = int(l.v.number)
	}
	switch {
	case f.Kind == Literal && f.optional:
		return "(?:" + quoteBytes(f.Contents) + ")?"
	case f.Kind == Literal:
		return quoteBytes(f.Contents)
	case f.Valid != nil && len(f.Valid.AnyOf) > 0:
		return f.anyOf()
	case f.Kind == Unsigned || f.Kind == Signed || f.Kind == Float:
		return fmt.Sprintf(".{%d}", f.Width/8)
	case size >= 0 && f.form() != "":
		return fmt.Sprintf(".{%d}", size)
	case f.Kind == Digits:
		return map[int]string{8: "-?[0-7]+", 10: "-?[0-9]+", 16: "-?[0-9a-fA-F]+"}[f.Base]
	case f.form() == "" || f.stop == nil && !f.ToEnd, f.included, f.optional:
		return ""
	case f.stop != nil: // the field behind it is what ends it
		return ".*?"
	}
	return ".*"
}

// anyOf returns a regular expression of the values that a field may have, "" if it is none of whole bytes.
func (f *Field) anyOf() string {
	var all []string
	for _, c := range f.Valid.AnyOf {
		switch {
		case c.text:
			all = append(all, quoteBytes(c.bytes))
		case f.Kind == Unsigned || f.Kind == Signed:
			b := make([]byte, f.Width/8)
			writeInt(b, f.Little, uint64(c.number))
			all = append(all, quoteBytes(b))
		case f.Kind == Digits:
			all = append(all, quoteBytes(writeDigits(nil, c.number, f.Base, f.Pad)))
		default:
			return ""
		}
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// quoteBytes writes bytes that stand for themselves in a regular expression.
func quoteBytes(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ' ' {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, `\x%02x`, c)
		}
	}
	return s.String()
}

// Slots returns where a message carries captured values; false if some are more than a value in the place of another one: they
// are computed, or lengths and checksums depend on them.
func (t *Tree) Slots() (slots []Slot, simple bool) {
	for i := range t.Nodes {
		d := t.Nodes[i].Field.Derive
		if d == nil || !t.derivable(i) {
			continue
		}
		if d.Kind != FromDialogue {
			if d.Late() {
				return nil, false
			}
			continue
		}
		form := t.Nodes[i].Field.form()
		if form == "" || len(d.Transforms) > 0 || !t.Aligned(i) {
			return nil, false
		}
		slots = append(slots, Slot{Name: d.Var, Start: int(t.Nodes[i].Start / 8), End: int(t.Nodes[i].End / 8), Form: form})
	}
	for _, s := range slots {
		fixed := s.Form != FormBytes && s.Form != FormDecimal && s.Form != FormOctal && s.Form != FormHexadecimal
		for i := range t.Nodes {
			d := t.Nodes[i].Field.Derive
			if d != nil && (d.Kind == Check || d.Kind == Same) || !fixed && t.Derived(i) && (d == nil || d.Kind != FromDialogue) {
				return nil, false
			}
		}
	}
	return slots, true
}
