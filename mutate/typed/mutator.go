package typed

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/teaselfuzz/teasel"
)

// Mutator describes how values of a type are generated and mutated. It is made by [Of], or by one of the functions that make mutators for
// special cases, and passed to [Use], [Field], [Slice] and others, which make it part of a larger one. Mistakes are reported by
// [Mutator.Plan]. The zero value is not a valid mutator. A Mutator is immutable and may be used concurrently.
type Mutator[T any] struct {
	n   node
	err error
}

// Part is a [Mutator] of any type.
type Part interface{ part() (node, error) }

func (m Mutator[T]) part() (node, error) {
	if m.n == nil && m.err == nil {
		return nil, fmt.Errorf("a Mutator[%v] was not made by a function of package typed", reflect.TypeFor[T]())
	}
	return m.n, m.err
}

// IsZero reports whether m is the zero value, which was not made by a function of this package.
func (m Mutator[T]) IsZero() bool { return m.n == nil && m.err == nil }

// Plan compiles the type. The error names the path of the field that is at fault.
func (m Mutator[T]) Plan() (*Plan, error) {
	n, err := m.part()
	if err == nil {
		err = finish(n)
	}
	if err != nil {
		return nil, fmt.Errorf("compiling %v: %w", reflect.TypeFor[T](), err)
	}
	return &Plan{n}, nil
}

func failed[T any](format string, args ...any) Mutator[T] {
	return Mutator[T]{err: fmt.Errorf(format, args...)}
}

// Rule adds information on a type that reflection cannot provide. It applies wherever the type occurs.
type Rule struct {
	set func(c *compiler) error
}

// Use makes m the mutator for all values of type T.
func Use(m Part) Rule {
	return Rule{func(c *compiler) error {
		n, err := m.part()
		if err == nil {
			c.uses[n.about().typ] = n
		}
		return err
	}}
}

// Field makes m the mutator for the field name of the struct T.
func Field[T any](name string, m Part) Rule {
	return Rule{func(c *compiler) error {
		t := reflect.TypeFor[T]()
		if t.Kind() != reflect.Struct {
			return fmt.Errorf("%v has no fields", t)
		}
		if f, ok := t.FieldByName(name); !ok || !f.IsExported() || len(f.Index) > 1 {
			return fmt.Errorf("%v has no exported field %s of its own", t, name)
		}
		n, err := m.part()
		if err == nil {
			c.fields[fieldName{t, name}] = n
		}
		return err
	}}
}

// Choices names the concrete types of values of the interface I: those of the given values, which are not used otherwise. The first type
// is the simplest.
func Choices[I any](values ...I) Rule {
	return Rule{func(c *compiler) error {
		t := reflect.TypeFor[I]()
		if t.Kind() != reflect.Interface {
			return fmt.Errorf("%v is no interface", t)
		}
		for _, v := range values {
			o := reflect.TypeOf(v)
			if o == nil {
				return fmt.Errorf("one of the choices for %v is nil", t)
			}
			c.options[t] = append(c.options[t], o)
		}
		return nil
	}}
}

// Of returns the mutator of a type as described by reflection, struct tags and rules. Only exported fields are generated. Other fields are
// zero, or have the values that they have in a value given to [Plan.Take]; [Plan.Encode] omits them.
func Of[T any](rules ...Rule) Mutator[T] {
	n, err := compile(reflect.TypeFor[T](), rules)
	return Mutator[T]{n, err}
}

func compile(t reflect.Type, rules []Rule) (node, error) {
	c := &compiler{map[reflect.Type]node{}, map[reflect.Type]node{}, map[reflect.Type][]reflect.Type{}, map[fieldName]node{}}
	for _, r := range rules {
		if err := r.set(c); err != nil {
			return nil, err
		}
	}
	n, err := c.compile(t, settings{})
	if err != nil {
		return nil, err
	}
	return n, finish(n)
}

// OneOf returns a mutator that chooses one of a few values, the simplest first. Their type must contain no pointers except strings.
func OneOf[T comparable](values ...T) Mutator[T] {
	if len(values) == 0 {
		return failed[T]("OneOf has no values")
	}
	base, err := compile(reflect.TypeFor[T](), nil)
	if err != nil {
		return Mutator[T]{err: err}
	}
	i := base.about()
	if !i.plain {
		return failed[T]("OneOf of a %v, which has pointers", i.typ)
	}
	n := &enum{info: newInfo(i.typ), base: base}
	n.flat, n.plain = i.flat, i.plain
	for k := range values {
		n.values = append(n.values, unsafe.Pointer(&values[k]))
	}
	n.index = func(p unsafe.Pointer) int {
		for k := range values {
			if values[k] == *(*T)(p) {
				return k
			}
		}
		return -1
	}
	return Mutator[T]{n: n}
}

// Number is any integer or floating-point number.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
	cmp.Ordered
}

