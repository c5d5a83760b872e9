package schema

import (
	"slices"

	"github.com/teaselfuzz/teasel/mutate"
)

// draw returns an object that satisfies the keywords that drawing takes into account.
func (o *object) draw(d *draw) *mutate.JSON { return o.drawWith(d, -1) }

// drawWith returns an object that contains the i-th member, if i is the index of one.
func (o *object) drawWith(d *draw, i int) *mutate.JSON {
	var room [32]bool
	c := o.choose(room[:0], i)
	if !d.hurried() && len(o.members) > c.n {
		coin := d.r.IntN(4) // no optional member, all, or each at random
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

// choice is the set of members of an object to draw.
type choice struct {
	o      *object
	chosen []bool
	n      int
}

// choose starts with the required members, and the forced one, if that is the index of a member. room is memory to use.
func (o *object) choose(room []bool, forced int) choice {
	c := choice{o: o, chosen: slices.Grow(room, len(o.members))[:len(o.members)]}
	for i := range o.members {
		if o.members[i].required || i == forced {
			c.add(i)
		}
	}
	return c
}

// add adds a member and all members that it needs.
func (c *choice) add(i int) {
	for _, j := range c.o.members[i].needs {
		if !c.chosen[j] && c.o.members[j].goal != nil {
			c.chosen[j] = true
			c.n++
		}
	}
}

// try adds a member if it is usable and does not exceed max.
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

// fill adds the least nested members until there are enough.
func (c *choice) fill() {
	for k := 0; k < len(c.o.fill) && c.n < c.o.min; k++ {
		c.try(c.o.fill[k])
	}
}

// draw returns an object with the chosen members.
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

// drawExtras adds members that the schema does not name: as many as are missing, and sometimes one or two more. They are common if the
// schema describes them, and rare if it only does not forbid them.
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

// addExtras adds up to want members from the list and returns how many are still missing.
func (o *object) addExtras(d *draw, v *mutate.JSON, list []member, want int) int {
	if o.max >= 0 {
		want = min(want, o.max-len(v.Members))
	}
	if want <= 0 || len(list) == 0 {
		return max(want, 0)
	}
	start := 0 // the least nested
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
