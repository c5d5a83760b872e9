package schema

import (
	"math/rand/v2"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// arrays violates limits of lengths by one, uniqueness by equal items, and inserts items that are not allowed.
func (c *breaching) arrays() {
	s, a := c.atom, c.v.array
	if s.MinItems != nil && *s.MinItems > 0 {
		n := *s.MinItems - 1
		c.add("minItems", "min-1", func(d *draw) *mutate.JSON { return a.drawOf(d, n) })
		if n > 0 {
			c.add("minItems", "empty", func(*draw) *mutate.JSON { return mutate.NewArray() })
		}
	}
	if s.MaxItems != nil && *s.MaxItems < maxForcedCount {
		n := *s.MaxItems + 1
		c.add("maxItems", "max+1", func(d *draw) *mutate.JSON { return a.drawLong(d, n) })
	}
	if s.UniqueItems {
		for _, how := range []string{"equal", "1 and 1.0", "other order"} {
			c.add("uniqueItems", how, func(d *draw) *mutate.JSON { return a.repeat(d, how) })
		}
	}
	if s.Contains != nil {
		c.containing(s, a)
	}
	past := -1 // index of the first item that is not allowed
	for i := range len(a.prefix) + 1 {
		if sub, evaluated := itemSchema(s, i); evaluated && (sub == nil || sub.Bool != nil && !*sub.Bool) && past < 0 {
			past = i
			b := c.add("items", "one more", func(d *draw) *mutate.JSON { return a.drawLong(d, i+1) })
			if sub == nil {
				b.keyword, b.report = "additionalItems", "additionalItems"
			} else {
				b.location, b.report = sub.Location, "false"
			}
		}
	}
}

// drawLong returns an array of n items; those beyond the last allowed one are arbitrary.
func (a *array) drawLong(d *draw, n int) *mutate.JSON {
	v := a.drawOf(d, n)
	for len(v.Items) < n {
		v.Items = append(v.Items, mutate.NewInt(int64(len(v.Items))))
	}
	return v
}

// repeat returns an array with two equal items.
func (a *array) repeat(d *draw, how string) *mutate.JSON {
	v := a.drawOf(d, max(a.size(d), min(2, max(a.max, 2*(1+a.max)))))
	i := slices.IndexFunc(v.Items, func(item *mutate.JSON) bool {
		return how == "equal" || how == "1 and 1.0" && item.Kind == mutate.Number || how == "other order" && len(item.Members) > 1
	})
	if i < 0 {
		return nil
	}
	twin := v.Items[i].Clone()
	switch how {
	case "1 and 1.0":
		x, ok := parseNumber(twin.Text)
		if !ok {
			return nil
		}
		if twin.Text = ratText(x); x.IsInt() {
			twin.Text += ".0"
		} else {
			twin.Text += "0"
		}
	case "other order":
		slices.Reverse(twin.Members)
	}
	if j := (i + 1) % max(len(v.Items), 1); j != i && (len(v.Items) == a.max || d.r.IntN(2) == 0) {
		v.Items[j] = twin
		return v
	}
	v.Items = append(v.Items, twin)
	return v
}

// containing violates contains by too few or too many matching items.
func (c *breaching) containing(s *jsonschema.Schema, a *array) {
	i := slices.IndexFunc(a.contains, func(k contained) bool { return k.schema == s.Contains })
	if i < 0 {
		return
	}
	k := &a.contains[i]
	keyword := "contains"
	if s.MinContains != nil {
		keyword = "minContains"
	}
	if k.min > 0 {
		c.add(keyword, "one too few", func(d *draw) *mutate.JSON { return a.drawMatching(d, k, k.min-1) })
		if k.min > 1 {
			c.add(keyword, "none", func(d *draw) *mutate.JSON { return a.drawMatching(d, k, 0) })
		}
	}
	if k.max >= 0 && k.max < maxForcedCount {
		c.add("maxContains", "one too many", func(d *draw) *mutate.JSON { return a.drawMatching(d, k, k.max+1) })
	}
}

// drawMatching returns an array in which n items match contains, if items that do not match were found.
func (a *array) drawMatching(d *draw, k *contained, n int) *mutate.JSON {
	v := mutate.NewArray()
	d.depth++
	defer func() { d.depth-- }()
	var before peers
	for i := range max(a.min, n, d.r.IntN(3)) {
		g := a.item(i)
		if i < n {
			g = k.item(i)
		}
		if !g.possible() {
			break
		}
		item := a.distinct(d, g, &before)
		for try := 0; i >= n && try < 16 && matches(k.schema, item); try++ {
			item = a.distinct(d, g, &before)
		}
		if item == nil || i >= n && matches(k.schema, item) {
			break
		}
		v.Items = append(v.Items, item)
	}
	return v
}

func matches(s *jsonschema.Schema, v *mutate.JSON) bool {
	if v == nil {
		return false
	}
	plain, err := plainValue(v)
	return err == nil && s.Validate(plain) == nil
}

// objects violates the keywords on the presence of members.
func (c *breaching) objects() {
	s, o := c.atom, c.v.object
	for _, name := range s.Required {
		c.add("required", "without "+name, func(d *draw) *mutate.JSON { return without(o.draw(d), name) })
	}
	c.counts()
	for _, name := range sortedKeys(s.DependentRequired) {
		c.dependent("dependentRequired", name, s.DependentRequired[name])
	}
	for _, name := range sortedKeys(s.Dependencies) {
		if others, ok := s.Dependencies[name].([]string); ok {
			c.dependent("dependencies", name, others)
		}
	}
	if s.PropertyNames != nil {
		c.badNames(s.PropertyNames)
	}
	if allowed, ok := s.AdditionalProperties.(bool); ok && !allowed {
		c.strangers("additionalProperties", s.Location, "additionalProperties")
	} else if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && more.Bool != nil && !*more.Bool {
		c.strangers("additionalProperties", more.Location, "false")
	}
	for i := range o.members {
		name := o.members[i].name
		if sub := s.Properties[name]; sub != nil && sub.Bool != nil && !*sub.Bool {
			b := c.add("properties", "with "+name, func(d *draw) *mutate.JSON { return with(o.draw(d), name) })
			b.location, b.report = sub.Location, "false"
		}
	}
	for _, p := range patternsOf(s) {
		if sub := s.PatternProperties[p]; sub.Bool != nil && !*sub.Bool {
			names := samples(rand.New(rand.NewPCG(9, 10)), p, 0, 32, 8)
			if len(names) == 0 {
				continue
			}
			b := c.add("patternProperties", "with "+p.source, func(d *draw) *mutate.JSON { return with(o.draw(d), names[d.r.IntN(len(names))]) })
			b.location, b.report = sub.Location, "false"
		}
	}
}

func without(v *mutate.JSON, name string) *mutate.JSON {
	v.Delete(name)
	return v
}

func with(v *mutate.JSON, name string) *mutate.JSON {
	v.Set(name, mutate.NewString("teasel"))
	return v
}

// dependent violates a dependency: the member is present, and one that it requires is missing.
func (c *breaching) dependent(keyword, name string, others []string) {
	o := c.v.object
	i, ok := o.index[name]
	if !ok || !o.members[i].usable {
		return
	}
	for _, other := range others {
		c.add(keyword, name+" without "+other, func(d *draw) *mutate.JSON { return without(o.drawWith(d, i), other) })
	}
}

// counts violates minProperties and maxProperties by one.
func (c *breaching) counts() {
	s, o := c.atom, c.v.object
	if s.MinProperties != nil && *s.MinProperties > 0 {
		n := *s.MinProperties - 1
		c.add("minProperties", "min-1", func(d *draw) *mutate.JSON {
			v := o.draw(d)
			for i := len(v.Members) - 1; i >= 0 && len(v.Members) > n; i-- {
				if at, listed := o.index[v.Members[i].Name]; !listed || !o.members[at].required {
					v.Members = slices.Delete(v.Members, i, i+1)
				}
			}
			v.Members = v.Members[:min(n, len(v.Members))]
			return v
		})
	}
	if s.MaxProperties != nil && *s.MaxProperties < maxForcedCount {
		n := *s.MaxProperties + 1
		c.add("maxProperties", "max+1", func(d *draw) *mutate.JSON {
			v := o.draw(d)
			d.depth++
			defer func() { d.depth-- }()
			for _, m := range slices.Concat(o.members, o.extras) {
				if len(v.Members) < n && m.goal.possible() && v.Get(m.name) == nil {
					v.Members = append(v.Members, mutate.Member{Name: m.name, Value: m.goal.draw(d)})
				}
			}
			for i := 0; len(v.Members) < n; i++ {
				v.Set("k"+itoa(i), mutate.NewInt(int64(i)))
			}
			return v
		})
	}
}

// badNames violates propertyNames by a member with a name that is not allowed.
func (c *breaching) badNames(names *jsonschema.Schema) {
	var bad []string
	for _, name := range slices.Concat(hostileNames, []string{"a", "A", "a b", "1", "é", "aA1_-", "verylongnameverylongnameverylongname"}) {
		if names.Validate(name) != nil {
			bad = append(bad, name)
		}
	}
	o := c.v.object
	for i := range o.members { // names that resemble allowed ones
		if name := respell(rand.New(rand.NewPCG(11, 12)), mutate.NewString(o.members[i].name)); name != nil && names.Validate(name.Text) != nil {
			bad = append(bad, name.Text)
		}
	}
	if len(bad) == 0 {
		return
	}
	b := c.add("propertyNames", "bad name", func(d *draw) *mutate.JSON { return with(o.draw(d), bad[d.r.IntN(len(bad))]) })
	b.location = names.Location
}

// strangers violates additionalProperties or unevaluatedProperties by a member that the schema does not describe.
func (c *breaching) strangers(keyword, location, report string) {
	o := c.v.object
	add := func(how string, names []string) {
		names = slices.DeleteFunc(names, func(name string) bool { return !o.unlisted(name) })
		if len(names) == 0 {
			return
		}
		b := c.add(keyword, how, func(d *draw) *mutate.JSON { return with(o.draw(d), names[d.r.IntN(len(names))]) })
		b.location, b.report = location, report
	}
	add("extra", []string{"extra", "teasel", "x", "a"})
	add("prototype", slices.Clone(hostileNames))
	var near []string
	for i := range o.members {
		name := o.members[i].name
		near = append(near, name+" ", name+"\x00", "_"+name)
		if other := swapFirst(name); other != name {
			near = append(near, other)
		}
	}
	add("resembles another", near)
}

// closers violates unevaluatedProperties and unevaluatedItems if they are false.
func (c *breaching) closers() {
	v := c.v
	isFalse := func(s *jsonschema.Schema) bool { return s != nil && s.Bool != nil && !*s.Bool }
	for _, closer := range v.way.closers {
		c.atom = closer.owner
		if isFalse(closer.members) && v.types&objectType != 0 && !v.closed {
			c.strangers("unevaluatedProperties", closer.members.Location, "false")
		}
		if isFalse(closer.items) && v.types&arrayType != 0 && !v.closed {
			a := v.array
			b := c.add("unevaluatedItems", "one more", func(d *draw) *mutate.JSON { return a.drawLong(d, max(a.max, len(a.prefix))+1) })
			b.location, b.report = closer.items.Location, "false"
		}
	}
}
