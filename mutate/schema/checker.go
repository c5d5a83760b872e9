package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mutate"
)

// Checker reports how values break a schema, and only what every validator would agree on: two readers of a schema may differ over
// formats, over characters beyond ASCII, and over numbers that few can hold. A schema that [Compile] has to reject, because it cannot be
// satisfied or refers to another document, has a Checker all the same. It is immutable, and any number of goroutines may use it
// concurrently. It is made by [NewChecker]; nil, and the zero value, find nothing.
type Checker struct {
	invalid string // why the document is no JSON Schema
	doc     *mutate.JSON
	in      *jsonschema.Compiler
	schema  *jsonschema.Schema
	quick   *quick // decides most values at once; nil: the schema has more in it
	vague   bool   // a format, or a pattern that not all readers can run, may decide which branch holds
}

// Breach is one place where a value breaks a schema.
type Breach struct {
	At      string   // JSON pointer into the value
	Keyword string   // that is broken; "": several in a branch
	Text    string   // in a few words, with the place
	Want    []string // the types that the value there should have had; nil: another keyword is broken
	Names   []string // of the members that are missing, or that are too many
	Extra   bool     // the value has properties, or items, that the schema does not allow, and is right otherwise
}

// NewChecker reads a schema. It returns nil for nil.
func NewChecker(doc *mutate.JSON) *Checker {
	if doc == nil {
		return nil
	}
	c := &Checker{doc: doc}
	if !isPortable(doc, 0) {
		return c
	}
	plain, err := plainValue(doc)
	if err != nil {
		return c
	}
	c.in = newCompiler(func(pattern string) (jsonschema.Regexp, error) {
		p, err := newPattern(pattern)
		if err != nil || len(p.ahead) > 0 { // many libraries of expressions have no lookahead
			c.vague = true
			return anyText(pattern), nil
		}
		return p, nil
	})
	for name := range formats {
		// Whether a format is more than an annotation is up to the reader.
		c.in.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	for _, name := range libraryFormats {
		c.in.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.in.AddResource(documentURL, plain); err != nil {
		return c
	}
	if c.schema, err = c.in.Compile(documentURL); err != nil {
		c.invalid, c.schema = invalidSchema(err), nil
		return c
	}
	c.quick = readQuick(doc, "")
	doc.Walk(func(_ string, v *mutate.JSON) bool {
		c.vague = c.vague || v.Get("format") != nil
		return true
	})
	return c
}

// At returns a checker for a subschema of the document, nil if there is none at the JSON pointer.
func (c *Checker) At(pointer string) *Checker {
	if c == nil || c.schema == nil || c.doc.At(pointer) == nil {
		return nil
	}
	sub, err := c.in.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil
	}
	return &Checker{doc: c.doc, in: c.in, schema: sub, quick: readQuick(c.doc, pointer), vague: c.vague}
}

// Invalid returns why the document is no JSON Schema, "" if it is one, or if that is not certain.
func (c *Checker) Invalid() string {
	if c == nil {
		return ""
	}
	return c.invalid
}

// Report returns where v breaks the schema, sorted, wrong values before values too many. certain is false if the schema or the value
// cannot be judged, or if v breaks the schema, or not, depending on the reader: then there may be other breaches than those returned.
func (c *Checker) Report(v *mutate.JSON) (breaches []Breach, certain bool) {
	if c == nil || c.schema == nil {
		return nil, false
	}
	if c.quick != nil && c.quick.holds(v, 0) {
		return nil, true
	}
	if v == nil || !isPortable(v, 0) {
		return nil, false
	}
	plain, err := plainValue(v)
	if err != nil {
		return nil, false
	}
	report, broken := errors.AsType[*jsonschema.ValidationError](c.schema.Validate(plain))
	if !broken {
		return nil, true
	}
	x := examination{c: c, v: v, certain: true}
	x.collect(report)
	slices.SortFunc(x.sure, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), compareReports(a, b))
	})
	for _, e := range x.sure {
		breaches = append(breaches, breachOf(e))
	}
	return breaches, x.certain
}

// rank orders wrong values before values too many.
func rank(e *jsonschema.ValidationError) int {
	if _, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		return 1
	}
	return 0
}

// examination is the reading of one report.
type examination struct {
	c       *Checker
	v       *mutate.JSON
	sure    []*jsonschema.ValidationError
	certain bool
}

