package model

import (
	"bytes"
	"fmt"
)

const (
	maxDepth = 64      // structures in one another
	maxNodes = 1 << 16 // fields of one message
	maxData  = 1 << 24 // bytes of a message that is made of default values or of copies
)

// restField is what a structure of a given size leaves over.
var restField = &Field{ID: "_rest", Kind: Bytes, ToEnd: true, Mutable: true}

// Parse reads data, which is copied, as a message of this kind. Every byte has to belong to a field. The error is a
// [*ParseError], and t has the bytes without fields then.
func (m *Message) Parse(t *Tree, data []byte) error {
	p := decoder{t: t}
	if _, ok := p.run(m, data, true); !ok {
		err := &ParseError{Message: m.Name, Field: p.path(), Offset: p.pos / 8, Reason: p.reason}
		t.Data, t.Nodes = append(t.Data[:0], data...), t.Nodes[:0]
		return err
	}
	return nil
}

// decoder reads one message. A method that returns false has said why in reason.
type decoder struct {
	t   *Tree
	pos int // in bits
	extent
	depth int

	parent int // of the field that failed
	field  *Field
	reason string
	short  bool
}

// extent is where the bytes end that a field may have.
type extent struct {
	end  int  // in bits
	more bool // further bytes may follow there
}

// run reads a message at the start of data. Of data only what belongs to the message is copied, since a stream may hold
// any number of messages behind it.
func (p *decoder) run(m *Message, data []byte, whole bool) (n int, ok bool) {
	own := p.t.Data[:0]
	p.t.Data = data
	n, ok = p.message(m, whole)
	p.t.Data = append(own, data[:n]...)
	return n, ok
}

func (p *decoder) message(m *Message, whole bool) (int, bool) {
	p.t.Nodes = p.t.Nodes[:0]
	p.pos, p.end = 0, len(p.t.Data)*8
	p.field = &m.outer
	p.t.Nodes = append(p.t.Nodes, Node{Field: &m.outer, Type: m.Type, Parent: -1})
	if !p.fields(m.Type, 0) {
		return 0, false
	}
	p.align()
	if whole && p.pos < p.end {
		p.parent, p.field = 0, nil
		return 0, p.fail(fmt.Sprintf("%d bytes are left over behind the last field", (p.end-p.pos)/8))
	}
	n := p.pos / 8
	p.t.Data = p.t.Data[:n]
	p.close(0)
	p.t.Nodes[0].End = int32(p.pos)
	if m.When != nil {
		p.parent, p.field = 0, nil
		v, err := m.When.node.eval(&scope{tree: p.t, item: -1})
		if err != nil || !v.holds() {
			return 0, p.fail("it is another message: " + m.When.Source + " does not hold")
		}
	}
	return n, true
}

func (p *decoder) path() string {
	above := ""
	if p.parent < len(p.t.Nodes) {
		above = p.t.Path(p.parent)
	}
	switch {
	case p.field == nil || p.field.ID == "":
		return above
	case above == "":
		return p.field.ID
	}
	return above + "." + p.field.ID
}

func (p *decoder) fail(reason string) bool {
	p.reason = reason
	return false
}

// ends fails because the bytes end.
func (p *decoder) ends() bool {
	p.short = p.more && p.end == len(p.t.Data)*8
	return p.fail("the bytes end here")
}

func (p *decoder) align() { p.pos = (p.pos + 7) &^ 7 }

// rest returns the bytes that are left.
func (p *decoder) rest() []byte { return p.t.Data[p.pos/8 : p.end/8] }

func (p *decoder) open(f *Field, t *Type, parent int, flags Flag) int {
	p.t.Nodes = append(p.t.Nodes, Node{Field: f, Type: t, Parent: int32(parent), Start: int32(p.pos), Flags: flags})
	return len(p.t.Nodes) - 1
}

func (p *decoder) close(i int) {
	n := &p.t.Nodes[i]
	n.End, n.Size = int32(p.pos), int32(len(p.t.Nodes)-i)
}

