package model

import (
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Build makes a message of its default values: those that the model gives, else the first one that is valid, else zero or
// nothing.
func (m *Message) Build(t *Tree) error {
	b := builder{t: t}
	return b.run(m, nil)
}

// builder makes a message of values.
type builder struct {
	t     *Tree
	pos   int // in bits
	depth int
}

// buildError is what does not fit, and where in the seed it stands.
type buildError struct {
	node   *yaml.Node
	path   string
	reason string
}

func (e *buildError) Error() string { return e.path + ": " + e.reason }

// values are where the values of a structure's fields come from, the first that has one. Any may be nil.
type values [2]*yaml.Node

func (v values) get(id string) (out values) {
	for i, n := range v {
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		for j := 0; j+1 < len(n.Content); j += 2 {
			if n.Content[j].Value == id {
				out[i] = resolve(n.Content[j+1])
			}
		}
	}
	return out
}

// given returns the value that goes first, nil if there is none.
func (v values) given() *yaml.Node {
	for _, n := range v {
		if n != nil {
			return n
		}
	}
	return nil
}

func (b *builder) run(m *Message, n *yaml.Node) error {
	b.t.Data, b.t.Nodes, b.pos = b.t.Data[:0], b.t.Nodes[:0], 0
	b.t.Nodes = append(b.t.Nodes, Node{Field: &m.outer, Type: m.Type, Parent: -1})
	if err := b.fields(m.Type, 0, values{n, m.defaults}); err != nil {
		b.t.SetRaw(b.t.Data)
		return err
	}
	b.close(0)
	b.t.Derive(nil)
	return nil
}

// scope has nothing behind it: a field that is there where bytes follow is made if it has a value.
func (b *builder) scope(at int) *scope {
	return &scope{tree: b.t, at: at, item: -1}
}

func (b *builder) open(f *Field, t *Type, parent int, flags Flag) int {
	b.t.Nodes = append(b.t.Nodes, Node{Field: f, Type: t, Parent: int32(parent), Start: int32(b.pos), Flags: flags})
	return len(b.t.Nodes) - 1
}

func (b *builder) close(i int) {
	n := &b.t.Nodes[i]
	n.End, n.Size = int32(b.pos), int32(len(b.t.Nodes)-i)
}

func (b *builder) fail(n *yaml.Node, at int, f *Field, reason string) error {
	path := b.t.Path(at)
	if path != "" {
		path += "."
	}
	return &buildError{node: n, path: path + f.ID, reason: reason}
}

func (b *builder) fields(t *Type, at int, v values) error {
	if b.depth++; b.depth > maxDepth {
		return b.fail(v.given(), at, &Field{}, fmt.Sprintf("structures are nested more than %d deep", maxDepth))
	}
	if err := b.unknown(t, at, v[0]); err != nil {
		return err
	}
	for _, f := range t.Fields {
		mine := v.get(f.ID)
		if f.If != nil && mine.given() == nil {
			if x, err := f.If.node.eval(b.scope(at)); err != nil || !x.holds() {
				continue
			}
		}
		if f.Repeat != Once {
			if err := b.array(f, at, mine); err != nil {
				return err
			}
			continue
		}
		if err := b.item(f, at, at, mine); err != nil {
			return err
		}
	}
	b.depth--
	return nil
}

// unknown looks for values of fields that a structure does not have.
func (b *builder) unknown(t *Type, at int, n *yaml.Node) error {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return b.fail(n, at, &Field{}, "expected are the fields of a "+t.Name+", here stands "+shape(n))
	}
	for j := 0; j < len(n.Content); j += 2 {
		if t.Field(n.Content[j].Value) == nil {
			return b.fail(n.Content[j], at, &Field{ID: n.Content[j].Value}, t.Name+" has no such field")
		}
	}
	return nil
}

func (b *builder) array(f *Field, at int, v values) error {
	b.align(f)
	arr := b.open(f, nil, at, Array)
	items := list(v.given())
	n := len(items)
	if f.Repeat == RepeatCount && len(items) == 0 {
		if c := constantOf(f.Times.node); c != nil {
			n = int(max(0, min(*c, maxNodes)))
		}
	}
	for i := range n {
		var mine values
		if i < len(items) {
			mine[0] = items[i]
		}
		if err := b.item(f, arr, at, mine); err != nil {
			return err
		}
	}
	b.close(arr)
	return nil
}

