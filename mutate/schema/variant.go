package schema

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// types is a set of JSON Schema types, in which integers and other numbers are distinct.
type types uint8

const (
	nullType types = 1 << iota
	boolType
	intType
	fractionType
	stringType
	arrayType
	objectType
	allTypes    = objectType<<1 - 1
	numberTypes = intType | fractionType
)

var typeNames = []struct {
	name string
	set  types
}{{"null", nullType}, {"boolean", boolType}, {"integer", intType}, {"number", numberTypes}, {"string", stringType}, {"array", arrayType}, {"object", objectType}}

// typesOf returns the types that the keyword allows.
func typesOf(s *jsonschema.Schema) types {
	if s.Types == nil || s.Types.IsEmpty() {
		return allTypes
	}
	var set types
	for _, name := range s.Types.ToStrings() {
		for _, known := range typeNames {
			if known.name == name {
				set |= known.set
			}
		}
	}
	return set
}

// variant is one way to satisfy a goal, with all its keywords merged.
type variant struct {
	goal     *goal
	way      partial
	types    types // allowed types that can be satisfied
	hinted   types // types to which the keywords apply
	values   []*mutate.JSON
	closed   bool // only the given values are allowed: enum or const
	samples  []*mutate.JSON
	numbers  numbers
	text     *text
	array    *array
	object   *object
	check    bool // drawn values must be checked
	twisted  bool // the variant violates a keyword of the goal on purpose
	dead     bool // no witness was found
	whole    bool // to check a value means to validate all of it
	breaches []*breach
	height   int // nesting depth of the least nested value
	dice     []types
	flat     []types // the types of the least nested values
}

// unfold makes the variants of a goal, and thereby the goals of their members.
func (b *builder) unfold(g *goal) {
	ways := b.ways(g, nil)
	if len(ways) == 0 {
		g.why = b.noWay(g)
	}
	for _, way := range ways {
		if v := b.variant(g, way, false); v != nil {
			g.variants = append(g.variants, v)
		}
	}
	for _, d := range b.defectsOf(ways) {
		for _, way := range b.ways(g, &d.twist) {
			if v := b.variant(g, way, true); v != nil && len(d.variants) < 4 {
				d.variants = append(d.variants, v)
			}
		}
		if len(d.variants) > 0 {
			g.defects = append(g.defects, d)
		}
	}
}

// ways combines the ways through all the sources of a goal.
func (b *builder) ways(g *goal, t *twist) []partial {
	ways := []partial{{}}
	for _, s := range g.sources {
		ways = cross(ways, b.expand(s, nil, t))
	}
	return ways
}

// noWay explains why there is no way to satisfy a goal.
func (b *builder) noWay(g *goal) *SkipError {
	for _, s := range g.sources {
		if s.Bool != nil {
			return &SkipError{Where: schemaPointer(s.Location), Reason: "the schema is false, which nothing meets"}
		}
		if len(b.expand(s, nil, nil)) == 0 {
			return &SkipError{Keyword: "$ref", Where: schemaPointer(s.Location), Reason: "the references lead in a circle, or to what nothing meets"}
		}
	}
	return nil
}

// variant merges the keywords of a way. If they contradict each other, it returns nil and sets the reason of the goal.
func (b *builder) variant(g *goal, way partial, twisted bool) *variant {
	v := &variant{goal: g, way: way, types: allTypes, twisted: twisted}
	blame := func(s *jsonschema.Schema, keyword, reason string) *variant {
		if g.why == nil && !twisted {
			g.why = &SkipError{Keyword: keyword, Where: schemaPointer(s.Location), Reason: reason}
		}
		return nil
	}
	for _, a := range way.atoms {
		if v.types &= typesOf(a); v.types == 0 {
			return blame(a, "type", "no type is left that all of the schemas allow")
		}
		v.hinted |= hintedBy(a)
	}
	for _, n := range way.nots {
		if n.Bool != nil && *n.Bool {
			where, keyword := holder(schemaPointer(n.Location))
			if g.why == nil && !twisted {
				g.why = &SkipError{Keyword: keyword, Where: where, Reason: "it must not meet a schema that everything meets"}
			}
			return nil
		}
		if only := typesOnly(n); only != 0 {
			v.types &^= only
		}
	}
	for _, a := range way.atoms {
		if a.Enum != nil || a.Const != nil {
			if !b.enumerate(v, a) {
				return blame(a, "enum", "none of the values is allowed by the other keywords")
			}
			break
		}
	}
	for _, a := range way.atoms {
		b.gatherSamples(v, a)
	}
	b.mergeNumbers(v)
	b.mergeText(v)
	b.mergeArray(v)
	b.mergeObject(v)
	if v.types == 0 && !v.closed {
		return blame(contradiction(v), contradicted(v), "the keywords contradict each other")
	}
	v.check = len(way.nots) > 0 || v.mustCheck()
	return v
}

