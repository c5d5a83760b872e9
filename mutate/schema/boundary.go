package schema

import (
	"math/big"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel/mutate"
)

// Boundary is a conforming value that is a boundary case of one keyword.
type Boundary struct {
	At      string // JSON pointer into the value, to the part that is the boundary case
	Keyword string // the keyword; "presence" for optional members
	Value   *mutate.JSON
}

// String returns the keyword and the pointer, as in "maximum at /n".
func (b Boundary) String() string { return b.Keyword + " at " + pointerOrRoot(b.At) }

// The lengths of the longest strings and arrays that are made as boundary cases.
const (
	maxEdgeLength = 64 << 10
	maxEdgeItems  = 1 << 10
)

// edge is a boundary case of a variant.
type edge struct {
	keyword string
	draw    func(d *draw) *mutate.JSON
}

// Boundaries returns values for all boundary cases that were found: the smallest and the largest numbers, lengths and counts, each value of
// enum, each type, each branch, no optional member, all of them and each alone. The rest of each value is drawn from r. All values validate.
func (s *Schema) Boundaries(r *rand.Rand) []Boundary {
	const attempts = 4
	var all []Boundary
	for _, at := range s.sites {
		for _, e := range at.variant.edges() {
			for try := range attempts {
				d := newDraw(r)
				if try == 0 {
					d.left = 0 // the rest of the value is to be as small as possible
				}
				value := at.wrap(d, e.draw(newDraw(r)))
				if s.Validate(value) == nil {
					all = append(all, Boundary{At: at.pointer, Keyword: e.keyword, Value: value})
					break
				}
			}
		}
	}
	return all
}

// edges lists the boundary cases of a variant.
func (v *variant) edges() []edge {
	var all []edge
	add := func(keyword string, draw func(d *draw) *mutate.JSON) { all = append(all, edge{keyword, draw}) }
	literal := func(keyword string, value *mutate.JSON) {
		add(keyword, func(*draw) *mutate.JSON { return value.Clone() })
	}
	if v.closed {
		for _, value := range v.values {
			literal("enum", value)
		}
		return all
	}
	for _, value := range v.samples {
		literal("examples", value)
	}
	for t := nullType; t <= objectType; t <<= 1 {
		if v.types&t == 0 || v.types&^v.hinted != 0 && v.hinted != 0 && v.hinted&t == 0 {
			continue
		}
		switch t {
		case boolType:
			literal("type", mutate.NewBool(false))
			literal("type", mutate.NewBool(true))
		case intType:
			all = append(all, v.numbers.ints.edges()...)
		case fractionType:
			if len(v.numbers.fractions) > 0 {
				all = append(all, v.numbers.fractions[0].edges()...)
			}
		case stringType:
			all = append(all, v.text.edges()...)
		case arrayType:
			all = append(all, v.array.edges()...)
		case objectType:
			all = append(all, v.object.edges()...)
		default:
			add("type", func(d *draw) *mutate.JSON { return v.drawType(d, t) })
		}
	}
	return all
}

// edges lists the ends of a grid and their neighbours.
func (g *grid) edges() []edge {
	if g == nil {
		return nil
	}
	var all []edge
	add := func(keyword string, k *big.Int) {
		if (g.low == nil || k.Cmp(g.low) >= 0) && (g.high == nil || k.Cmp(g.high) <= 0) {
			text := g.at(k)
			all = append(all, edge{keyword, func(*draw) *mutate.JSON { return mutate.NewNumber(text) }})
		}
	}
	one := big.NewInt(1)
	if g.low != nil {
		add("minimum", g.low)
		add("minimum", new(big.Int).Add(g.low, one))
	}
	if g.high != nil {
		add("maximum", g.high)
		add("maximum", new(big.Int).Sub(g.high, one))
	}
	add("type", new(big.Int))
	return all
}

// edges lists the shortest and the longest strings, and the boundary cases of a format.
func (t *text) edges() []edge {
	if t.content != nil {
		return []edge{{"type", func(d *draw) *mutate.JSON { return mutate.NewString(t.draw(d)) }}}
	}
	all := t.edgeOf(nil, "minLength", t.min)
	if t.max >= 0 && t.max <= maxEdgeLength {
		all = t.edgeOf(all, "maxLength", t.max)
	}
	for _, f := range t.formats {
		for _, s := range formats[f.Name].hostile {
			if t.allows(s) {
				all = append(all, edge{"format", func(*draw) *mutate.JSON { return mutate.NewString(s) }})
			}
		}
	}
	return all
}

// edgeOf appends a string of exactly n code points, if one is allowed.
func (t *text) edgeOf(all []edge, keyword string, n int) []edge {
	exactly := *t
	exactly.min, exactly.max = n, n
	if !exactly.settle() {
		return all
	}
	return append(all, edge{keyword, func(d *draw) *mutate.JSON { return mutate.NewString(exactly.draw(d)) }})
}

// edges lists the shortest and the longest arrays, and those with one item more and one less.
func (a *array) edges() []edge {
	var all []edge
	add := func(keyword string, n int) {
		all = append(all, edge{keyword, func(d *draw) *mutate.JSON { return a.drawOf(d, n) }})
	}
	add("minItems", a.least)
	if a.most < 0 || a.most > a.least {
		add("minItems", a.least+1)
	}
	if a.most > a.least && a.most <= maxEdgeItems {
		add("maxItems", a.most-1)
		add("maxItems", a.most)
	}
	return all
}

// edges lists objects without optional members, with all of them, with each alone, and with as many as are allowed.
func (o *object) edges() []edge {
	all := []edge{{"presence", func(d *draw) *mutate.JSON { return o.drawOnly(d) }}}
	if len(o.fill) > 1 {
		all = append(all, edge{"presence", func(d *draw) *mutate.JSON { return o.drawOnly(d, o.fill...) }})
	}
	for i := range o.members {
		if m := &o.members[i]; m.usable && !m.required {
			all = append(all, edge{"presence", func(d *draw) *mutate.JSON { return o.drawOnly(d, i) }})
		}
	}
	if o.max > 0 && o.max <= maxEdgeItems {
		all = append(all, edge{"maxProperties", func(d *draw) *mutate.JSON {
			v := o.drawOnly(d, o.fill...)
			d.depth++
			o.addExtras(d, v, o.extras, o.max-len(v.Members))
			d.depth--
			return v
		}})
	}
	return all
}

// drawOnly returns an object with the given optional members, and otherwise only those members that it needs.
func (o *object) drawOnly(d *draw, members ...int) *mutate.JSON {
	c := o.choose(nil, -1)
	for _, i := range members {
		c.try(i)
	}
	c.fill()
	v := c.draw(d)
	d.depth++
	o.addExtras(d, v, o.extras, o.min-len(v.Members))
	d.depth--
	return v
}