func (b *builder) align(f *Field) {
	if f.Kind != Bits {
		b.pos = len(b.t.Data) * 8
	}
}

func (b *builder) item(f *Field, parent, at int, v values) error {
	if len(b.t.Nodes) >= maxNodes {
		return b.fail(v.given(), at, f, fmt.Sprintf("the message has more than %d fields", maxNodes))
	}
	if len(b.t.Data) > maxData {
		return b.fail(v.given(), at, f, fmt.Sprintf("the message has more than %d bytes", maxData))
	}
	b.align(f)
	typ := f.Type
	if f.Switch != nil {
		p := decoder{t: b.t}
		var ok bool
		if typ, ok = p.choose(f.Switch, at); !ok {
			return b.fail(v.given(), at, f, p.reason)
		}
	}
	if f.Kind == Struct && typ != nil {
		// A structure of one visible field, such as a repeated text with its terminator, may be written as its value.
		if n := v.given(); n != nil && n.Kind == yaml.ScalarNode && typ.parent == nil && len(typ.Fields) == 2 {
			v = values{{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: typ.Fields[0].ID}, n}}}
		}
		i := b.open(f, typ, parent, 0)
		if err := b.fields(typ, i, v); err != nil {
			return err
		}
		b.align(f)
		b.close(i)
		return nil
	}
	return b.leaf(f, parent, at, v.given())
}

func (b *builder) leaf(f *Field, parent, at int, n *yaml.Node) error {
	c, err := b.constant(f, at, n)
	if err != nil {
		return err
	}
	start := b.pos
	switch {
	case f.Kind == Bits:
		for b.pos+f.Width > len(b.t.Data)*8 {
			b.t.Data = append(b.t.Data, 0)
		}
		writeBits(b.t.Data, b.pos, f.Width, f.Little, uint64(c.number))
		b.pos += f.Width
	case f.Kind == Varint:
		b.t.Data = f.Varint.write(b.t.Data, c.number)
	case f.Kind == Digits:
		b.t.Data = writeDigits(b.t.Data, c.number, f.Base, f.Pad)
	case f.Kind == Unsigned || f.Kind == Signed || f.Kind == Float:
		var buf [8]byte
		writeInt(buf[:f.Width/8], f.Little, uint64(c.number))
		b.t.Data = append(b.t.Data, buf[:f.Width/8]...)
	default:
		b.t.Data = append(b.t.Data, c.bytes...)
		if n := b.fixedSize(f); n > len(c.bytes) {
			b.t.Data = append(b.t.Data, make([]byte, n-len(c.bytes))...)
		}
	}
	b.align(f)
	b.t.Nodes = append(b.t.Nodes, Node{Field: f, Parent: int32(parent), Start: int32(start), End: int32(b.pos), Size: 1})
	return nil
}

// fixedSize returns the size of a field that always has the same, 0 otherwise.
func (b *builder) fixedSize(f *Field) int {
	if f.Size == nil {
		return 0
	}
	if c := constantOf(f.Size.node); c != nil && *c > 0 && *c < 1<<16 {
		return int(*c)
	}
	return 0
}

// constant returns the value of a leaf.
func (b *builder) constant(f *Field, at int, n *yaml.Node) (constant, error) {
	switch {
	case f.Kind == Literal:
		return constant{bytes: f.Contents}, nil
	case n == nil && f.initial != nil:
		return *f.initial, nil
	case n == nil && f.Valid != nil && len(f.Valid.AnyOf) > 0:
		return f.Valid.AnyOf[0], nil
	case n == nil && f.Valid != nil && f.Valid.Min != nil:
		return constant{number: *f.Valid.Min}, nil
	case n == nil && f.Enum != nil && len(f.Enum.Values) > 0:
		return constant{number: f.Enum.Values[0].Value}, nil
	case n == nil:
		return constant{}, nil
	case f.Kind == Float:
		v, err := strconv.ParseFloat(n.Value, f.Width)
		if err != nil {
			return constant{}, b.fail(n, at, f, "expected is a number, here stands "+shape(n))
		}
		if f.Width == 32 {
			return constant{number: int64(math.Float32bits(float32(v)))}, nil
		}
		return constant{number: int64(math.Float64bits(v))}, nil
	}
	var l loader
	c := l.constant(n, f, "")
	if len(l.problems) > 0 {
		return c, b.fail(n, at, f, l.problems[0].(*Problem).Reason)
	}
	return c, nil
}
