package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// array describes the arrays that a variant allows.
type array struct {
	min, max int // max is -1 if there is no limit
	least    int // number of items that contains needs at least
	most     int // maximum number of items, given which of them can be satisfied; -1 if there is no limit
	unique   bool
	prefix   []*goal
	rest     *goal // of the items after the prefix, if max allows any
	contains []contained
	check    bool
}

// contained is a contains keyword.
type contained struct {
	schema   *jsonschema.Schema
	min, max int
	prefix   []*goal // goals of an item that also matches contains, by position
	rest     *goal
}

func (a *array) item(i int) *goal {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.rest
}

func (c *contained) item(i int) *goal {
	if i < len(c.prefix) {
		return c.prefix[i]
	}
	return c.rest
}

func (b *builder) mergeArray(v *variant) {
	if v.types&arrayType == 0 {
		return
	}
	a := &array{max: -1}
	prefix := 0
	for _, s := range v.way.atoms {
		if s.MinItems != nil {
			a.min = max(a.min, *s.MinItems)
		}
		if s.MaxItems != nil {
			a.limit(*s.MaxItems)
		}
		a.unique = a.unique || s.UniqueItems
		list, _ := s.Items.([]*jsonschema.Schema)
		prefix = max(prefix, len(s.PrefixItems), len(list))
	}
	for i := range prefix + 1 {
		sources, possible := itemSources(v, i)
		if !possible {
			a.limit(i)
			break
		}
		if i < prefix {
			a.prefix = append(a.prefix, b.goal(sources...))
		} else {
			a.rest = b.goal(sources...)
		}
	}
	b.mergeContains(v, a)
	for _, c := range v.way.closers {
		a.check = a.check || c.items != nil
	}
	a.check = a.check || a.unique && a.min > 1
	if v.array = a; a.max >= 0 && a.min > a.max {
		v.types &^= arrayType
	}
}

// mergeContains makes the goals of items that satisfy contains.
func (b *builder) mergeContains(v *variant, a *array) {
	for _, s := range v.way.atoms {
		if s.Contains == nil {
			continue
		}
		c := contained{schema: s.Contains, min: 1, max: -1}
		if s.MinContains != nil {
			c.min = *s.MinContains
		}
		if s.MaxContains != nil {
			c.max = *s.MaxContains
		}
		for _, g := range a.prefix {
			c.prefix = append(c.prefix, b.goal(append([]*jsonschema.Schema{s.Contains}, g.sources...)...))
		}
		if a.rest != nil {
			c.rest = b.goal(append([]*jsonschema.Schema{s.Contains}, a.rest.sources...)...)
		}
		a.contains = append(a.contains, c)
		a.check = a.check || c.max >= 0 || len(a.contains) > 1 || a.unique
	}
	if asked := a.asked(); asked > maxForcedCount {
		v.types &^= arrayType
		if v.goal.why == nil && !v.twisted {
			v.goal.why = &SkipError{Keyword: "minContains", Where: schemaPointer(v.way.atoms[0].Location),
				Reason: "contains asks for " + strconv.Itoa(asked) + " items, more than the " + strconv.Itoa(maxForcedCount) + " we are ready to make"}
		}
	}
}

func (a *array) limit(n int) {
	if a.max < 0 || n < a.max {
		a.max = n
	}
}

// asked returns how many items are needed for all contains keywords, if no item satisfies two of them.
func (a *array) asked() int {
	n := 0
	for i := range a.contains {
		n += a.contains[i].min
	}
	return n
}

// itemSources returns the schemas of the atoms that apply to the i-th item, and false if no i-th item is allowed.
func itemSources(v *variant, i int) (sources []*jsonschema.Schema, possible bool) {
	for _, s := range v.way.atoms {
		if sub, evaluated := itemSchema(s, i); evaluated && sub == nil {
			return nil, false
		} else if sub != nil {
			sources = append(sources, sub)
		}
	}
	for _, c := range v.way.closers {
		if c.items == nil {
			continue
		}
		var seen, matched bool
		for _, s := range c.atoms {
			_, evaluated := itemSchema(s, i)
			seen = seen || evaluated || s != c.owner && s.UnevaluatedItems != nil
			if s.Contains != nil && s.DraftVersion >= 2020 && !evaluated && c.items.Bool != nil && !*c.items.Bool {
				matched = true
				sources = append(sources, s.Contains)
			}
		}
		if !seen && !matched {
			sources = append(sources, c.items)
		}
	}
	for _, s := range sources {
		if s.Bool != nil && !*s.Bool {
			return nil, false
		}
	}
	return sources, true
}

// itemSchema returns the schema that s itself applies to the i-th item; nil with evaluated set means that the item is not allowed.
func itemSchema(s *jsonschema.Schema, i int) (sub *jsonschema.Schema, evaluated bool) {
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items, true
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i], true
		}
		switch more := s.AdditionalItems.(type) {
		case *jsonschema.Schema:
			return more, true
		case bool:
			if !more {
				return nil, true
			}
			return trueSchema, true
		}
		return nil, false
	}
	if i < len(s.PrefixItems) {
		return s.PrefixItems[i], true
	}
	return s.Items2020, s.Items2020 != nil
}

