package typed

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// Plan is a compiled type. It is immutable: any number of editors may use it concurrently, and all methods may be called concurrently.
type Plan struct{ root node }

// Min returns the complexity of the simplest value.
func (p *Plan) Min() float64 { return p.root.about().min }

// Max returns the complexity of the most complex value, infinite for unbounded types.
func (p *Plan) Max() float64 { return p.root.about().max }

// Space returns the base-2 logarithm of the number of values: 0 for a single value, infinite for unbounded types. It may be too large where
// values are restricted by more than their type and lengths, and for maps, never too small.
func (p *Plan) Space() float64 { return p.root.about().space }

// Type returns the type of the values.
func (p *Plan) Type() reflect.Type { return p.root.about().typ }

// Take returns a deep copy of the value to which from points, which must be of the plan's type. It returns an error if the plan could not
// have made the value.
func (p *Plan) Take(from unsafe.Pointer) (*Value, error) {
	if err := p.root.check(from, 0); err != nil {
		return nil, fmt.Errorf("checking a %v: %w", p.Type(), err)
	}
	to := p.root.about().alloc(1)
	p.root.copy(to, from)
	return &Value{p: to}, nil
}

// Argument returns a pointer to a copy of v to pass to a function. After the function's argument was copied from there, the function may
// modify it: it shares no memory with v.
func (p *Plan) Argument(v *Value) unsafe.Pointer {
	i := p.root.about()
	if i.plain {
		return v.p
	}
	to := i.alloc(1)
	p.root.copy(to, v.p)
	return to
}

// Encode returns the value as JSON: fields in order, entries of maps sorted, an interface as an object with one member that has the name
// of the concrete type.
func (p *Plan) Encode(v *Value) ([]byte, error) { return p.root.encode(nil, v.p), nil }

// Decode decodes JSON written by Encode or by hand. It returns an error if the plan could not have made the value.
func (p *Plan) Decode(data []byte) (*Value, error) {
	tree, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading a %v: %w", p.Type(), err)
	}
	to := p.root.about().alloc(1)
	if err := p.root.decode(tree, to); err != nil {
		return nil, fmt.Errorf("reading a %v: %w", p.Type(), err)
	}
	if err := p.root.check(to, 0); err != nil {
		return nil, fmt.Errorf("checking a %v: %w", p.Type(), err)
	}
	return &Value{p: to}, nil
}

// Complexity returns the complexity of a value.
func (p *Plan) Complexity(v *Value) float64 { return max(complexity(p.root, v.p), unit) }

// Pack appends the value in a compact form that only the same plan in the same program can read. It is fast enough to be called before
// every execution.
func (p *Plan) Pack(b []byte, v *Value) []byte { return p.root.pack(b, v.p) }

// Unpack decodes a value written by Pack.
func (p *Plan) Unpack(b []byte) (*Value, error) {
	to := p.root.about().alloc(1)
	rest, err := p.root.unpack(b, to)
	if err == nil && len(rest) > 0 {
		err = errPacked
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking a %v: %w", p.Type(), err)
	}
	return &Value{p: to}, nil
}

// compiler compiles types to nodes. A type without a tag is compiled only once, which ends the recursion for recursive types.
type compiler struct {
	done    map[reflect.Type]node
	uses    map[reflect.Type]node
	options map[reflect.Type][]reflect.Type
	fields  map[fieldName]node
}

type fieldName struct {
	typ  reflect.Type
	name string
}

// finish computes the limits, which depend on all nodes below the root.
func finish(root node) error {
	for last := math.NaN(); ; {
		b := &bounding{open: map[node]bool{}}
		l := b.of(root)
		if l.min == last {
			if math.IsInf(l.min, 1) {
				return fmt.Errorf("%v has no finite value", root.about().typ)
			}
			return nil
		}
		last = l.min
	}
}

func (c *compiler) compile(t reflect.Type, s settings) (node, error) {
	if n := c.uses[t]; n != nil {
		return n, s.unused(t)
	}
	if !s.empty() {
		return c.build(t, s)
	}
	if n := c.done[t]; n != nil {
		return n, nil
	}
	return c.build(t, s)
}

// keep registers a node before its parts are compiled.
func (c *compiler) keep(t reflect.Type, s settings, n node) {
	if s.empty() {
		c.done[t] = n
	}
}

