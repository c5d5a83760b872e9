package schema

import (
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// goal is a set of subschemas that one value must satisfy together.
type goal struct {
	sources  []*jsonschema.Schema
	variants []*variant // the ways to satisfy them
	flat     []*variant // the variants with the least nested values
	defects  []*defect  // the ways to violate a keyword that combines subschemas
	height   int        // how deep the flattest value that meets it is nested; unreachable if none does
	size     int        // approximate size of the least nested value
	witness  *mutate.JSON
	why      *SkipError // what makes it hard or impossible to satisfy
}

// unreachable is the height of a goal that no finite value satisfies.
const unreachable = 1 << 20

// Limits of the expansion of a schema. Beyond them some variants are left out, which only reduces variety.
const (
	maxVariants = 128
	maxGoals    = 6000
)

// builder makes the goals of a document.
type builder struct {
	doc       *mutate.JSON
	root      *jsonschema.Schema
	dynamic   map[string]*jsonschema.Schema // subschemas of the root resource, by dynamic anchor
	uncertain bool                          // a reference may resolve to another subschema than assumed
	goals     map[string]*goal
	order     []*goal
	weight    int          // see Schema
	room      int          // remaining budget for witnesses, in units of charge
	lost      []*SkipError // optional parts that no value satisfies
}

func newBuilder(doc *mutate.JSON, root *jsonschema.Schema, c *jsonschema.Compiler) *builder {
	b := &builder{doc: doc, root: root, room: maxWitnessNodes, goals: map[string]*goal{}, dynamic: map[string]*jsonschema.Schema{}}
	var embedded []string // the resources embedded in the document
	_ = eachSchema(doc, "", func(pointer string, v *mutate.JSON) *SkipError {
		if pointer != "" && v.Get("$id") != nil {
			embedded = append(embedded, pointer+"/")
		}
		name, ok := v.Get("$dynamicAnchor").Str()
		if ok && !slices.ContainsFunc(embedded, func(p string) bool { return strings.HasPrefix(pointer+"/", p) }) {
			if sch, err := c.Compile(documentURL + "#" + (&url.URL{Path: pointer}).EscapedPath()); err == nil {
				b.dynamic[name] = sch
			}
		}
		return nil
	})
	return b
}

// build makes the goal of the document and all goals that it needs, and determines which of them can be satisfied.
func (b *builder) build() (*goal, *SkipError) {
	root := b.goal(b.root)
	for i := 0; i < len(b.order); i++ { // grows, since variants add the goals of their members
		if i == maxGoals {
			return nil, &SkipError{Reason: "the schema unfolds to more than we are ready to hold"}
		}
		b.unfold(b.order[i])
	}
	for _, g := range b.order {
		for _, v := range g.variants {
			v.settleRivals()
		}
	}
	b.meet()
	if root.height >= unreachable {
		return nil, b.explain(root)
	}
	for _, v := range root.variants {
		v.whole = b.uncertain
		v.check = v.check || v.whole
	}
	b.lost = b.unmet()
	for _, g := range b.order {
		g.settle()
	}
	return root, nil
}

// goal returns the goal to satisfy all the sources. Its variants may not have been made yet.
func (b *builder) goal(sources ...*jsonschema.Schema) *goal {
	var kept []*jsonschema.Schema
	for _, s := range sources {
		if (s.Bool == nil || !*s.Bool) && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(x, y *jsonschema.Schema) int { return strings.Compare(x.Location, y.Location) })
	var key strings.Builder
	for _, s := range kept {
		key.WriteString(s.Location)
		key.WriteByte('\n')
	}
	g := b.goals[key.String()]
	if g == nil {
		g = &goal{sources: kept, height: unreachable}
		b.goals[key.String()] = g
		b.order = append(b.order, g)
	}
	return g
}

// partial is one combination of branches of the keywords that combine subschemas: the subschemas that must and must not be satisfied, and
// the consequences for members.
type partial struct {
	atoms   []*jsonschema.Schema // subschemas whose own keywords must be satisfied
	nots    []*jsonschema.Schema // subschemas that must not be satisfied
	present []string
	absent  []string
	closers []closer
}

// closer is an unevaluatedProperties or unevaluatedItems, with the atoms whose evaluated parts it does not apply to.
type closer struct {
	owner   *jsonschema.Schema
	atoms   []*jsonschema.Schema
	members *jsonschema.Schema
	items   *jsonschema.Schema
}

func (p partial) and(q partial) partial {
	return partial{
		atoms:   unite(p.atoms, q.atoms),
		nots:    unite(p.nots, q.nots),
		present: unite(p.present, q.present),
		absent:  unite(p.absent, q.absent),
		closers: slices.Concat(p.closers, q.closers),
	}
}

// unite returns a with the new elements of b appended. It does not modify a.
func unite[T comparable](a, b []T) []T {
	out := slices.Clip(a)
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, x)
		}
	}
	return out
}

