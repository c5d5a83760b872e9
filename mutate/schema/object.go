package schema

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// object describes the objects that a variant allows.
type object struct {
	min, max int // max is -1 if there is no limit
	members  []member
	index    map[string]int
	extras   []member // further members that are allowed
	hostile  []member // further allowed members with hostile names
	free     *goal    // of members with any other name; nil if these are not allowed or depend on the name
	fill     []int    // members in the order of their height
	check    bool
}

// member is a property that the schema names or allows.
type member struct {
	name     string
	goal     *goal
	required bool
	usable   bool  // the member, and all that it needs, can be satisfied
	needs    []int // members that must be present with it, including itself, once the object is complete
	words    []string
}

func (b *builder) mergeObject(v *variant) {
	if v.types&objectType == 0 {
		return
	}
	o := &object{max: -1, index: map[string]int{}}
	for _, s := range v.way.atoms {
		if s.MinProperties != nil {
			o.min = max(o.min, *s.MinProperties)
		}
		if s.MaxProperties != nil && (o.max < 0 || *s.MaxProperties < o.max) {
			o.max = *s.MaxProperties
		}
	}
	b.nameMembers(v, o)
	for i := range o.members {
		m := &o.members[i]
		if slices.Contains(v.way.absent, m.name) || forbids(v.way.nots, m.name) {
			continue
		}
		if sources, possible := memberSources(v, m.name); possible {
			m.goal = b.goal(sources...)
		}
	}
	b.findExtras(v, o)
	v.object = o
	for i := range o.members {
		if o.members[i].required && o.members[i].goal == nil {
			v.types &^= objectType
			if v.goal.why == nil && !v.twisted {
				v.goal.why = &SkipError{Keyword: "required", Where: schemaPointer(v.way.atoms[0].Location), Reason: "the property " + strconv.Quote(o.members[i].name) + " is required and not allowed"}
			}
		}
	}
	// If members need others, there may be no combination with as few members as max.
	o.check = o.max >= 0 && o.min > 0 && slices.ContainsFunc(o.members, func(m member) bool { return len(m.needs) > 1 })
	if o.max >= 0 && (o.min > o.max || o.required() > o.max) {
		v.types &^= objectType
	}
}

func (o *object) required() int {
	n := 0
	for i := range o.members {
		if o.members[i].required {
			n++
		}
	}
	return n
}

// nameMembers lists the members that any keyword names, in the order of the document.
func (b *builder) nameMembers(v *variant, o *object) {
	at := func(name string) *member {
		i, ok := o.index[name]
		if !ok {
			i = len(o.members)
			o.index[name] = i
			o.members = append(o.members, member{name: name, words: wordsFor(name)})
		}
		return &o.members[i]
	}
	for _, s := range slices.Concat(v.way.atoms, v.way.nots) {
		for _, name := range b.names(s, "properties", sortedKeys(s.Properties)) {
			at(name)
		}
	}
	for _, s := range v.way.nots {
		for _, name := range s.Required {
			at(name)
		}
	}
	for _, s := range v.way.atoms {
		for _, name := range s.Required {
			at(name).required = true
		}
	}
	for _, name := range v.way.present {
		at(name).required = true
	}
	for _, name := range v.way.absent {
		at(name)
	}
	for _, s := range v.way.atoms {
		for _, need := range b.needs(s) {
			at(need.name)
			for _, other := range need.others {
				at(other)
				i, j := o.index[need.name], o.index[other]
				o.members[i].needs = append(o.members[i].needs, j)
			}
		}
	}
	for i := range o.members {
		o.members[i].needs = o.closure(nil, i)
	}
	for i := range o.members {
		for _, j := range o.members[i].needs {
			o.members[j].required = o.members[j].required || o.members[i].required
		}
	}
}

// closure appends i and all members that it needs, directly or indirectly.
func (o *object) closure(known []int, i int) []int {
	if slices.Contains(known, i) {
		return known
	}
	known = append(known, i)
	for _, j := range o.members[i].needs {
		known = o.closure(known, j)
	}
	return known
}

// need is an entry of dependentRequired, or of dependencies with names.
type need struct {
	keyword, name string
	others        []string
}

func (b *builder) needs(s *jsonschema.Schema) []need {
	var all []need
	for _, name := range b.names(s, "dependentRequired", sortedKeys(s.DependentRequired)) {
		all = append(all, need{"dependentRequired", name, s.DependentRequired[name]})
	}
	for _, name := range b.names(s, "dependencies", sortedKeys(s.Dependencies)) {
		if others, ok := s.Dependencies[name].([]string); ok {
			all = append(all, need{"dependencies", name, others})
		}
	}
	return all
}

// forbids reports whether one of the negated subschemas consists only of a required with that member.
func forbids(nots []*jsonschema.Schema, name string) bool {
	return slices.ContainsFunc(nots, func(n *jsonschema.Schema) bool {
		return len(n.Required) == 1 && n.Required[0] == name && n.Properties == nil && n.PatternProperties == nil && n.AdditionalProperties == nil &&
			n.MinProperties == nil && n.MaxProperties == nil && n.PropertyNames == nil && n.DependentRequired == nil && n.DependentSchemas == nil &&
			n.Dependencies == nil && n.UnevaluatedProperties == nil && n.Enum == nil && n.Const == nil && n.Not == nil && n.If == nil && n.Ref == nil &&
			n.DynamicRef == nil && n.RecursiveRef == nil && len(n.AllOf)+len(n.AnyOf)+len(n.OneOf) == 0 && typesOf(n)&objectType != 0
	})
}