var (
	yes        = true
	trueSchema = &jsonschema.Schema{Bool: &yes}
)

// draw returns an array that satisfies the keywords that drawing takes into account.
func (a *array) draw(d *draw) *mutate.JSON { return a.drawOf(d, a.size(d)) }

func (a *array) size(d *draw) int {
	if d.hurried() {
		return a.least
	}
	high := a.most
	if high < 0 {
		high = a.least + 64
	}
	span := min(high-a.least, 64)
	switch n := d.r.IntN(16); {
	case n < 3 || span <= 0:
		return a.least
	case n == 3:
		return a.least + d.r.IntN(span+1)
	case n == 4 && a.most >= 0:
		return a.least + span
	case n == 5 && d.hostile && a.cheap():
		return a.least + min(max(high-a.least, 0), 1000)
	}
	return a.least + d.r.IntN(min(span, 4)+1)
}

// cheap reports whether items are not nested, so that an array may have a thousand of them.
func (a *array) cheap() bool {
	return !a.unique && a.rest != nil && len(a.rest.sources) == 1 && a.most < 0
}

// assign decides which of n items, the last ones if possible, are to satisfy contains. It returns the goal of every item, and false if
// there are not enough items.
func (a *array) assign(n int) ([]*goal, bool) {
	goals, taken, all := make([]*goal, n), make([]bool, n), true
	for i := range goals {
		goals[i] = a.item(i)
	}
	for k := range a.contains {
		missing := a.contains[k].min
		for i := n - 1; i >= 0 && missing > 0; i-- {
			if g := a.contains[k].item(i); !taken[i] && g.possible() {
				goals[i], taken[i] = g, true
				missing--
			}
		}
		all = all && missing == 0
	}
	return goals, all
}

// possible reports whether the goal is not nil and can be satisfied.
func (g *goal) possible() bool { return g != nil && g.height < unreachable }

// drawOf returns an array of n items, or of fewer if not enough allowed items were found.
func (a *array) drawOf(d *draw, n int) *mutate.JSON {
	v := &mutate.JSON{Kind: mutate.Array, Items: make([]*mutate.JSON, 0, n)}
	d.depth++
	defer func() { d.depth-- }()
	var goals []*goal
	if len(a.contains) > 0 {
		goals, _ = a.assign(n)
	}
	var before peers
	for i := range n {
		g := a.item(i)
		if goals != nil {
			g = goals[i]
		}
		if !g.possible() {
			break
		}
		item := a.distinct(d, g, &before)
		if item == nil {
			break
		}
		v.Items = append(v.Items, item)
	}
	return v
}

// distinct draws an item that, if items must be unique, differs from all previous ones; nil if it found none.
func (a *array) distinct(d *draw, g *goal, before *peers) *mutate.JSON {
	if !a.unique {
		return g.draw(d)
	}
	for range 24 {
		if v := g.draw(d); before.add(v) {
			return v
		}
	}
	for _, variant := range g.variants {
		for _, value := range variant.values {
			if before.add(value) {
				return value.Clone()
			}
		}
		for variant.types&intType != 0 && !variant.closed && before.counted <= 2*len(before.items) {
			v := mutate.NewNumber(variant.numbers.ints.nth(before.counted))
			if before.counted++; (!variant.check || variant.accepts(v)) && before.add(v) {
				return v
			}
		}
	}
	if len(before.items) >= a.least {
		return nil
	}
	return g.draw(d)
}

// peers are the items of an array that must be unique.
type peers struct {
	items   []*mutate.JSON
	keys    map[string]bool // of the items, if there are many
	counted int             // number of integers tried in ascending order, when random ones were not unique
}

// add adds an item, and returns false if it equals another one.
func (p *peers) add(v *mutate.JSON) bool {
	const many = 32
	if len(p.items) < many {
		for _, other := range p.items {
			if v.Equal(other) {
				return false
			}
		}
		p.items = append(p.items, v)
		return true
	}
	if p.keys == nil {
		p.keys = map[string]bool{}
		for _, other := range p.items {
			p.keys[keyOf(other).String()] = true
		}
	}
	key := keyOf(v).String()
	if p.keys[key] {
		return false
	}
	p.keys[key] = true
	p.items = append(p.items, v)
	return true
}

// keyOf returns a text that is the same for equal values: with members sorted and numbers in full.
func keyOf(v *mutate.JSON) *mutate.JSON {
	w := &mutate.JSON{Kind: v.Kind, Text: v.Text}
	if v.Kind == mutate.Number && (v.Text == "-0" || strings.ContainsAny(v.Text, ".eE")) {
		if x, ok := parseNumber(v.Text); ok {
			w.Text = ratText(x)
		}
	}
	for _, item := range v.Items {
		w.Items = append(w.Items, keyOf(item))
	}
	for _, m := range v.Members {
		w.Members = append(w.Members, mutate.Member{Name: m.Name, Value: keyOf(m.Value)})
	}
	slices.SortFunc(w.Members, func(a, b mutate.Member) int { return strings.Compare(a.Name, b.Name) })
	return w
}