// cross combines every way through one keyword with every way through another, or an evenly distributed selection if there are too many.
func cross(a, b []partial) []partial {
	total := len(a) * len(b)
	n := min(total, maxVariants)
	out := make([]partial, 0, n)
	for i := range n {
		at := i * total / max(n, 1)
		out = append(out, a[at/len(b)].and(b[at%len(b)]))
	}
	return out
}

// expand returns the ways to satisfy s. chain has the subschemas that are being expanded for the same value: if s is among them, references
// form a cycle, which the validator rejects.
func (b *builder) expand(s *jsonschema.Schema, chain []*jsonschema.Schema, t *twist) []partial {
	if s.Bool != nil {
		if *s.Bool {
			return []partial{{}}
		}
		return nil
	}
	if slices.Contains(chain, s) {
		return nil
	}
	chain = append(slices.Clip(chain), s)
	if t != nil && t.at == s {
		return b.expandKeywords(s, chain, nil, t.keyword, b.twisted(s, chain, t)...)
	}
	return b.expandKeywords(s, chain, t, "")
}

// expandKeywords combines the ways through all keywords of s, with the given ways for the keyword that is replaced.
func (b *builder) expandKeywords(s *jsonschema.Schema, chain []*jsonschema.Schema, t *twist, replaced string, instead ...partial) []partial {
	ways := []partial{{atoms: []*jsonschema.Schema{s}}}
	with := func(keyword string, more []partial) {
		if keyword == replaced {
			more = instead
		}
		ways = cross(ways, more)
	}
	for _, next := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, b.dynamicTarget(s)} {
		if next != nil {
			with("$ref", b.expand(b.recursiveTarget(s, next), chain, t))
		}
	}
	for _, sub := range s.AllOf {
		with("allOf", b.expand(sub, chain, t))
	}
	if len(s.AnyOf) > 0 {
		with("anyOf", b.either(s.AnyOf, false, chain, t))
	}
	if len(s.OneOf) > 0 {
		with("oneOf", b.either(s.OneOf, true, chain, t))
	}
	if s.Not != nil {
		with("not", []partial{{nots: []*jsonschema.Schema{s.Not}}})
	}
	if s.If != nil && (s.Then != nil || s.Else != nil || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil) {
		with("if", b.conditional(s, chain, t))
	}
	for _, d := range b.dependents(s) {
		if replaced == "dependentSchemas" && len(instead) > 0 && slices.Contains(instead[0].present, d.name) {
			ways = cross(ways, instead)
			continue
		}
		absent := []partial{{absent: []string{d.name}}}
		present := cross([]partial{{present: []string{d.name}}}, b.expand(d.schema, chain, t))
		ways = cross(ways, append(absent, present...))
	}
	return b.close(s, ways)
}

