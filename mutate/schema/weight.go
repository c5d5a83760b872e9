package schema

import (
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWeight bounds how many subschemas one value may have to be validated against. A schema of a few lines in which each
// definition names the next one twice has more than can ever be worked through.
const maxWeight = 2000

// scale weighs subschemas: how many of them apply to a value that one of them applies to.
type scale struct {
	weights map[*jsonschema.Schema]int // 0 while it is being weighed
	next    []*jsonschema.Schema       // that apply to members and items
}

// weigh returns the heaviest weight, and refuses a schema that would take too long to validate with.
func weigh(root *jsonschema.Schema) (int, *SkipError) {
	heaviest := 0
	s := scale{weights: map[*jsonschema.Schema]int{}, next: []*jsonschema.Schema{root}}
	for len(s.next) > 0 {
		sch := s.next[len(s.next)-1]
		s.next = s.next[:len(s.next)-1]
		if heaviest = max(heaviest, s.weight(sch)); heaviest > maxWeight {
			return 0, &SkipError{Where: schemaPointer(sch.Location), Reason: "more than " + strconv.Itoa(maxWeight) + " subschemas apply to one value"}
		}
	}
	return heaviest, nil
}

func (s *scale) weight(sch *jsonschema.Schema) int {
	if w, known := s.weights[sch]; known {
		return w
	}
	s.weights[sch] = 0
	total := 1
	each := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				total = min(total+s.weight(sub), maxWeight+1)
			}
		}
	}
	each(sch.Ref, sch.RecursiveRef, sch.Not, sch.If, sch.Then, sch.Else)
	each(sch.AllOf...)
	each(sch.AnyOf...)
	each(sch.OneOf...)
	if sch.DynamicRef != nil {
		each(sch.DynamicRef.Ref)
	}
	for _, sub := range sch.DependentSchemas {
		each(sub)
	}
	for _, dependency := range sch.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok {
			each(sub)
		}
	}
	s.weights[sch] = total
	s.queue(sch)
	return total
}

// queue remembers what applies to members and items, to be weighed apart.
func (s *scale) queue(sch *jsonschema.Schema) {
	add := func(sub *jsonschema.Schema) {
		if _, known := s.weights[sub]; sub != nil && !known {
			s.next = append(s.next, sub)
		}
	}
	for _, sub := range sch.Properties {
		add(sub)
	}
	for _, sub := range sch.PatternProperties {
		add(sub)
	}
	for _, sub := range sch.PrefixItems {
		add(sub)
	}
	for _, sub := range []*jsonschema.Schema{sch.PropertyNames, sch.Contains, sch.Items2020, sch.UnevaluatedItems, sch.UnevaluatedProperties, sch.ContentSchema} {
		add(sub)
	}
	for _, either := range []any{sch.AdditionalProperties, sch.AdditionalItems, sch.Items} {
		switch either := either.(type) {
		case *jsonschema.Schema:
			add(either)
		case []*jsonschema.Schema:
			for _, sub := range either {
				add(sub)
			}
		}
	}
}