// holder returns the subschema and the keyword that contain the subschema at the pointer.
func holder(pointer string) (where, keyword string) {
	for {
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return "", ""
		}
		pointer, keyword = pointer[:i], unescapePointer(pointer[i+1:])
		if _, err := strconv.Atoi(keyword); err != nil {
			return pointer, keyword
		}
	}
}

// hintedBy returns the types to which the keywords of s apply.
func hintedBy(s *jsonschema.Schema) types {
	var hinted types
	if s.Properties != nil || s.Required != nil || s.PatternProperties != nil || s.AdditionalProperties != nil || s.PropertyNames != nil ||
		s.MinProperties != nil || s.MaxProperties != nil || s.DependentRequired != nil || s.DependentSchemas != nil || s.Dependencies != nil || s.UnevaluatedProperties != nil {
		hinted |= objectType
	}
	if s.Items != nil || s.Items2020 != nil || s.PrefixItems != nil || s.Contains != nil || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems || s.UnevaluatedItems != nil {
		hinted |= arrayType
	}
	if s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil || s.Format != nil || s.ContentEncoding != nil || s.ContentMediaType != nil {
		hinted |= stringType
	}
	if s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil {
		hinted |= numberTypes
	}
	return hinted
}

// typesOnly returns the types of a schema whose only keyword is type.
func typesOnly(s *jsonschema.Schema) types {
	if s.Types == nil || hintedBy(s) != 0 || s.Const != nil || s.Enum != nil || s.Not != nil || s.If != nil || s.Ref != nil || s.DynamicRef != nil ||
		s.RecursiveRef != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 {
		return 0
	}
	return typesOf(s)
}

func contradiction(v *variant) *jsonschema.Schema {
	if len(v.way.atoms) > 0 {
		return v.way.atoms[0]
	}
	return v.goal.sources[0]
}

// contradicted names the first pair of bounds with no value between them, "" if there is none.
func contradicted(v *variant) string {
	n := &v.numbers
	switch {
	case n.low != nil && n.high != nil && n.low.Cmp(n.high) >= 0:
		return "minimum"
	case n.step != nil && (n.low != nil || n.high != nil) && v.text == nil:
		return "multipleOf"
	case v.text != nil && v.text.max >= 0 && v.text.min > v.text.max:
		return "minLength"
	case v.array != nil && v.array.max >= 0 && v.array.min > v.array.max:
		return "minItems"
	case v.object != nil && v.object.max >= 0 && v.object.min > v.object.max:
		return "minProperties"
	}
	return ""
}

// literals returns the values of enum or const as written in the document.
func (b *builder) literals(s *jsonschema.Schema) []*mutate.JSON {
	if s.Const != nil {
		if raw := b.raw(s, "const"); raw != nil {
			return []*mutate.JSON{raw}
		}
		return []*mutate.JSON{treeOf(*s.Const)}
	}
	if raw := b.raw(s, "enum"); raw != nil {
		return raw.Items
	}
	return treeOf(s.Enum.Values).Items
}

// enumerate sets the values of the variant: those of a that satisfy the whole goal and the variant.
func (b *builder) enumerate(v *variant, a *jsonschema.Schema) bool {
	v.closed = true
	for _, value := range b.literals(a) {
		if v.admits(value) {
			v.values = append(v.values, value)
		}
	}
	return len(v.values) > 0
}

// admits reports whether value satisfies all keywords of the variant.
func (v *variant) admits(value *mutate.JSON) bool {
	plain, err := plainValue(value)
	if err != nil {
		return false
	}
	for _, s := range v.way.atoms {
		if !v.twisted && s.Validate(plain) != nil {
			return false
		}
	}
	return v.refuses(plain)
}

