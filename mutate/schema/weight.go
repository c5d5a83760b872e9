package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWeight bounds how many subschemas one value may have to be validated against. A schema of a few lines in which each
// definition names the next one twice has more than can ever be worked through.
const maxWeight = 2000

// maxWork bounds how many it may be with all that the value must have in it: where two keywords apply the same schema to
// a member, and so on in it, the twentieth level is validated a million times.
const maxWork = 200_000

// scale weighs subschemas: how many of them apply to a value that one of them applies to.
type scale struct {
	weights map[*jsonschema.Schema]int // 0 while it is being weighed
	works   map[*jsonschema.Schema]int // with what must be in the value; 0 while it is being worked out
	next    []*jsonschema.Schema       // that apply to members and items
}

// weigh returns the heaviest weight and the work of the root, and refuses a schema that would take too long to validate
// with.
func weigh(root *jsonschema.Schema) (heaviest, work int, skip *SkipError) {
	s := scale{weights: map[*jsonschema.Schema]int{}, works: map[*jsonschema.Schema]int{}, next: []*jsonschema.Schema{root}}
	var places []*jsonschema.Schema
	for len(s.next) > 0 {
		sch := s.next[len(s.next)-1]
		s.next = s.next[:len(s.next)-1]
		places = append(places, sch)
		if heaviest = max(heaviest, s.weight(sch)); heaviest > maxWeight {
			return 0, 0, &SkipError{Where: schemaPointer(sch.Location), Reason: "more than " + strconv.Itoa(maxWeight) + " subschemas apply to one value"}
		}
	}
	for _, sch := range places {
		if s.work(sch) > maxWork {
			return 0, 0, &SkipError{Where: schemaPointer(sch.Location), Reason: "more than " + strconv.Itoa(maxWork) + " subschemas apply to one value and what must be in it"}
		}
	}
	return heaviest, s.work(root), nil
}

func (s *scale) weight(sch *jsonschema.Schema) int {
	if w, known := s.weights[sch]; known {
		return w
	}
	s.weights[sch] = 0
	total := 1
	for _, sub := range together(sch) {
		total = min(total+s.weight(sub), maxWeight+1)
	}
	s.weights[sch] = total
	s.queue(sch)
	return total
}

// together returns the subschemas that apply to the same value as sch, in an order that is always the same.
func together(sch *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{sch.Ref, sch.RecursiveRef, sch.Not, sch.If, sch.Then, sch.Else}, sch.AllOf, sch.AnyOf, sch.OneOf)
	if sch.DynamicRef != nil {
		all = append(all, sch.DynamicRef.Ref)
	}
	for _, name := range sortedKeys(sch.DependentSchemas) {
		all = append(all, sch.DependentSchemas[name])
	}
	for _, name := range sortedKeys(sch.Dependencies) {
		if sub, ok := sch.Dependencies[name].(*jsonschema.Schema); ok {
			all = append(all, sub)
		}
	}
	return slices.DeleteFunc(all, func(sub *jsonschema.Schema) bool { return sub == nil })
}

// queue remembers what applies to members and items, to be weighed apart.
func (s *scale) queue(sch *jsonschema.Schema) {
	add := func(sub *jsonschema.Schema) {
		if _, known := s.weights[sub]; sub != nil && !known {
			s.next = append(s.next, sub)
		}
	}
	for _, name := range sortedKeys(sch.Properties) {
		add(sch.Properties[name])
	}
	for _, p := range patternsOf(sch) {
		add(sch.PatternProperties[p])
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
