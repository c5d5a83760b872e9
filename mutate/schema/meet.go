package schema

import (
	"math/rand/v2"
	"slices"

	"github.com/teaselfuzz/teasel/mutate"
)

// meet determines which goals can be satisfied, by finding a witness for each, and the minimum nesting depth of their values.
func (b *builder) meet() {
	b.measure()
	r := rand.New(rand.NewPCG(5, 6))
	tried := map[*variant]bool{}
	for again := true; again; {
		again = false
		byHeight := slices.Clone(b.order)
		slices.SortStableFunc(byHeight, func(x, y *goal) int { return x.height - y.height })
		if dropLarge(byHeight) {
			again = true
			b.measure()
			continue
		}
		for _, g := range byHeight {
			if g.height < unreachable && !b.findWitness(r, g, tried) {
				again = true
			}
		}
		if again {
			b.measure()
		}
	}
}

// dropLarge computes sizes, beginning with the least nested goals, and removes variants whose values are too large to be drawn by the
// thousand. It reports whether it removed any.
func dropLarge(byHeight []*goal) bool {
	dropped := false
	for _, g := range byHeight {
		g.size = maxForcedSize + 1
		for _, v := range g.variants {
			if v.height >= unreachable {
				continue
			}
			size := v.size()
			if size > maxForcedSize {
				v.dead, dropped = true, true
				if g.why == nil {
					g.why = &SkipError{Where: g.where(), Reason: "every value that meets it is larger than we are ready to make"}
				}
			} else if v.height == g.height {
				g.size = min(g.size, size)
			}
		}
	}
	return dropped
}

// size returns approximately how many nodes the least nested value of the variant has.
func (v *variant) size() int {
	if v.closed {
		return 1
	}
	size := 1
	for _, t := range v.flat {
		n := 1
		switch t {
		case stringType:
			n += v.text.min / 16
		case arrayType:
			goals, _ := v.array.assign(v.array.least)
			for _, g := range goals {
				n = min(n+g.size, maxForcedSize+1)
			}
		case objectType:
			n = v.object.size()
		}
		size = max(size, n)
	}
	return size
}

func (o *object) size() int {
	n, have := 1, 0
	add := func(m *member) {
		n = min(n+m.goal.size, maxForcedSize+1)
		have++
	}
	for i := range o.members {
		if o.members[i].required {
			add(&o.members[i])
		}
	}
	for k := 0; k < len(o.fill) && have < o.min; k++ {
		add(&o.members[o.fill[k]])
	}
	for k := 0; k < len(o.extras) && have < o.min; k++ {
		add(&o.extras[k])
	}
	return n
}

// measure computes the heights bottom-up: the height of a goal is the smallest height of its variants.
func (b *builder) measure() {
	for _, g := range b.order {
		g.height = unreachable
	}
	for changed := true; changed; {
		changed = false
		for _, g := range slices.Backward(b.order) { // goals of members come after those of their objects
			for _, v := range g.variants {
				if v.measure(); v.height < g.height {
					g.height, changed = v.height, true
				}
			}
		}
	}
	for _, g := range b.order {
		for _, v := range g.variants {
			v.measure()
		}
		for _, d := range g.defects {
			for _, v := range d.variants {
				v.measure()
			}
		}
		g.flat = slices.DeleteFunc(slices.Clone(g.variants), func(v *variant) bool { return v.height > g.height })
	}
}

// measure computes the height of each type of the variant, and of the variant.
func (v *variant) measure() {
	if v.height = unreachable; v.closed {
		if len(v.values) > 0 && !v.dead {
			v.height = 0
		}
		return
	}
	if v.dead {
		return
	}
	heights := map[types]int{}
	if v.types&arrayType != 0 {
		heights[arrayType] = v.array.measure()
	}
	if v.types&objectType != 0 {
		heights[objectType] = v.object.measure()
	}
	if v.types&stringType != 0 && v.text.content != nil && v.text.content.height >= unreachable {
		heights[stringType] = unreachable
	}
	for t := nullType; t <= objectType; t <<= 1 {
		if v.types&t != 0 {
			v.height = min(v.height, heights[t])
		}
	}
	v.roll(heights)
}

// measure computes the minimum and the maximum number of items, and the height of the least nested array.
func (a *array) measure() int {
	a.most = a.max
	for i := range len(a.prefix) + 1 {
		if (a.max < 0 || i < a.max) && !a.item(i).possible() {
			a.most = i
			break
		}
	}
	asked := a.asked()
	a.least = max(a.min, asked)
	enough := max(a.min, asked+len(a.prefix)) // after the prefix all positions are equivalent
	if a.most >= 0 {
		enough = min(enough, a.most)
	}
	if a.least > enough {
		return unreachable
	}
	if _, all := a.assign(enough); !all {
		return unreachable
	}
	goals, all := a.assign(a.least)
	for ; !all; goals, all = a.assign(a.least) {
		a.least++
	}
	height := 0
	for _, g := range goals {
		if !g.possible() {
			return unreachable
		}
		height = max(height, g.height+1)
	}
	return min(height, unreachable)
}

