package schema

import (
	"slices"

	"github.com/teaselfuzz/teasel/mutate"
)

// draw returns an object that is allowed, as far as drawing sees to it.
func (o *object) draw(d *draw) *mutate.JSON { return o.drawWith(d, -1) }

// drawWith returns an object that has the i-th member in it, if i is one.
func (o *object) drawWith(d *draw, i int) *mutate.JSON {
	var room [32]bool
	c := o.choose(room[:0], i)
	if !d.hurried() && len(o.members) > c.n {
		coin := d.r.IntN(4) // none, all, or each by itself
		bits, start := d.r.Uint64(), d.r.IntN(len(o.members))
		for k := range o.members {
			if coin > 1 && k%64 == 63 {
				bits = d.r.Uint64()
			}
			if coin == 1 || coin > 1 && bits>>(k%64)&1 == 1 {
				c.try((start + k) % len(o.members))
			}
		}
	}
	c.fill()
	v := c.draw(d)
	words := d.words
	d.depth++
	o.drawExtras(d, v)
	d.depth--
	d.words = words
	return v
}

// choice is which members an object is to have.
type choice struct {
	o      *object
	chosen []bool
	n      int
}

// choose begins with the members that are required, and the forced one, if it is one. room saves an allocation.
func (o *object) choose(room []bool, forced int) choice {
	c := choice{o: o, chosen: slices.Grow(room, len(o.members))[:len(o.members)]}
	for i := range o.members {
		if o.members[i].required || i == forced {
			c.add(i)
		}
	}
	return c
}

// add takes in a member and all that it needs.
func (c *choice) add(i int) {
	for _, j := range c.o.members[i].needs {
		if !c.chosen[j] && c.o.members[j].goal != nil {
			c.chosen[j] = true
			c.n++
		}
	}
}

// try takes in a member if it can be there and there is room for it.
func (c *choice) try(i int) {
	if c.chosen[i] || !c.o.members[i].usable {
		return
	}
	if c.o.max >= 0 {
		more := 0
		for _, j := range c.o.members[i].needs {
			if !c.chosen[j] {
				more++
			}
		}
		if c.n+more > c.o.max {
			return
		}
	}
	c.add(i)
}

// fill takes in the flattest members until there are enough.
func (c *choice) fill() {
	for k := 0; k < len(c.o.fill) && c.n < c.o.min; k++ {
		c.try(c.o.fill[k])
	}
}

// draw returns an object of the members that were chosen.
func (c *choice) draw(d *draw) *mutate.JSON {
	v := &mutate.JSON{Kind: mutate.Object, Members: make([]mutate.Member, 0, c.n+1)}
	words := d.words
	d.depth++
	for i, chosen := range c.chosen {
		if chosen {
			d.words = c.o.members[i].words
			v.Members = append(v.Members, mutate.Member{Name: c.o.members[i].name, Value: c.o.members[i].goal.draw(d)})
		}
	}
	d.depth--
	d.words = words
	return v
}

// drawExtras adds members that the schema does not name: as many as are missing, and now and then one or two more. Where
// the schema describes them they are as good as any; where it only does not forbid them they are rare.
func (o *object) drawExtras(d *draw, v *mutate.JSON) {
	more := 0
	if !d.hurried() {
		switch wanted := o.free == nil || len(o.members) == 0; {
		case d.hostile && d.r.IntN(4) == 0:
			more = o.addExtras(d, v, o.hostile, 1+d.r.IntN(2))
		case wanted && d.r.IntN(2) == 0:
			more = 1 + d.r.IntN(3)
		case !wanted && d.r.IntN(16) == 0:
			more = 1
		}
	}
	o.addExtras(d, v, o.extras, max(more, o.min-len(v.Members)))
}

// addExtras adds up to want members from the list and returns how many it did not come to.
func (o *object) addExtras(d *draw, v *mutate.JSON, list []member, want int) int {
	if o.max >= 0 {
		want = min(want, o.max-len(v.Members))
	}
	if want <= 0 || len(list) == 0 {
		return max(want, 0)
	}
	start := 0 // the flattest
	if !d.hurried() {
		start = d.r.IntN(len(list))
	}
	for k := 0; k < len(list) && want > 0; k++ {
		m := &list[(start+k)%len(list)]
		if !m.goal.possible() {
			continue
		}
		name := m.name
		if m.goal == o.free && !d.hostile && d.r.IntN(2) == 0 {
			if other := randomText(d.r, 1+d.r.IntN(10)); o.unknown(v, other) {
				name = other
			}
		}
		if v.Get(name) != nil {
			continue
		}
		d.words = m.words
		v.Members = append(v.Members, mutate.Member{Name: name, Value: m.goal.draw(d)})
		want--
	}
	return want
}

// unknown reports whether neither the schema nor v has the name.
func (o *object) unknown(v *mutate.JSON, name string) bool {
	_, known := o.index[name]
	return !known && v.Get(name) == nil && !slices.ContainsFunc(o.extras, func(m member) bool { return m.name == name })
}