// close adds unevaluatedProperties and unevaluatedItems, which depend on the parts that all adjacent keywords evaluate.
func (b *builder) close(s *jsonschema.Schema, ways []partial) []partial {
	if s.UnevaluatedProperties == nil && s.UnevaluatedItems == nil {
		return ways
	}
	for i := range ways {
		c := closer{owner: s, atoms: slices.Clone(ways[i].atoms), members: s.UnevaluatedProperties, items: s.UnevaluatedItems}
		ways[i].closers = append(slices.Clip(ways[i].closers), c)
	}
	return ways
}

// either returns the ways through anyOf, or through oneOf, in which the other branches must not be satisfied.
func (b *builder) either(branches []*jsonschema.Schema, alone bool, chain []*jsonschema.Schema, t *twist) []partial {
	var ways []partial
	for i, branch := range branches {
		var rest partial
		if alone {
			rest.nots = slices.Concat(branches[:i:i], branches[i+1:])
		}
		ways = append(ways, cross(b.expand(branch, chain, t), []partial{rest})...)
	}
	return ways
}

func (b *builder) conditional(s *jsonschema.Schema, chain []*jsonschema.Schema, t *twist) []partial {
	holds, fails := b.expand(s.If, chain, t), []partial{{nots: []*jsonschema.Schema{s.If}}}
	if s.If.Bool != nil && *s.If.Bool {
		fails = nil
	}
	if s.Then != nil {
		holds = cross(holds, b.expand(s.Then, chain, t))
	}
	if s.Else != nil {
		fails = cross(fails, b.expand(s.Else, chain, t))
	}
	return append(holds, fails...)
}

// dependent is an entry of dependentSchemas, or of dependencies with a schema.
type dependent struct {
	name   string
	schema *jsonschema.Schema
}

func (b *builder) dependents(s *jsonschema.Schema) []dependent {
	var all []dependent
	for _, name := range b.names(s, "dependentSchemas", sortedKeys(s.DependentSchemas)) {
		all = append(all, dependent{name, s.DependentSchemas[name]})
	}
	for _, name := range b.names(s, "dependencies", sortedKeys(s.Dependencies)) {
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			all = append(all, dependent{name, sub})
		}
	}
	return all
}

// recursiveTarget returns the root if the target of a $recursiveRef has $recursiveAnchor, otherwise the target.
func (b *builder) recursiveTarget(s, next *jsonschema.Schema) *jsonschema.Schema {
	if next == s.RecursiveRef && next.RecursiveAnchor {
		if b.root.RecursiveAnchor {
			return b.root
		}
		b.uncertain = true
	}
	return next
}

// dynamicTarget returns the target of a $dynamicRef if validation starts at the root of the document: in the root's resource if that has the
// anchor, since it is the outermost. Resources between the root and the reference are ignored.
func (b *builder) dynamicTarget(s *jsonschema.Schema) *jsonschema.Schema {
	ref := s.DynamicRef
	if ref == nil {
		return nil
	}
	if ref.Anchor == "" || ref.Ref.DynamicAnchor != ref.Anchor {
		return ref.Ref
	}
	if target := b.dynamic[ref.Anchor]; target != nil {
		return target
	}
	b.uncertain = true
	return ref.Ref
}

// raw returns the JSON of a keyword of s in the document, nil if s belongs to another document.
func (b *builder) raw(s *jsonschema.Schema, keyword string) *mutate.JSON {
	if !strings.HasPrefix(s.Location, documentURL+"#") {
		return nil
	}
	return b.doc.At(schemaPointer(s.Location)).Get(keyword)
}

// names returns the members of a keyword in the order of the document, or as given if s belongs to another document.
func (b *builder) names(s *jsonschema.Schema, keyword string, sorted []string) []string {
	if len(sorted) == 0 {
		return nil
	}
	raw := b.raw(s, keyword)
	if raw == nil || len(raw.Members) != len(sorted) {
		return sorted
	}
	names := make([]string, len(raw.Members))
	for i, m := range raw.Members {
		names[i] = m.Name
	}
	return names
}
