package schema

import (
	"fmt"
	"math/rand/v2"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// Mode says what [Schema.Generate] makes.
type Mode uint8

// The modes. Conform values meet the schema. Adversarial ones break one keyword, or conform and are hostile. In Mixed
// ones each node is adversarial with a probability of one in five.
const (
	Invalid Mode = iota
	Conform
	Adversarial
	Mixed
)

var modeNames = [...]string{"invalid", "conform", "adversarial", "mixed"}

// String returns the mode's name in lower case.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode reads what [Mode.String] wrote; "invalid" is not taken.
func ParseMode(name string) (Mode, error) {
	for m := Conform; m <= Mixed; m++ {
		if modeNames[m] == name {
			return m, nil
		}
	}
	return Invalid, fmt.Errorf("no such mode %q: want conform, adversarial or mixed", name)
}

// Schema is a compiled schema that can be met. It does not change: any number of goroutines may use it at once, each
// with a generator of its own. The zero value is not usable; [Compile] makes one.
type Schema struct {
	oracle     *jsonschema.Schema
	root       *goal
	weight     int // the most subschemas that one value is validated against
	work       int // how many it is at least with all that is in it
	sites      []*site
	violations []Violation
	unmet      []*SkipError
}

// SkipError says why a schema, or a part of one, cannot be used: it cannot be met, or it is not understood.
type SkipError struct {
	Keyword string // what stands in the way, "" if no single keyword does
	Where   string // JSON pointer to the subschema that has the keyword
	Reason  string // for people
}

// Error returns reason, keyword and place on one line.
func (e *SkipError) Error() string {
	switch {
	case e.Keyword != "":
		return fmt.Sprintf("%s (%s at %s)", e.Reason, e.Keyword, pointerOrRoot(e.Where))
	case e.Where != "":
		return fmt.Sprintf("%s (at %s)", e.Reason, e.Where)
	}
	return e.Reason
}

func pointerOrRoot(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return pointer
}

// Compile reads a schema and proves that it can be met by finding a value that validates. The error is a [*SkipError]:
// the text is no schema, refers to another document, has a pattern that cannot be sampled, never ends, or no value for
// it was found.
func Compile(raw []byte) (*Schema, error) {
	doc, draft, skip := readDocument(raw)
	if skip != nil {
		return nil, skip
	}
	oracle, compiler, skip := compileOracle(doc, draft)
	if skip != nil {
		return nil, skip
	}
	weight, work, skip := weigh(oracle)
	if skip != nil {
		return nil, skip
	}
	b := newBuilder(doc, oracle, compiler)
	b.weight = weight
	root, skip := b.build()
	if skip != nil {
		return nil, skip
	}
	s := &Schema{oracle: oracle, root: root, weight: weight, work: work, unmet: b.lost}
	s.findSites()
	s.findViolations()
	return s, nil
}

// Unmet returns the parts of the schema that no value was found for. They are optional: what is generated goes without.
func (s *Schema) Unmet() []*SkipError { return s.unmet }

// Generate draws a value. broken is "" if it conforms, else the keyword that it breaks and the JSON pointer in v to
// where, as in "maximum at /n"; a Mixed value may break more than the one that is named. Conform, and Invalid, which
// counts as Conform, break nothing.
func (s *Schema) Generate(r *rand.Rand, m Mode) (v *mutate.JSON, broken string) {
	switch m {
	case Adversarial:
		if len(s.violations) > 0 && r.IntN(3) > 0 {
			chosen := &s.violations[r.IntN(len(s.violations))]
			return s.Break(r, *chosen), chosen.String()
		}
		d := newDraw(r)
		d.hostile = true
		return s.root.draw(d), ""
	case Mixed:
		d := newDraw(r)
		d.mixed = true
		v = s.root.draw(d)
		if d.broke > 0 {
			broken = s.firstBroken(v)
		}
		return v, broken
	default:
		return s.root.draw(newDraw(r)), ""
	}
}

// Validate asks the validator whether v conforms. Numbers are compared by their exact value. The error is the
// validator's [*jsonschema.ValidationError], or says that v cannot be judged: it holds a Raw or a number whose exponent
// is beyond what is reasonable to calculate with.
func (s *Schema) Validate(v *mutate.JSON) error {
	plain, err := plainValue(v)
	if err != nil {
		return err
	}
	return s.oracle.Validate(plain)
}
