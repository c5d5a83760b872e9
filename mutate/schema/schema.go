package schema

import (
	"fmt"
	"math/rand/v2"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/teaselfuzz/teasel/mutate"
)

// Mode selects which values [Schema.Generate] makes.
type Mode uint8

// The modes. Conform values satisfy the schema. Adversarial values violate one keyword, or conform and are hostile. In Mixed values each node
// is adversarial with a probability of one in five.
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

// Schema is a compiled schema that can be satisfied. It is immutable: any number of goroutines may use it concurrently, each with a generator
// of its own. It is made by [Compile]; the zero value is not usable.
type Schema struct {
	oracle     *jsonschema.Schema
	root       *goal
	weight     int // maximum number of subschemas against which one value is validated
	work       int // minimum number of validations of a value with everything in it
	sites      []*site
	violations []Violation
	unmet      []*SkipError
}

// SkipError tells why a schema, or a part of one, cannot be used: it cannot be satisfied, or it is not supported.
type SkipError struct {
	Keyword string // the keyword that is the reason; "": there is no single one
	Where   string // JSON pointer to the subschema with the keyword
	Reason  string // for users
}

// Error returns reason, keyword and position on one line.
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

// Compile compiles a schema, and verifies that it can be satisfied by finding a value that validates. The error is a [*SkipError]: the text is
// not a schema, refers to another document, has a pattern that cannot be sampled, allows only infinite values, or no value was found.
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

// Unmet returns the optional parts of the schema for which no value was found. Generated values do not contain them.
func (s *Schema) Unmet() []*SkipError { return s.unmet }

// Generate returns a random value. broken is "" if the value conforms, otherwise the violated keyword and the JSON pointer into v, as in
// "maximum at /n"; a Mixed value may violate further keywords. Values of mode Conform conform, and Invalid counts as Conform.
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

// Validate reports whether v conforms: it returns nil if it does. Numbers are compared by their exact value. The error is the validator's
// [*jsonschema.ValidationError], or tells that v cannot be validated: it contains a Raw, or a number with an exponent that is too large for
// exact arithmetic.
func (s *Schema) Validate(v *mutate.JSON) error {
	plain, err := plainValue(v)
	if err != nil {
		return err
	}
	return s.oracle.Validate(plain)
}