// memberSources returns the schemas of the atoms that apply to the member, and false if the member is not allowed.
func memberSources(v *variant, name string) (sources []*jsonschema.Schema, possible bool) {
	for _, s := range v.way.atoms {
		if s.PropertyNames != nil && s.PropertyNames.Validate(name) != nil {
			return nil, false
		}
		subs, evaluated := memberSchemas(s, name)
		if evaluated && subs == nil {
			return nil, false
		}
		sources = append(sources, subs...)
	}
	for _, c := range v.way.closers {
		if c.members == nil {
			continue
		}
		seen := slices.ContainsFunc(c.atoms, func(s *jsonschema.Schema) bool {
			_, evaluated := memberSchemas(s, name)
			return evaluated || s != c.owner && s.UnevaluatedProperties != nil
		})
		if !seen {
			sources = append(sources, c.members)
		}
	}
	for _, s := range sources {
		if s.Bool != nil && !*s.Bool {
			return nil, false
		}
	}
	return sources, true
}

// memberSchemas returns the schemas that s itself applies to the member; none with evaluated set means that it must be absent.
func memberSchemas(s *jsonschema.Schema, name string) (subs []*jsonschema.Schema, evaluated bool) {
	if sub := s.Properties[name]; sub != nil {
		subs = append(subs, sub)
	}
	for _, p := range patternsOf(s) {
		if p.MatchString(name) {
			subs = append(subs, s.PatternProperties[p])
		}
	}
	if len(subs) > 0 {
		return subs, true
	}
	switch more := s.AdditionalProperties.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{more}, true
	case bool:
		if !more {
			return nil, true
		}
		return []*jsonschema.Schema{trueSchema}, true
	}
	return nil, false
}

// patternsOf returns the keys of patternProperties, sorted.
func patternsOf(s *jsonschema.Schema) []*pattern {
	var all []*pattern
	for p := range s.PatternProperties {
		all = append(all, p.(*pattern))
	}
	slices.SortFunc(all, func(a, b *pattern) int {
		if a.source < b.source {
			return -1
		}
		return 1
	})
	return all
}

// findExtras tries names that the schema does not list, including names that satisfy patterns and propertyNames.
func (b *builder) findExtras(v *variant, o *object) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"extra", "x", "a1", "Other Key", "foo.bar", "名前"}
	free := true
	for _, s := range v.way.atoms {
		for _, p := range patternsOf(s) {
			names, free = append(names, samples(r, p, 0, 64, 8+2*o.min)...), false
		}
		if s.PropertyNames != nil {
			names, free = append(names, b.namesFor(r, s.PropertyNames, 8+2*o.min, 3)...), false
		}
	}
	for i := 0; i < o.min-len(o.members); i++ {
		names = append(names, "k"+strconv.Itoa(i))
	}
	take := func(list []member, name string) []member {
		if _, known := o.index[name]; known || slices.ContainsFunc(list, func(m member) bool { return m.name == name }) {
			return list
		}
		sources, possible := memberSources(v, name)
		if !possible || slices.Contains(v.way.absent, name) {
			return list
		}
		return append(list, member{name: name, goal: b.goal(sources...), words: wordsFor(name)})
	}
	for _, name := range names {
		o.extras = take(o.extras, name)
	}
	for _, name := range hostileNames {
		o.hostile = take(o.hostile, name)
	}
	if free && len(o.extras) > 0 {
		o.free = o.extras[0].goal
	}
}

func samples(r *rand.Rand, p *pattern, low, high, n int) []string {
	var all []string
	for range n {
		if s, ok := p.sample(r, low, high); ok {
			all = append(all, s)
		}
	}
	return all
}

// namesFor returns about n strings that are likely to satisfy a schema of propertyNames. depth limits the search.
func (b *builder) namesFor(r *rand.Rand, s *jsonschema.Schema, n, depth int) []string {
	var names []string
	if s.Const != nil || s.Enum != nil {
		for _, value := range b.literals(s) {
			if name, ok := value.Str(); ok {
				names = append(names, name)
			}
		}
	}
	t := &text{max: -1}
	if s.MinLength != nil {
		t.min = *s.MinLength
	}
	if s.MaxLength != nil {
		t.max = *s.MaxLength
	}
	if p, ok := s.Pattern.(*pattern); ok {
		t.patterns = []*pattern{p}
	}
	if s.Format != nil {
		t.formats = []*jsonschema.Format{s.Format}
	}
	for range n {
		names = append(names, t.candidate(r, nil, false))
	}
	if depth > 0 {
		for _, sub := range slices.Concat([]*jsonschema.Schema{s.Ref}, s.AllOf, s.AnyOf, s.OneOf) {
			if sub != nil {
				names = append(names, b.namesFor(r, sub, n, depth-1)...)
			}
		}
	}
	return names
}

// excludes reports whether it is certain that no object of the variant satisfies s.
func (o *object) excludes(s *jsonschema.Schema, depth int) bool {
	if o == nil {
		return false
	}
	demanded := func(name string) bool { return slices.Contains(s.Required, name) }
	for _, name := range s.Required {
		if i, ok := o.index[name]; ok && o.members[i].goal == nil {
			return true
		}
	}
	for i := range o.members {
		m := &o.members[i]
		if m.goal == nil || !m.required && !demanded(m.name) {
			continue
		}
		subs, evaluated := memberSchemas(s, m.name)
		if evaluated && subs == nil && m.required {
			return true
		}
		for _, sub := range subs {
			if m.goal.excludes(sub, depth+1) {
				return true
			}
		}
	}
	return false
}

func (g *goal) excludes(s *jsonschema.Schema, depth int) bool {
	for _, v := range g.variants {
		if !v.excludes(s, depth) {
			return false
		}
	}
	return len(g.variants) > 0 || s.Bool != nil && !*s.Bool
}