// leaf adds a field of so many bits.
func (p *decoder) leaf(f *Field, parent, bits int) bool {
	p.t.Nodes = append(p.t.Nodes, Node{Field: f, Parent: int32(parent), Start: int32(p.pos), End: int32(p.pos + bits), Size: 1})
	p.pos += bits
	if f.Valid != nil && !f.Valid.holds(p.t.value(len(p.t.Nodes)-1)) {
		p.pos -= bits
		return p.fail("the value is none of those that are valid")
	}
	return true
}

func (p *decoder) scope(at, item int) *scope {
	return &scope{tree: p.t, at: at, item: item, input: p.end - p.pos}
}

// number evaluates an expression of the structure at.
func (p *decoder) number(e *Expr, at int) (int64, bool) {
	v, err := e.node.eval(p.scope(at, -1))
	switch {
	case err != nil:
		return 0, p.fail("expression " + e.Source + ": " + err.Error())
	case v.text:
		return 0, p.fail("expression " + e.Source + " is a text and not a number")
	}
	return v.number, true
}

func (p *decoder) fields(t *Type, at int) bool {
	if p.depth++; p.depth > maxDepth {
		return p.fail(fmt.Sprintf("structures are nested more than %d deep", maxDepth))
	}
	for _, f := range t.Fields {
		p.parent, p.field = at, f
		if f.If != nil {
			v, err := f.If.node.eval(p.scope(at, -1))
			if err != nil {
				return p.fail("expression " + f.If.Source + ": " + err.Error())
			}
			if !v.holds() {
				continue
			}
		}
		if f.Repeat != Once {
			if !p.array(f, at) {
				return false
			}
			continue
		}
		if !p.item(f, at, at) {
			return false
		}
	}
	p.depth--
	return true
}

func (p *decoder) array(f *Field, at int) bool {
	if f.Kind != Bits {
		p.align()
	}
	times := int64(-1)
	if f.Repeat == RepeatCount {
		n, ok := p.number(f.Times, at)
		if !ok {
			return false
		}
		if n < 0 {
			return p.fail("the number of items is negative")
		}
		times = n
	}
	arr := p.open(f, nil, at, Array)
	if f.Repeat == RepeatEOS && p.more && p.end == len(p.t.Data)*8 {
		return p.ends()
	}
	for n := int64(0); n != times; n++ {
		p.parent, p.field = arr, f
		before := p.pos
		switch {
		case f.Repeat == RepeatEOS && p.pos >= p.end:
			p.close(arr)
			return true
		case f.Repeat == RepeatBefore:
			if bytes.HasPrefix(p.rest(), f.Before) || f.optional && p.pos >= p.end && !p.more {
				p.close(arr)
				return true
			}
			if p.pos >= p.end {
				return p.ends()
			}
		}
		node := len(p.t.Nodes)
		if !p.item(f, arr, at) {
			return false
		}
		if f.Repeat == RepeatUntil {
			v, err := f.Times.node.eval(p.scope(at, node))
			if err != nil {
				return p.fail("expression " + f.Times.Source + ": " + err.Error())
			}
			if v.holds() {
				break
			}
		}
		if p.pos == before && (times < 0 || len(p.t.Nodes) == node) {
			return p.fail("an item without bytes would be repeated for ever")
		}
	}
	p.close(arr)
	return true
}

// item reads a field, or one item of a repeated field. Its expressions are those of the structure at.
func (p *decoder) item(f *Field, parent, at int) bool {
	if len(p.t.Nodes) >= maxNodes {
		return p.fail(fmt.Sprintf("it has more than %d fields", maxNodes))
	}
	if f.Kind == Bits {
		if p.pos+f.Width > p.end {
			return p.ends()
		}
		return p.leaf(f, parent, f.Width)
	}
	p.align()
	outer := p.extent
	if f.Size != nil {
		n, ok := p.number(f.Size, at)
		switch {
		case !ok:
			return false
		case n < 0:
			return p.fail("the size is negative")
		case n > int64(p.end-p.pos)/8:
			return p.ends()
		}
		p.extent = extent{end: p.pos + int(n)*8} // all of them are here
	}
	typ := f.Type
	if f.Switch != nil {
		var ok bool
		if typ, ok = p.choose(f.Switch, at); !ok {
			return false
		}
	}
	if f.Kind != Struct || typ == nil {
		ok := p.value(f, parent)
		p.extent = outer
		return ok
	}
	return p.nested(f, typ, parent, outer)
}