// collect adds the entries of a report on which all validators agree, and reports whether there is one.
func (x *examination) collect(e *jsonschema.ValidationError) bool {
	if len(e.Causes) == 0 {
		if !x.c.agreed(e, x.v) {
			x.certain = false
			return false
		}
		x.sure = append(x.sure, e)
		return true
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return x.branches(e)
	case *kind.Not, *kind.Contains, *kind.PropertyNames:
		if x.c.vague {
			x.certain = false
			return false
		}
		x.sure = append(x.sure, e)
		return true
	}
	found := false
	for _, cause := range e.Causes { // causes are in the order of a map
		found = x.collect(cause) || found
	}
	return found
}

// branches reads the report of a value that fits no branch, each of which has to fail for certain. If the value shows which branch was
// meant, what is wrong with that one is added.
func (x *examination) branches(e *jsonschema.ValidationError) bool {
	before := len(x.sure)
	var failed [][]*jsonschema.ValidationError
	for _, cause := range e.Causes {
		found := x.collect(cause)
		failed = append(failed, slices.Clone(x.sure[before:]))
		x.sure = x.sure[:before]
		if !found {
			x.certain = false
			return false
		}
	}
	if meant := branchMeant(e, failed); meant != nil {
		x.sure = append(x.sure, meant...)
	} else {
		x.sure = append(x.sure, e)
	}
	return true
}

// branchMeant returns what is wrong with the only branch whose constants the value has, and whose type, or else the only one of those
// whose members it has; nil: there are several, or none.
func branchMeant(e *jsonschema.ValidationError, failed [][]*jsonschema.ValidationError) []*jsonschema.ValidationError {
	here := func(s *jsonschema.ValidationError) bool { return slices.Equal(s.InstanceLocation, e.InstanceLocation) }
	for _, isOther := range []func(*jsonschema.ValidationError) bool{
		func(s *jsonschema.ValidationError) bool {
			_, constant := s.ErrorKind.(*kind.Const)
			return constant || here(s) && typesWanted(s) != nil
		},
		func(s *jsonschema.ValidationError) bool {
			_, required := s.ErrorKind.(*kind.Required)
			return required && here(s)
		},
	} {
		failed = slices.DeleteFunc(failed, func(branch []*jsonschema.ValidationError) bool { return slices.ContainsFunc(branch, isOther) })
		if len(failed) == 1 && len(e.Causes) > 1 {
			return failed[0]
		}
	}
	return nil
}

// agreed reports whether no validator would overlook an entry without causes.
func (c *Checker) agreed(e *jsonschema.ValidationError, v *mutate.JSON) bool {
	switch e.ErrorKind.(type) {
	case *kind.Format, *kind.ContentEncoding, *kind.ContentMediaType, *kind.ContentSchema:
		return false
	case *kind.RefCycle: // the schema refers to itself without end: nothing conforms or breaks it
		return false
	case *kind.OneOf, *kind.Not, *kind.Contains, *kind.MinContains, *kind.MaxContains, *kind.FalseSchema, *kind.PropertyNames:
		return !c.vague
	case *kind.MinLength, *kind.MaxLength, *kind.Pattern:
		// Some count characters, some the units of UTF-16, and classes of characters differ beyond ASCII. To some a line
		// ends before the newline that is its last character.
		at := v.At(pointerOf(e.InstanceLocation))
		_, isPattern := e.ErrorKind.(*kind.Pattern)
		return at != nil && !strings.ContainsFunc(at.Text, func(r rune) bool { return r >= utf8.RuneSelf }) &&
			!(isPattern && strings.HasSuffix(at.Text, "\n"))
	case *kind.MultipleOf:
		// Validators that divide binary fractions come to other ends.
		at := v.At(pointerOf(e.InstanceLocation))
		_, whole := at.Int()
		return at != nil && whole
	}
	return true
}

// anyText stands for a pattern that not all readers can run.
type anyText string

var _ jsonschema.Regexp = anyText("")

func (anyText) MatchString(string) bool { return true }
func (t anyText) String() string        { return string(t) }

// libraryFormats are the formats that the validator knows besides ours.
var libraryFormats = [...]string{
	"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date", "time",
	"date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver", "regex", "idn-email", "idn-hostname",
}