// Range returns a mutator of the numbers from low to high, inclusive.
func Range[T Number](low, high T) Mutator[T] {
	n, err := compile(reflect.TypeFor[T](), nil)
	if err != nil {
		return Mutator[T]{err: err}
	}
	switch n := n.(type) {
	case *integer:
		err = n.within(n.load(unsafe.Pointer(&low)), n.load(unsafe.Pointer(&high)))
	case *float:
		if n.low, n.high = float64(low), float64(high); !(low <= high) {
			err = errors.New("the range is empty")
		}
	}
	return Mutator[T]{n, err}
}

// Slice returns a mutator of slices with least to most elements; most 0: unlimited.
func Slice[T any](elem Mutator[T], least, most int) Mutator[[]T] {
	e, err := elem.part()
	if err != nil {
		return Mutator[[]T]{err: err}
	}
	n := newSlice(reflect.TypeFor[[]T]())
	n.elem, n.min, n.max = e, least, most
	if most == 0 {
		n.max = math.MaxInt
	}
	if least < 0 || n.max < least {
		return failed[[]T]("a slice of from %d to %d elements", least, most)
	}
	return Mutator[[]T]{n: n}
}

// Map returns a mutator of maps of type M with at most most entries; most 0: unlimited.
func Map[M any](key, elem Part, most int) Mutator[M] {
	t := reflect.TypeFor[M]()
	k, err := key.part()
	if err != nil {
		return Mutator[M]{err: err}
	}
	e, err := elem.part()
	if err != nil {
		return Mutator[M]{err: err}
	}
	if t.Kind() != reflect.Map || t.Key() != k.about().typ || t.Elem() != e.about().typ {
		return failed[M]("%v is no map of %v to %v", t, k.about().typ, e.about().typ)
	}
	n := newMapping(t)
	n.key, n.elem, n.max = k, e, most
	if most == 0 {
		n.max = math.MaxInt
	}
	return Mutator[M]{n: n}
}

// Ptr returns a mutator of pointers that are never nil.
func Ptr[T any](elem Mutator[T]) Mutator[*T] { return pointerTo(elem, true) }

// Option returns a mutator of pointers that may be nil.
func Option[T any](elem Mutator[T]) Mutator[*T] { return pointerTo(elem, false) }

func pointerTo[T any](elem Mutator[T], required bool) Mutator[*T] {
	e, err := elem.part()
	if err != nil {
		return Mutator[*T]{err: err}
	}
	n := newPointer(reflect.TypeFor[*T]())
	n.elem, n.required = e, required
	return Mutator[*T]{n: n}
}

// Filter returns a mutator of the values of m for which accept, which must not change the value, returns true. It should accept most
// values, since rejected ones are made in vain. If it accepts few, values are made by changing known ones, such as seeds. If there are
// none, and a thousand tries find none, [Value.Rejected] reports it: then a fuzz test fails and asks for a seed.
func Filter[T any](m Mutator[T], accept func(T) bool) Mutator[T] {
	n, err := m.part()
	if err != nil {
		return m
	}
	return Mutator[T]{n: &guarded{inner: n, accept: func(p unsafe.Pointer) bool { return accept(*(*T)(p)) }}}
}

// Repair returns a mutator of values of m that are corrected by a function: for example one that sets a checksum or a length, sorts, or
// removes duplicates. It is called after every change within the value and must be deterministic.
func Repair[T any](m Mutator[T], repair func(T) T) Mutator[T] {
	n, err := m.part()
	if err != nil {
		return m
	}
	return Mutator[T]{n: &guarded{inner: n, repair: func(p unsafe.Pointer) { *(*T)(p) = repair(*(*T)(p)) }}}
}

// Text returns a mutator of strings, or slices of bytes, that match a grammar.
func Text[T ~string | ~[]byte](g *Grammar) Mutator[T] {
	n := newText(reflect.TypeFor[T]())
	n.grammar = g
	return Mutator[T]{n: n}
}

// Custom returns a mutator that generates and changes values by m. m must be deterministic: with the same generator state it must do the
// same. If m is a [teasel.Simplifier], it is used for minimisation. The rules are as for [Of], and are used to copy and encode values.
func Custom[T any](m teasel.Mutator[T], rules ...Rule) Mutator[T] {
	base, err := compile(reflect.TypeFor[T](), rules)
	if err != nil {
		return Mutator[T]{err: err}
	}
	n := &custom{info: newInfo(base.about().typ), base: base}
	n.flat, n.plain = base.about().flat, base.about().plain
	n.make = func(r *teasel.Rand, p unsafe.Pointer) { *(*T)(p) = m.Generate(r) }
	n.mutate = func(r *teasel.Rand, dst, src unsafe.Pointer) { *(*T)(dst) = m.Mutate(r, *(*T)(dst), *(*T)(src)) }
	n.complexity = func(p unsafe.Pointer) float64 { return m.Complexity(*(*T)(p)) }
	if s, ok := m.(teasel.Simplifier[T]); ok {
		n.down = func(k uint64, dst, src unsafe.Pointer) (more bool) {
			*(*T)(dst), more = s.Simplify(k, *(*T)(dst), *(*T)(src))
			return more
		}
	}
	return Mutator[T]{n: n}
}