func (c *compiler) build(t reflect.Type, s settings) (node, error) {
	if t == reflect.TypeFor[time.Time]() {
		n := newInstant()
		c.keep(t, s, n)
		return n, s.unused(t)
	}
	if len(s.oneof) > 0 {
		return s.enum(t)
	}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		n := newBoolean(t)
		c.keep(t, s, n)
		return n, s.unused(t)
	case k >= reflect.Int && k <= reflect.Uint64:
		n := newInteger(t)
		c.keep(t, s, n)
		return n, s.integer(n)
	case k == reflect.Float32 || k == reflect.Float64:
		n := newFloat(t)
		c.keep(t, s, n)
		return n, s.float(n)
	case k == reflect.String || k == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && c.uses[t.Elem()] == nil && s.each == "":
		n := newText(t)
		c.keep(t, s, n)
		return n, s.text(n)
	}
	return c.composite(t, s)
}

func (c *compiler) composite(t reflect.Type, s settings) (node, error) {
	switch t.Kind() {
	case reflect.Slice:
		n := newSlice(t)
		c.keep(t, s, n)
		n.min, n.max = s.length()
		return n, c.part(&n.elem, t.Elem(), s.each, "")
	case reflect.Map:
		n := newMapping(t)
		c.keep(t, s, n)
		n.min, n.max = s.length()
		if err := c.part(&n.key, t.Key(), "", "key"); err != nil {
			return nil, err
		}
		return n, c.part(&n.elem, t.Elem(), s.each, "")
	case reflect.Pointer:
		n := newPointer(t)
		c.keep(t, s, n)
		n.required = s.required
		return n, c.part(&n.elem, t.Elem(), s.each, "")
	case reflect.Interface:
		return c.choice(t, s)
	case reflect.Struct:
		return c.structure(t, s)
	case reflect.Array:
		n := newStructure(t)
		c.keep(t, s, n)
		var elem node
		if err := c.part(&elem, t.Elem(), s.each, ""); err != nil {
			return nil, err
		}
		n.flat, n.plain = elem.about().flat, elem.about().plain
		n.arrayOf(elem, t.Len())
		return n, s.unused(t)
	case reflect.Complex64, reflect.Complex128:
		n := newStructure(t)
		c.keep(t, s, n)
		part := reflect.TypeFor[float64]()
		if t.Size() == 8 {
			part = reflect.TypeFor[float32]()
		}
		n.flat, n.plain = true, true
		n.arrayOf(newFloat(part), 2)
		return n, s.unused(t)
	}
	return nil, fmt.Errorf("a %v cannot be made from data; hint: the tag fuzz:\"-\" excludes a field", t)
}

// part compiles a part of a type.
func (c *compiler) part(to *node, t reflect.Type, tag, what string) (err error) {
	s, err := parseTag(tag, "")
	if err == nil {
		*to, err = c.compile(t, s)
	}
	if err != nil && what != "" {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

func (c *compiler) structure(t reflect.Type, s settings) (node, error) {
	n := newStructure(t)
	c.keep(t, s, n)
	n.flat, n.plain = true, true
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("fuzz") == "-" {
			n.flat, n.plain = false, false
			continue
		}
		part := c.fields[fieldName{t, f.Name}]
		if part == nil {
			fs, err := parseTag(f.Tag.Get("fuzz"), f.Tag.Get("fuzz-each"))
			if err == nil {
				part, err = c.compile(f.Type, fs)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if part.about().typ != f.Type {
			return nil, fmt.Errorf("%s: the mutator is for %v, the field is %v", f.Name, part.about().typ, f.Type)
		}
		n.flat, n.plain = n.flat && part.about().flat, n.plain && part.about().plain
		n.fields = append(n.fields, field{f.Name, f.Offset, part})
	}
	return n, s.unused(t)
}

// anyTypes are the types that an any holds unless others are named: those of decoded JSON.
func anyTypes() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any]()}
}

func (c *compiler) choice(t reflect.Type, s settings) (node, error) {
	types, named := c.options[t]
	if !named && t == reflect.TypeFor[any]() {
		types = anyTypes()
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("nothing is known of what a %v may hold: name the types with typed.Choices", t)
	}
	n := newChoice(t)
	c.keep(t, s, n)
	n.required = s.required
	names := map[string]bool{}
	for _, o := range types {
		part, err := c.compile(o, settings{})
		if err != nil {
			return nil, fmt.Errorf("%v: %w", o, err)
		}
		name := typeName(o)
		if names[name] {
			name = o.String()
		}
		names[name] = true
		n.options = append(n.options, option{name, part, isDirect(o)})
	}
	return n, s.unusedBut(t)
}

// typeName is the name of a type without its package.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	if t.Kind() == reflect.Pointer && t.Elem().Name() != "" {
		return "*" + t.Elem().Name()
	}
	return t.String()
}
