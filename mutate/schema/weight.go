package schema

import (
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWeight limits the number of subschemas against which one value is validated. It grows exponentially in a small schema in which each
// definition refers to the next one twice.
const maxWeight = 2000

// maxWork limits the number of validations of a value with everything that it must contain: if two keywords apply the same schema to a
// member, and so on within it, the twentieth level is validated a million times.
const maxWork = 200_000

// scale computes the weights of subschemas: how many of them apply to a value to which one of them applies.
type scale struct {
	weights map[*jsonschema.Schema]int // 0 while the weight is being computed
	works   map[*jsonschema.Schema]int // numbers of validations with required parts; 0 while being computed
	next    []*jsonschema.Schema       // subschemas that apply to members and items
}

// weigh returns the greatest weight and the work of the root. It rejects a schema whose validation would take too long.
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

// together returns the subschemas that apply to the same value as sch, in a deterministic order.
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

// queue adds the subschemas that apply to members and items to next.
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
