package schema

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mutate"
)

// Violation is one way to break one keyword of a schema, proven at compile time: the validator refused a value that was
// made so, and named the keyword.
type Violation struct {
	At      string // JSON pointer into the value, to where the keyword applies
	Keyword string // "then", "else" and the like stand for the part of if that is broken
	How     string // what is done, for people: "min-1", "case", "without name"
	Where   string // JSON pointer into the schema, to the subschema that has the keyword
	Only    bool   // the keyword can be broken without breaking another one
	site    *site
	breach  *breach
	example *mutate.JSON
}

// String returns the keyword and the pointer, as in "maximum at /n".
func (v Violation) String() string { return v.Keyword + " at " + pointerOrRoot(v.At) }

// Violations returns every way that was found to break the schema, in the order of the document. The caller must not
// change the slice.
func (s *Schema) Violations() []Violation { return s.violations }

// Break draws a value that breaks the keyword as v says, and, if v.Only is set and it came to that soon enough, nothing
// else. v must be one of the schema's own Violations.
func (s *Schema) Break(r *rand.Rand, v Violation) *mutate.JSON {
	const attempts = 12
	var fallback *mutate.JSON
	for try := range attempts {
		around := newDraw(r)
		if try >= attempts/2 {
			around.left = 0 // what surrounds the breach may be what is in the way
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

// tryBreak draws what breaks the keyword, and what surrounds it. It returns what it drew, nil if it did not come to
// anything, whether the validator refuses that for the violation's keyword, and whether it has nothing else against it.
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

// reported reports whether an entry of a validation report is the breach, at the place of the pointer.
func (b *breach) reported(e *jsonschema.ValidationError, pointer string) bool {
	location, keyword := blamed(e)
	if location != b.location || keyword != b.report {
		return false
	}
	if one, ok := e.ErrorKind.(*kind.OneOf); ok && (len(one.Subschemas) > 0) != b.several {
		return false
	}
	switch keyword {
	case "propertyNames": // whose place the validator does not report reliably
		return true
	case "false":
		return strings.HasPrefix(pointerOf(e.InstanceLocation), pointer)
	}
	return pointerOf(e.InstanceLocation) == pointer
}

// firstBroken returns what the validator blames first, "" if v conforms.
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

// findViolations tries every breach at every site and keeps what the validator confirms.
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

// Bounds on how many places and ways are looked at, and on the size of all the values that are validated in order to
// find out. A schema beyond them is tested in part.
const (
	maxTrialNodes   = 200_000 // by charge
	maxWitnessNodes = 2_000_000
	maxSites        = 1500
	maxViolations   = 4096
)

// charge returns what drawing and validating n nodes counts, whatever came of it.
func charge(n, weight int) int { return (1 + n) * (1 + weight/10) }

// sizeOf returns the number of nodes, sixteen bytes of text counted as one more.
func sizeOf(v *mutate.JSON) int {
	n := 0
	v.Walk(func(_ string, v *mutate.JSON) bool {
		n += 1 + len(v.Text)/16
		return true
	})
	return n
}

// site is a place in a value, and the way to it.
type site struct {
	up      *site
	goal    *goal
	variant *variant
	name    string // of the member that leads here
	index   int    // or of the item; -1 if it is a member
	pointer string
}

// findSites walks the goals from the root, each of them once.
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

// below returns the places of the members and items of a site.
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

// wrap puts a value at the site into values that conform, up to the root.
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

// drawHolding returns an object that has value as the member of that name.
func (o *object) drawHolding(d *draw, name string, value *mutate.JSON) *mutate.JSON {
	i, listed := o.index[name]
	if !listed {
		i = -1
	}
	v := o.drawWith(d, i)
	v.Set(name, value)
	return v
}