func (o *object) measure() int {
	height, have := 0, 0
	o.fill = o.fill[:0]
	for i := range o.members {
		m := &o.members[i]
		m.usable = true
		for _, j := range m.needs {
			m.usable = m.usable && o.members[j].goal.possible()
		}
		if m.required {
			if !m.usable {
				return unreachable
			}
			height = max(height, m.goal.height+1)
			have++
		} else if m.usable {
			o.fill = append(o.fill, i)
		}
	}
	slices.SortStableFunc(o.fill, func(i, j int) int { return o.reach(i) - o.reach(j) })
	slices.SortStableFunc(o.extras, func(x, y member) int { return x.goal.height - y.goal.height })
	for k := 0; k < len(o.fill) && have < o.min; k++ {
		height = max(height, o.reach(o.fill[k])+1)
		have++
	}
	for k := 0; k < len(o.extras) && have < o.min; k++ {
		height = max(height, o.extras[k].goal.height+1)
		have++
	}
	if have < o.min {
		return unreachable
	}
	return min(height, unreachable)
}

// reach returns the height of the i-th member together with the members that it needs.
func (o *object) reach(i int) int {
	height := 0
	for _, j := range o.members[i].needs {
		height = max(height, o.members[j].goal.height)
	}
	return height
}

// findWitness searches, for every variant, a value that the validator accepts, and removes variants without one. It returns false if it
// removed any.
func (b *builder) findWitness(r *rand.Rand, g *goal, tried map[*variant]bool) bool {
	all := true
	for _, v := range g.variants {
		if tried[v] || v.height >= unreachable {
			continue
		}
		tried[v] = true
		if witness := b.witness(r, v); witness == nil {
			v.dead, all = true, false
		} else if g.witness == nil || len(g.flat) > 0 && g.flat[0] == v {
			g.witness = witness
		}
	}
	return all
}

func (b *builder) witness(r *rand.Rand, v *variant) *mutate.JSON {
	const few, flatly, freely = 2, 20, 200
	attempts := flatly + freely
	if v.size() > maxNodes {
		attempts = flatly
	}
	for i := range attempts {
		if b.room <= 0 && i >= few {
			break
		}
		d := newDraw(r)
		if i < flatly {
			d.left = 0
		}
		left := d.left
		value := v.draw(d)
		b.room -= charge(max(sizeOf(value), left-d.left), b.weight)
		if plain, err := plainValue(value); err == nil && v.goal.valid(plain) {
			return value
		}
	}
	return nil
}

// settle removes the variants that cannot be satisfied.
func (g *goal) settle() {
	dropped := func(v *variant) bool { return v.height >= unreachable }
	g.variants = slices.DeleteFunc(g.variants, dropped)
	for _, d := range g.defects {
		d.variants = slices.DeleteFunc(d.variants, dropped)
	}
	for _, v := range g.variants {
		if v.types&numberTypes != 0 && !v.closed {
			v.numbers.findHostile()
		}
	}
}

// explain returns why a goal cannot be satisfied: its own reason, or that of a required part.
func (b *builder) explain(g *goal) *SkipError {
	seen := map[*goal]bool{}
	var search func(g *goal) *SkipError
	search = func(g *goal) *SkipError {
		if g == nil || seen[g] || g.height < unreachable {
			return nil
		}
		seen[g] = true
		if g.why != nil {
			return g.why
		}
		for _, v := range g.variants {
			if o := v.object; o != nil {
				if len(o.members)+len(o.extras) < o.min {
					return &SkipError{Keyword: "minProperties", Where: g.where(), Reason: "not enough names for members were found"}
				}
				for i := range o.members {
					if m := &o.members[i]; m.required {
						if why := search(m.goal); why != nil {
							return why
						}
					}
				}
			}
			if v.array != nil {
				for i := range min(v.array.min, len(v.array.prefix)+1) {
					if why := search(v.array.item(i)); why != nil {
						return why
					}
				}
			}
			if v.dead {
				return &SkipError{Where: g.where(), Reason: "no value was found that meets all of the schema"}
			}
		}
		return nil
	}
	if why := search(g); why != nil {
		return why
	}
	return &SkipError{Keyword: "$ref", Where: g.where(), Reason: "the schema recurses without an exit: every value would have to hold another one"}
}

// where returns the pointer to the first of the subschemas.
func (g *goal) where() string {
	if len(g.sources) == 0 {
		return ""
	}
	return schemaPointer(g.sources[0].Location)
}

// unmet explains which optional members no value satisfies, except members whose schema is false.
func (b *builder) unmet() []*SkipError {
	var all []*SkipError
	seen := map[string]bool{}
	for _, g := range b.order {
		for _, v := range g.variants {
			if v.object == nil || v.height >= unreachable {
				continue
			}
			for i := range v.object.members {
				m := &v.object.members[i]
				if m.goal == nil || m.goal.height < unreachable || len(m.goal.sources) != 1 || seen[m.goal.where()] {
					continue
				}
				seen[m.goal.where()] = true
				all = append(all, b.explain(m.goal))
			}
		}
	}
	return all
}
