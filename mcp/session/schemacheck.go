package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// SchemaCheck holds values against a JSON Schema, and says so only when every validator would agree.
type SchemaCheck struct {
	Broken  string // why it is no JSON Schema; "": it is one
	schema  *jsonschema.Schema
	plain   *plainSchema // decides most values at once; nil: the schema has more in it
	formats bool         // what a format means, or a pattern that we cannot run, may decide which branch holds
}

// CompileSchema reads a schema. What cannot be judged for certain, such as a reference to another server, gives a check
// that passes everything.
func CompileSchema(v *mutate.JSON) *SchemaCheck {
	if v == nil {
		return nil
	}
	c := &SchemaCheck{plain: readPlain(v, 0)}
	doc, ok := goValue(v, 0)
	if !ok {
		return c
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			// Patterns are those of JavaScript. One that Go lacks the words for matches everything here.
			c.formats = true
			return anyText(pattern), nil
		}
		return re, nil
	})
	for _, name := range formatNames {
		// Whether a format is more than a remark is up to the server.
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	const url = "teasel:///schema.json"
	if err := compiler.AddResource(url, doc); err != nil {
		return c
	}
	schema, err := compiler.Compile(url)
	if err != nil {
		c.Broken = brokenSchema(err)
		return c
	}
	c.schema = schema
	v.Walk(func(_ string, v *mutate.JSON) bool {
		c.formats = c.formats || v.Get("format") != nil
		return true
	})
	return c
}

var formatNames = []string{
	"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date", "time",
	"date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver", "regex", "idn-email", "idn-hostname",
}

var errNoLoader = errors.New("other documents are not loaded")

type noLoader struct{}

var _ jsonschema.URLLoader = noLoader{}

func (noLoader) Load(string) (any, error) { return nil, errNoLoader }

type anyText string

var _ jsonschema.Regexp = anyText("")

func (anyText) MatchString(string) bool { return true }
func (t anyText) String() string        { return string(t) }

// brokenSchema says what is wrong with a schema when that is certain.
func brokenSchema(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		var anchor *jsonschema.AnchorNotFoundError
		var pointer *jsonschema.JSONPointerNotFoundError
		if errors.As(err, &anchor) || errors.As(err, &pointer) {
			return jsonrpc.CutBytes(err.Error(), 200)
		}
		return ""
	}
	var e *jsonschema.ValidationError
	if errors.As(invalid.Err, &e) {
		for len(e.Causes) > 0 {
			e = slices.MinFunc(e.Causes, compareErrors)
		}
		if _, ok := e.ErrorKind.(*kind.Format); ok {
			return ""
		}
		return "at /" + strings.Join(e.InstanceLocation, "/") + ": " + describeBreach(e)
	}
	return jsonrpc.CutBytes(invalid.Err.Error(), 200)
}

// compareErrors orders the errors of a validation, whose own order is a map's.
func compareErrors(a, b *jsonschema.ValidationError) int {
	return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.SchemaURL, b.SchemaURL),
		cmp.Compare(describeBreach(a), describeBreach(b)))
}

// Breach is where and how a value breaks a schema.
type Breach struct {
	Text  string
	at    string   // JSON pointer
	want  []string // the types that the value there should have had; nil: it breaks something else
	Extra bool     // it only has properties that the schema does not allow
}

// Check returns how v breaks the schema; false when it does not, or when validators could disagree.
func (c *SchemaCheck) Check(v *mutate.JSON) (Breach, bool) {
	if c == nil || c.schema == nil {
		return Breach{}, false
	}
	if c.plain != nil && c.plain.holds(v) {
		return Breach{}, false
	}
	value, ok := goValue(v, 0)
	if !ok {
		return Breach{}, false
	}
	var e *jsonschema.ValidationError
	if err := c.schema.Validate(value); !errors.As(err, &e) {
		return Breach{}, false
	}
	sure := c.surest(e, v)
	if sure == nil {
		return Breach{}, false
	}
	_, extra := sure.ErrorKind.(*kind.AdditionalProperties)
	if _, unevaluated := sure.ErrorKind.(*kind.FalseSchema); unevaluated {
		extra = true
	}
	where := "at the top"
	if len(sure.InstanceLocation) > 0 {
		where = "at /" + strings.Join(sure.InstanceLocation, "/")
	}
	return Breach{Text: where + ": " + describeBreach(sure), at: pointerTo(sure.InstanceLocation), want: typesWanted(sure), Extra: extra}, true
}