// nested reads a structure. If its size was given, what it leaves over becomes a field.
func (p *decoder) nested(f *Field, typ *Type, parent int, outer extent) bool {
	i := p.open(f, typ, parent, 0)
	if !p.fields(typ, i) {
		return false
	}
	p.align()
	if f.Size != nil || f.ToEnd {
		if p.pos < p.end && !p.leaf(restField, i, p.end-p.pos) {
			return false
		}
		p.extent = outer
	}
	p.close(i)
	return true
}

func (p *decoder) choose(s *Switch, at int) (*Type, bool) {
	on, err := s.On.node.eval(p.scope(at, -1))
	if err != nil {
		return nil, p.fail("expression " + s.On.Source + ": " + err.Error())
	}
	for i := range s.Cases {
		v, err := s.Cases[i].On.node.eval(p.scope(at, -1))
		if err != nil {
			return nil, p.fail("expression " + s.Cases[i].On.Source + ": " + err.Error())
		}
		if v.equal(on) {
			return s.Cases[i].Type, true
		}
	}
	return s.Else, true
}

func (p *decoder) value(f *Field, parent int) bool {
	rest := p.rest()
	switch f.Kind {
	case Unsigned, Signed, Float:
		if len(rest) < f.Width/8 {
			return p.ends()
		}
		return p.leaf(f, parent, f.Width)
	case Varint:
		n := f.Varint.varintLen(rest)
		switch {
		case n < 0:
			return p.fail("the number is longer than its form allows")
		case n == 0:
			return p.ends()
		}
		return p.leaf(f, parent, n*8)
	case Literal:
		return p.literal(f, parent, rest)
	}
	n := len(rest)
	switch {
	case f.stop != nil:
		n = bytes.Index(rest, f.stop)
		if n < 0 && !f.optional {
			p.ends()
			p.reason = fmt.Sprintf("its terminator %q does not follow", f.stop)
			return false
		}
		if n < 0 {
			n = len(rest)
		} else if f.included {
			n += len(f.stop)
		}
	case f.Kind == Digits && f.Size == nil && !f.ToEnd:
		n = digitsLen(rest, f.Base)
		if n == len(rest) && p.more && p.end == len(p.t.Data)*8 {
			return p.ends()
		}
	case f.ToEnd && f.Size == nil && p.more && p.end == len(p.t.Data)*8:
		return p.ends()
	}
	if f.Kind == Digits && (n == 0 || digitsLen(rest[:n], f.Base) != n) {
		if n == 0 && len(rest) == 0 {
			return p.ends()
		}
		return p.fail("no number stands here")
	}
	return p.leaf(f, parent, n*8)
}

func (p *decoder) literal(f *Field, parent int, rest []byte) bool {
	if bytes.HasPrefix(rest, f.Contents) {
		return p.leaf(f, parent, len(f.Contents)*8)
	}
	if bytes.HasPrefix(f.Contents, rest) {
		if f.optional && len(rest) == 0 && !p.more {
			return true
		}
		return p.ends()
	}
	return p.fail(fmt.Sprintf("%q is expected here", f.Contents))
}

func (v *Valid) holds(x value) bool {
	for _, c := range v.AnyOf {
		if c.text && x.text && bytes.Equal(c.bytes, x.bytes) || !c.text && !x.text && c.number == x.number {
			return true
		}
	}
	if len(v.AnyOf) > 0 {
		return false
	}
	return (v.Min == nil || x.number >= *v.Min) && (v.Max == nil || x.number <= *v.Max)
}