// invalidSchema says what is wrong with a schema, if that is certain.
func invalidSchema(err error) string {
	const enough = 200
	invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err)
	if !ok {
		_, anchor := errors.AsType[*jsonschema.AnchorNotFoundError](err)
		_, pointer := errors.AsType[*jsonschema.JSONPointerNotFoundError](err)
		if anchor || pointer {
			return fmt.Sprintf("%.*s", enough, strings.ReplaceAll(err.Error(), documentURL, ""))
		}
		return ""
	}
	e, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err)
	if !ok {
		return fmt.Sprintf("%.*s", enough, invalid.Err.Error())
	}
	for len(e.Causes) > 0 {
		e = slices.MinFunc(e.Causes, compareReports)
	}
	if _, ok := e.ErrorKind.(*kind.Format); ok {
		return ""
	}
	return "at /" + strings.Join(e.InstanceLocation, "/") + ": " + describe(e)
}

// compareReports orders the entries of a report, whose own order is a map's.
func compareReports(a, b *jsonschema.ValidationError) int {
	return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.SchemaURL, b.SchemaURL),
		cmp.Compare(describe(a), describe(b)))
}

func breachOf(e *jsonschema.ValidationError) Breach {
	where := "at the top"
	if len(e.InstanceLocation) > 0 {
		where = "at /" + strings.Join(e.InstanceLocation, "/")
	}
	b := Breach{At: pointerOf(e.InstanceLocation), Text: where + ": " + describe(e), Want: typesWanted(e)}
	_, b.Keyword = blamed(e)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		b.Names = slices.Sorted(slices.Values(k.Missing))
	case *kind.AdditionalProperties:
		b.Names, b.Extra = slices.Sorted(slices.Values(k.Properties)), true
	case *kind.FalseSchema:
		b.Extra = true
	}
	return b
}

// typesWanted returns the types that a value of another type should have had.
func typesWanted(e *jsonschema.ValidationError) (types []string) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return k.Want
	case *kind.AnyOf, *kind.OneOf:
		for _, cause := range e.Causes {
			if slices.Equal(cause.InstanceLocation, e.InstanceLocation) {
				types = append(types, typesWanted(cause)...)
			}
		}
		slices.Sort(types) // the order of causes is a map's
	case *kind.Reference, *kind.Group:
		for _, cause := range e.Causes {
			types = append(types, typesWanted(cause)...)
		}
	}
	return types
}

// describe says in a few words what an entry of a report is about.
func describe(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		want := slices.Clone(k.Want)
		slices.Sort(want)
		return fmt.Sprintf("got %s, want %s", k.Got, strings.Join(want, " or "))
	case *kind.Required:
		missing := slices.Clone(k.Missing)
		slices.Sort(missing)
		return "missing " + strings.Join(missing, ", ")
	case *kind.AdditionalProperties:
		var extra []string
		for _, name := range k.Properties {
			extra = append(extra, strconv.Quote(name))
		}
		slices.Sort(extra)
		return "unknown property " + shortened(strings.Join(extra, ", "), 80)
	case *kind.AnyOf:
		return "it fits no branch of anyOf"
	case *kind.OneOf:
		return "it does not fit exactly one branch of oneOf"
	}
	words := e.ErrorKind.KeywordPath()
	keyword := ""
	if len(words) > 0 {
		keyword = words[len(words)-1]
	}
	return "it breaks " + keyword
}

// shortened returns the first n bytes of a text, and dots if that is not all.
func shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}

// isPortable reports whether all readers read the same: the text is Unicode, no number is beyond what most can hold, no member stands
// twice, and nothing is nested too deep.
func isPortable(v *mutate.JSON, depth int) bool {
	if depth > 200 {
		return false
	}
	switch v.Kind {
	case mutate.Number:
		return len(v.Text) <= 400 && isModerate(v.Text)
	case mutate.String:
		return utf8.ValidString(v.Text)
	case mutate.Array:
		return !slices.ContainsFunc(v.Items, func(item *mutate.JSON) bool { return item != nil && !isPortable(item, depth+1) })
	case mutate.Object:
		return !hasDuplicate(v) && !slices.ContainsFunc(v.Members, func(m mutate.Member) bool { return m.Value != nil && !isPortable(m.Value, depth+1) })
	}
	return true
}

// isModerate reports whether a double holds about that number.
func isModerate(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && (f < 1e300 && f > -1e300)
}

// hasDuplicate reports whether an object has two members of one name.
func hasDuplicate(v *mutate.JSON) bool {
	return v.HasDuplicateNames()
}
