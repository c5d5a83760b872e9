package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// work returns the number of subschema validations for a value of sch with all its required parts. Optional parts do not count, since drawing
// omits them beyond some depth.
func (s *scale) work(sch *jsonschema.Schema) int {
	if w, known := s.works[sch]; known {
		return w
	}
	s.works[sch] = 0
	d := demand{times: map[*jsonschema.Schema]int{}}
	d.apply(sch, nil)
	total := d.weight
	if total > maxWeight { // references form a cycle
		total = maxWork + 1
	}
	each := func(by, sub *jsonschema.Schema) {
		if sub != nil && total <= maxWork {
			total = min(total+d.times[by]*s.work(sub), maxWork+1)
		}
	}
	names, items := d.names(), d.items()
	for _, by := range d.applied {
		for _, name := range names {
			subs, evaluated := memberSchemas(by, name)
			for _, sub := range subs {
				each(by, sub)
			}
			if !evaluated {
				each(by, by.UnevaluatedProperties)
			}
		}
		for i := range items {
			sub, evaluated := itemSchema(by, i)
			each(by, sub)
			each(by, by.Contains)
			if !evaluated {
				each(by, by.UnevaluatedItems)
			}
		}
	}
	s.works[sch] = total
	return total
}

// demand is the set of subschemas that apply to one value.
type demand struct {
	weight  int
	applied []*jsonschema.Schema       // without duplicates
	times   map[*jsonschema.Schema]int // how often each of them applies
}

// apply adds a subschema and those that apply with it. chain has the subschemas that contain it.
func (d *demand) apply(sch *jsonschema.Schema, chain []*jsonschema.Schema) {
	if d.weight > maxWeight || slices.Contains(chain, sch) {
		return
	}
	d.weight++
	if d.times[sch]++; d.times[sch] == 1 {
		d.applied = append(d.applied, sch)
	}
	chain = append(slices.Clip(chain), sch)
	for _, sub := range together(sch) {
		d.apply(sub, chain)
	}
}

// names returns the required members, sorted. If any members satisfy a minimum, it returns all named members.
func (d *demand) names() []string {
	set := map[string]bool{}
	add := func(names []string) {
		for _, name := range names {
			set[name] = true
		}
	}
	some := false
	for _, sch := range d.applied {
		add(sch.Required)
		for _, others := range sch.DependentRequired {
			add(others)
		}
		for _, dependency := range sch.Dependencies {
			if others, ok := dependency.([]string); ok {
				add(others)
			}
		}
		some = some || sch.MinProperties != nil && *sch.MinProperties > 0
	}
	if some {
		add([]string{"extra"})
		for _, sch := range d.applied {
			add(sortedKeys(sch.Properties))
		}
	}
	return sortedKeys(set)
}

// items returns the number of required items, in which items with the same description count as one.
func (d *demand) items() int {
	least, prefix := 0, 0
	for _, sch := range d.applied {
		if sch.MinItems != nil {
			least = max(least, *sch.MinItems)
		}
		if sch.Contains != nil && (sch.MinContains == nil || *sch.MinContains > 0) {
			least = max(least, 1)
		}
		list, _ := sch.Items.([]*jsonschema.Schema)
		prefix = max(prefix, len(sch.PrefixItems), len(list))
	}
	return min(least, prefix+1)
}
