package schema

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mutate"
)

// Violation is a way to violate a keyword of a schema. It was verified at compile time: the validator rejected a value that was made this
// way, and named the keyword.
type Violation struct {
	At      string // JSON pointer into the value, to the part to which the keyword applies
	Keyword string // the violated keyword; for if, the violated part, such as "then"
	How     string // the kind of violation, for users: "min-1", "case", "without name"
	Where   string // JSON pointer into the schema, to the subschema with the keyword
	Only    bool   // the keyword can be violated without violating another one
	site    *site
	breach  *breach
	example *mutate.JSON
}

// String returns the keyword and the pointer, as in "maximum at /n".
func (v Violation) String() string { return v.Keyword + " at " + pointerOrRoot(v.At) }

// Violations returns all ways to violate the schema that were found, in the order of the document. The caller must not modify the slice.
func (s *Schema) Violations() []Violation { return s.violations }

// Break returns a random value that violates the keyword as v says. If v.Only is set, it tries to violate no other keyword, which may fail. v
// must be one of the schema's Violations.
func (s *Schema) Break(r *rand.Rand, v Violation) *mutate.JSON {
	const attempts = 12
	var fallback *mutate.JSON
	for try := range attempts {
		around := newDraw(r)
		if try >= attempts/2 {
			around.left = 0 // the rest of the value may be the obstacle
		}
		value, broken, only := s.tryBreak(newDraw(r), around, &v)
		if broken && (only || !v.Only) {
			return value
		}
		if broken && fallback == nil {
			fallback = value
		}
	}
	if fallback != nil {
		return fallback
	}
	return v.example.Clone()
}

// tryBreak draws a value that violates the keyword, and the value that contains it. It returns the value, nil if it found none, whether the
// validator rejects it for the violation's keyword, and whether it rejects it for nothing else.
func (s *Schema) tryBreak(d, around *draw, v *Violation) (value *mutate.JSON, broken, only bool) {
	inner := v.breach.make(d)
	if inner == nil {
		return nil, false, false
	}
	value = v.site.wrap(around, inner)
	plain, err := plainValue(value)
	if err != nil {
		return value, false, false
	}
	report, _ := s.oracle.Validate(plain).(*jsonschema.ValidationError)
	if report == nil {
		return value, false, false
	}
	if confirm := v.breach.confirm; confirm != nil {
		part, err := plainValue(inner)
		broken = err == nil && confirm(part)
		return value, broken, broken
	}
	only = true
	eachReport(report, func(e *jsonschema.ValidationError) bool {
		if v.breach.reported(e, v.site.pointer) {
			broken = true
			return false
		}
		only = only && len(e.Causes) > 0 && !opaque(e)
		return true
	})
	return value, broken, broken && only
}

// reported reports whether an entry of a validation report is the breach at the pointer.
func (b *breach) reported(e *jsonschema.ValidationError, pointer string) bool {
	location, keyword := blamed(e)
	if location != b.location || keyword != b.report {
		return false
	}
	if one, ok := e.ErrorKind.(*kind.OneOf); ok && (len(one.Subschemas) > 0) != b.several {
		return false
	}
	switch keyword {
	case "propertyNames": // the validator does not report its position reliably
		return true
	case "false":
		return strings.HasPrefix(pointerOf(e.InstanceLocation), pointer)
	}
	return pointerOf(e.InstanceLocation) == pointer
}

// firstBroken returns the first keyword in the validator's report, "" if v conforms.
func (s *Schema) firstBroken(v *mutate.JSON) string {
	plain, err := plainValue(v)
	if err != nil {
		return err.Error()
	}
	report, _ := s.oracle.Validate(plain).(*jsonschema.ValidationError)
	if report == nil {
		return ""
	}
	first := leaves(report, v)[0]
	keyword, pointer := first.keyword, first.pointer
	if keyword == "false" || keyword == "" {
		location := schemaPointer(first.location)
		keyword = unescapePointer(location[strings.LastIndexByte(location, '/')+1:])
	}
	return keyword + " at " + pointerOrRoot(pointer)
}

