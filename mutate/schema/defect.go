package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// twist describes how to violate one keyword of a subschema while all others are satisfied.
type twist struct {
	at      *jsonschema.Schema
	keyword string
	i, j    int // indexes of branches, or of the name of a dependent schema
}

// defect is a keyword that combines subschemas, and the ways to violate it.
type defect struct {
	twist
	label, how string // the keyword, and how it is violated, for users
	variants   []*variant
}

// defectsOf lists the possible defects of those keywords of the atoms that combine subschemas.
func (b *builder) defectsOf(ways []partial) []*defect {
	const maxPairs = 16
	var atoms []*jsonschema.Schema
	for _, way := range ways {
		atoms = unite(atoms, way.atoms)
	}
	var all []*defect
	add := func(s *jsonschema.Schema, keyword, label, how string, i, j int) {
		all = append(all, &defect{twist: twist{s, keyword, i, j}, label: label, how: how})
	}
	for _, s := range atoms {
		if s.Not != nil {
			add(s, "not", "not", "meets it", 0, 0)
		}
		if len(s.AnyOf) > 0 {
			add(s, "anyOf", "anyOf", "meets none", 0, 0)
		}
		if n := len(s.OneOf); n > 0 {
			add(s, "oneOf", "oneOf", "meets none", 0, 0)
			pairs := 0
			for apart := 1; apart < n; apart++ {
				for i := 0; i+apart < n && pairs < maxPairs; i++ {
					add(s, "oneOf", "oneOf", "meets two", i, i+apart)
					pairs++
				}
			}
		}
		if s.If != nil && s.Then != nil {
			add(s, "if", "then", "meets if only", 0, 0)
		}
		if s.If != nil && s.Else != nil {
			add(s, "if", "else", "meets neither", 1, 0)
		}
		for i, d := range b.dependents(s) {
			add(s, "dependentSchemas", "dependentSchemas", "has "+d.name, i, 0)
		}
	}
	return all
}

// twisted returns the ways to violate the keyword, with its operands satisfied or not as the twist says.
func (b *builder) twisted(s *jsonschema.Schema, chain []*jsonschema.Schema, t *twist) []partial {
	switch t.keyword {
	case "not":
		return b.expand(s.Not, chain, nil)
	case "anyOf":
		return []partial{{nots: s.AnyOf}}
	case "oneOf":
		if t.i == t.j {
			return []partial{{nots: s.OneOf}}
		}
		return cross(b.expand(s.OneOf[t.i], chain, nil), b.expand(s.OneOf[t.j], chain, nil))
	case "if":
		if t.i == 0 {
			return cross(b.expand(s.If, chain, nil), []partial{{nots: []*jsonschema.Schema{s.Then}}})
		}
		return []partial{{nots: []*jsonschema.Schema{s.If, s.Else}}}
	case "dependentSchemas":
		d := b.dependents(s)[t.i]
		return []partial{{present: []string{d.name}, nots: []*jsonschema.Schema{d.schema}}}
	}
	return nil
}

// defects returns the breaches of the keywords that combine subschemas.
func (at *site) defects() []*breach {
	var all []*breach
	for _, d := range at.goal.defects {
		if len(d.variants) == 0 {
			continue
		}
		b := &breach{keyword: d.label, how: d.how, location: d.at.Location, report: d.label, several: d.how == "meets two", make: d.draw}
		s := d.at
		switch d.label {
		case "then":
			b.confirm = func(plain any) bool { return s.If.Validate(plain) == nil && s.Then.Validate(plain) != nil }
		case "else":
			b.confirm = func(plain any) bool { return s.If.Validate(plain) != nil && s.Else.Validate(plain) != nil }
		case "dependentSchemas":
			b.confirm = d.variants[0].refuses
		}
		all = append(all, b)
	}
	return all
}

// draw returns a value of one of the variants that violate the keyword.
func (x *defect) draw(d *draw) *mutate.JSON {
	for range maxAttempts / 4 {
		v := x.variants[d.r.IntN(len(x.variants))]
		if value := v.draw(d); v.accepts(value) {
			return value
		}
	}
	return nil
}