// refuses reports whether value satisfies none of the negated subschemas.
func (v *variant) refuses(plain any) bool {
	for _, n := range v.way.nots {
		if n.Validate(plain) == nil {
			return false
		}
	}
	return true
}

// accepts reports whether a drawn value satisfies the keywords that drawing does not take into account.
func (v *variant) accepts(value *mutate.JSON) bool {
	whole := v.whole
	switch value.Kind {
	case mutate.String:
		whole = whole || v.text != nil && v.text.check
	case mutate.Array:
		whole = whole || v.array != nil && v.array.check
	case mutate.Object:
		whole = whole || v.object != nil && v.object.check
	}
	whole = whole && !v.twisted
	if !whole && len(v.way.nots) == 0 {
		return true
	}
	plain, err := plainValue(value)
	if err != nil {
		return false
	}
	if whole {
		return v.goal.valid(plain)
	}
	return v.refuses(plain)
}

func (g *goal) valid(plain any) bool {
	for _, s := range g.sources {
		if s.Validate(plain) != nil {
			return false
		}
	}
	return true
}

// gatherSamples collects the values of default and examples that conform.
func (b *builder) gatherSamples(v *variant, a *jsonschema.Schema) {
	if v.closed {
		return
	}
	var found []*mutate.JSON
	if raw := b.raw(a, "default"); raw != nil {
		found = append(found, raw)
	}
	if raw := b.raw(a, "examples"); raw != nil {
		found = append(found, raw.Items...)
	}
	for _, value := range found {
		if v.admits(value) {
			v.samples = append(v.samples, value)
		}
	}
}

func (b *builder) mergeNumbers(v *variant) {
	n := &v.numbers
	for _, a := range v.way.atoms {
		n.raise(a.Minimum, false)
		n.raise(a.ExclusiveMinimum, true)
		n.lower(a.Maximum, false)
		n.lower(a.ExclusiveMaximum, true)
		n.divide(a.MultipleOf)
		if a.Format != nil && formats[a.Format.Name].bits > 0 {
			limit := new(big.Int).Lsh(big.NewInt(1), uint(formats[a.Format.Name].bits-1))
			n.lower(new(big.Rat).SetInt(new(big.Int).Sub(limit, big.NewInt(1))), false)
			n.raise(new(big.Rat).SetInt(limit.Neg(limit)), false)
			n.divide(big.NewRat(1, 1))
		}
	}
	n.settle(v.types&intType != 0, v.types&fractionType != 0)
	if n.ints == nil {
		v.types &^= intType
	}
	if len(n.fractions) == 0 {
		v.types &^= fractionType
	}
}

// settleRivals removes negated subschemas that no value of the variant can satisfy, so that they need not be validated.
func (v *variant) settleRivals() {
	v.way.nots = slices.DeleteFunc(slices.Clone(v.way.nots), func(n *jsonschema.Schema) bool { return v.excludes(n, 0) })
	if len(v.way.nots) == 0 && !v.mustCheck() {
		v.check = false
	}
}

func (v *variant) mustCheck() bool {
	return v.text != nil && v.text.check || v.array != nil && v.array.check || v.object != nil && v.object.check
}

// excludes reports whether it is certain that no value of the variant satisfies s. depth limits the search.
func (v *variant) excludes(s *jsonschema.Schema, depth int) bool {
	if s.Bool != nil {
		return !*s.Bool
	}
	if depth > 4 || v.types == 0 && !v.closed {
		return false
	}
	if v.closed {
		return !slices.ContainsFunc(v.values, func(value *mutate.JSON) bool {
			plain, err := plainValue(value)
			return err != nil || s.Validate(plain) == nil
		})
	}
	if v.types&typesOf(s) == 0 {
		return true
	}
	all := func(subs []*jsonschema.Schema) bool {
		return len(subs) > 0 && !slices.ContainsFunc(subs, func(sub *jsonschema.Schema) bool { return !v.excludes(sub, depth+1) })
	}
	some := func(subs ...*jsonschema.Schema) bool {
		return slices.ContainsFunc(subs, func(sub *jsonschema.Schema) bool { return sub != nil && v.excludes(sub, depth+1) })
	}
	return some(s.Ref) || some(s.AllOf...) || all(s.AnyOf) || all(s.OneOf) || v.types == objectType && v.object.excludes(s, depth)
}