// findViolations tries every breach at every site and keeps those that the validator confirms.
func (s *Schema) findViolations() {
	const attempts, more = 10, 3
	budget := maxTrialNodes
	r := rand.New(rand.NewPCG(7, 8))
	type key struct{ pointer, location, keyword, how string }
	known := map[key]bool{}
	for _, at := range s.sites {
		for _, b := range slices.Concat(at.variant.breaches, at.defects()) {
			k := key{at.pointer, b.location, b.keyword, b.how}
			if known[k] || len(s.violations) >= maxViolations || budget <= 0 {
				continue
			}
			v := Violation{At: at.pointer, Keyword: b.keyword, How: b.how, Where: schemaPointer(b.location), site: at, breach: b}
			for try, end := 0, attempts; try < end && !v.Only && budget > 0; try++ {
				d, around := newDraw(r), newDraw(r)
				around.left = 0
				if try%2 == 0 {
					d.left = 0
				}
				left := d.left + around.left
				value, broken, only := s.tryBreak(d, around, &v)
				budget -= charge(max(sizeOf(value), left-d.left-around.left), s.weight) + s.work/10
				if broken && (v.example == nil || only) {
					if v.example == nil {
						end = min(attempts, try+1+more)
					}
					v.example, v.Only = value, only
				}
			}
			if v.example != nil {
				known[k] = true
				s.violations = append(s.violations, v)
			}
		}
	}
}

// Limits of the number of sites and breaches, and of the total size of the values that are validated. For a schema beyond them, not all
// violations are found.
const (
	maxTrialNodes   = 200_000 // in units of charge
	maxWitnessNodes = 2_000_000
	maxSites        = 1500
	maxViolations   = 4096
)

// charge returns the cost of drawing and validating n nodes.
func charge(n, weight int) int { return (1 + n) * (1 + weight/10) }

// sizeOf returns the number of nodes; sixteen bytes of text count as one more.
func sizeOf(v *mutate.JSON) int {
	n := 0
	v.Walk(func(_ string, v *mutate.JSON) bool {
		n += 1 + len(v.Text)/16
		return true
	})
	return n
}

// site is a position in a value, and the path to it.
type site struct {
	up      *site
	goal    *goal
	variant *variant
	name    string // name of the member, if it is one
	index   int    // index of the item; -1 for a member
	pointer string
}

// findSites visits the goals from the root, each of them once.
func (s *Schema) findSites() {
	seen := map[*goal]bool{}
	queue := []*site{{goal: s.root, index: -1}}
	for len(queue) > 0 && len(s.sites) < maxSites {
		at := queue[0]
		queue = queue[1:]
		if seen[at.goal] {
			continue
		}
		seen[at.goal] = true
		for _, v := range at.goal.variants {
			here := *at
			here.variant = v
			if v.breaches == nil {
				v.findBreaches()
			}
			s.sites = append(s.sites, &here)
			queue = append(queue, here.below()...)
		}
	}
}

// below returns the sites of the members and items of a site.
func (at *site) below() []*site {
	var all []*site
	v := at.variant
	if v.types&objectType != 0 && !v.closed {
		for _, m := range slices.Concat(v.object.members, v.object.extras) {
			if m.goal.possible() && (m.usable || v.object.unlisted(m.name)) {
				all = append(all, &site{up: at, goal: m.goal, name: m.name, index: -1, pointer: at.pointer + "/" + pointerEscape.Replace(m.name)})
			}
		}
	}
	if v.types&arrayType != 0 && !v.closed {
		for i := range len(v.array.prefix) + 1 {
			if g := v.array.item(i); g.possible() && (v.array.most < 0 || i < v.array.most) {
				all = append(all, &site{up: at, goal: g, index: i, pointer: at.pointer + "/" + itoa(i)})
			}
		}
	}
	return all
}

func (o *object) unlisted(name string) bool {
	_, listed := o.index[name]
	return !listed
}

// wrap returns a value that contains the given value at the site, and conforms otherwise.
func (at *site) wrap(d *draw, value *mutate.JSON) *mutate.JSON {
	for ; at.up != nil; at = at.up {
		d.depth = 0
		parent := at.up.variant
		if at.index >= 0 {
			value = parent.array.drawHolding(d, at.index, value)
		} else {
			value = parent.object.drawHolding(d, at.name, value)
		}
	}
	return value
}

// drawHolding returns an array with value as its i-th item.
func (a *array) drawHolding(d *draw, i int, value *mutate.JSON) *mutate.JSON {
	v := a.drawOf(d, max(i+1, a.size(d)))
	for len(v.Items) <= i {
		v.Items = append(v.Items, mutate.NewNull())
	}
	v.Items[i] = value
	return v
}

// drawHolding returns an object with value as the member of that name.
func (o *object) drawHolding(d *draw, name string, value *mutate.JSON) *mutate.JSON {
	i, listed := o.index[name]
	if !listed {
		i = -1
	}
	v := o.drawWith(d, i)
	v.Set(name, value)
	return v
}