// surest returns the error below e that no validator would overlook, a wrong value before a value too many; nil if
// there is none.
func (c *SchemaCheck) surest(e *jsonschema.ValidationError, v *mutate.JSON) *jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		if c.certain(e, v) {
			return e
		}
		return nil
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		// Each branch has to fail for certain.
		for _, cause := range e.Causes {
			if c.surest(cause, v) == nil {
				return nil
			}
		}
		return e
	case *kind.Not, *kind.Contains, *kind.PropertyNames:
		if c.formats {
			return nil
		}
		return e
	}
	var first, extra *jsonschema.ValidationError // the order of causes is a map's
	for _, cause := range e.Causes {
		sure := c.surest(cause, v)
		if sure == nil {
			continue
		}
		place := &first
		if _, ok := sure.ErrorKind.(*kind.AdditionalProperties); ok {
			place = &extra
		}
		if *place == nil || compareErrors(sure, *place) < 0 {
			*place = sure
		}
	}
	if first != nil {
		return first
	}
	return extra
}

func (c *SchemaCheck) certain(e *jsonschema.ValidationError, v *mutate.JSON) bool {
	switch e.ErrorKind.(type) {
	case *kind.Format, *kind.ContentEncoding, *kind.ContentMediaType, *kind.ContentSchema:
		return false
	case *kind.RefCycle: // the schema refers to itself without end: nothing conforms or breaks it
		return false
	case *kind.OneOf, *kind.Not, *kind.Contains, *kind.MinContains, *kind.MaxContains, *kind.FalseSchema, *kind.PropertyNames:
		return !c.formats
	case *kind.MinLength, *kind.MaxLength, *kind.Pattern:
		// Some count characters, some the units of UTF-16, and classes of characters differ beyond ASCII. To some a line
		// ends before the newline that is its last character.
		at := v.At(pointerTo(e.InstanceLocation))
		_, isPattern := e.ErrorKind.(*kind.Pattern)
		return at != nil && !strings.ContainsFunc(at.Text, func(r rune) bool { return r >= utf8.RuneSelf }) &&
			!(isPattern && strings.HasSuffix(at.Text, "\n"))
	case *kind.MultipleOf:
		// Validators that divide binary fractions come to other ends.
		at := v.At(pointerTo(e.InstanceLocation))
		_, whole := at.Int()
		return at != nil && whole
	}
	return true
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func pointerTo(location []string) string {
	var b strings.Builder
	for _, step := range location {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(step))
	}
	return b.String()
}

// describeBreach says in a few words what a validation error is about.
func describeBreach(e *jsonschema.ValidationError) string {
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
		return "unknown property " + jsonrpc.Cut(strings.Join(extra, ", "), 80)
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

// goValue turns a tree into what the validator wants. False means that its text is not the same to all readers:
// strings that are no Unicode, numbers that few can hold, members that stand twice, or too deep.
func goValue(v *mutate.JSON, depth int) (any, bool) {
	if v == nil {
		return nil, true
	}
	if depth > 200 {
		return nil, false
	}
	switch v.Kind {
	case mutate.Bool:
		return v.Text == "true", true
	case mutate.Number:
		if _, ok := jsonrpc.Number(v.Text); !ok {
			return nil, false
		}
		return json.Number(v.Text), true
	case mutate.String:
		return v.Text, utf8.ValidString(v.Text)
	case mutate.Array:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			var ok bool
			if items[i], ok = goValue(item, depth+1); !ok {
				return nil, false
			}
		}
		return items, true
	case mutate.Object:
		members := make(map[string]any, len(v.Members))
		for i := range v.Members {
			value, ok := goValue(v.Members[i].Value, depth+1)
			if _, twice := members[v.Members[i].Name]; twice || !ok {
				return nil, false
			}
			members[v.Members[i].Name] = value
		}
		return members, true
	}
	return nil, true
}
