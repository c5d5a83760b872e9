package schema

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/teaselfuzz/teasel/mutate"
)

// documentURL is hierarchical, so that a relative reference resolves to another document and not to this one.
const documentURL = "mem:///schema.json"

// refuseAll is a loader that never reads anything outside of the document.
type refuseAll struct{}

var _ jsonschema.URLLoader = refuseAll{}

func (refuseAll) Load(string) (any, error) { return nil, errors.New("nothing is fetched") }

// newCompiler returns a compiler that reads no other document.
func newCompiler(patterns jsonschema.RegexpEngine) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(refuseAll{})
	c.UseRegexpEngine(patterns)
	return c
}

// compileOracle compiles the document with the validator, our patterns and our formats. The returned compiler has the document's
// subschemas.
func compileOracle(doc *mutate.JSON, draft *jsonschema.Draft) (*jsonschema.Schema, *jsonschema.Compiler, *SkipError) {
	plain, err := plainValue(doc)
	if err != nil {
		return nil, nil, &SkipError{Reason: err.Error()}
	}
	c := newCompiler(func(text string) (jsonschema.Regexp, error) { return newPattern(text) })
	c.DefaultDraft(draft)
	c.AssertFormat()
	c.AssertContent()
	for _, name := range ownFormatNames {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: formats[name].check})
	}
	if err := c.AddResource(documentURL, plain); err != nil {
		return nil, nil, &SkipError{Reason: "the schema is malformed: " + err.Error()}
	}
	sch, err := c.Compile(documentURL)
	if err != nil {
		return nil, nil, explainCompile(err, doc)
	}
	return sch, c, nil
}

// explainCompile converts an error of the validator to a SkipError.
func explainCompile(err error, doc *mutate.JSON) *SkipError {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if report, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			at := leaves(report, doc.At(schemaPointer(invalid.URL)))[0]
			keyword, where := "", at.pointer
			if i := strings.LastIndexByte(where, '/'); i >= 0 {
				where, keyword = where[:i], unescapePointer(where[i+1:])
			}
			return &SkipError{Keyword: keyword, Where: schemaPointer(invalid.URL) + where, Reason: "the schema is malformed: " + at.text}
		}
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return &SkipError{Keyword: "$ref", Reason: "the reference to " + strconv.Quote(load.URL) + " is external, and nothing is fetched"}
	}
	if lost, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return &SkipError{Keyword: "$ref", Reason: "the reference " + strconv.Quote("#"+schemaPointer(lost.URL)) + " leads nowhere"}
	}
	if lost, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return &SkipError{Keyword: "$ref", Reason: "the reference " + strconv.Quote(strings.TrimPrefix(lost.Reference, documentURL)) + " leads nowhere"}
	}
	return &SkipError{Reason: "the schema is malformed: " + err.Error()}
}

// leaf is one failed keyword of a validation report.
type leaf struct {
	pointer  string // into the value
	location string // the validator's URL of the subschema that has the keyword
	keyword  string
	text     string
}

// leaves lists the failed keywords of a report on v, sorted: the validator iterates over maps, so that the order of its report varies.
func leaves(report *jsonschema.ValidationError, v *mutate.JSON) []leaf {
	var all []leaf
	eachReport(report, func(e *jsonschema.ValidationError) bool {
		if opaque(e) || len(e.Causes) == 0 {
			location, keyword := blamed(e)
			_, text, _ := strings.Cut(e.Error(), "': ")
			all = append(all, leaf{placeOf(e, v), location, keyword, text})
		}
		return true
	})
	slices.SortFunc(all, func(a, b leaf) int {
		return cmp.Or(strings.Compare(a.pointer, b.pointer), strings.Compare(a.location, b.location), strings.Compare(a.keyword, b.keyword))
	})
	return all
}

// placeOf returns the pointer to the subject of an entry. For a bad name, and for a string with bad content, the validator reuses the memory
// of the pointer, so that only its length is reliable: placeOf returns the first object at that depth that has such a member, or the first
// string that contains JSON.
func placeOf(e *jsonschema.ValidationError, v *mutate.JSON) string {
	var fits func(v *mutate.JSON) bool
	switch about := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		fits = func(v *mutate.JSON) bool { return v.Get(about.Property) != nil }
	case *kind.ContentSchema:
		fits = func(v *mutate.JSON) bool { return v.Kind == mutate.String && holdsJSON(v.Text) }
	default:
		return pointerOf(e.InstanceLocation)
	}
	place, found := "", false
	v.Walk(func(pointer string, v *mutate.JSON) bool {
		if depth := strings.Count(pointer, "/"); found || depth > len(e.InstanceLocation) {
			return false
		} else if depth == len(e.InstanceLocation) && fits(v) {
			place, found = pointer, true
		}
		return true
	})
	return place
}

// holdsJSON reports whether a string is JSON, or base64 of JSON.
func holdsJSON(text string) bool {
	_, err := mutate.ParseJSON([]byte(text))
	if plain, wrong := base64.StdEncoding.DecodeString(text); err != nil && wrong == nil {
		_, err = mutate.ParseJSON(plain)
	}
	return err == nil
}

// opaque reports whether the causes of an entry are not about the value itself, but about a name or the content of a string.
func opaque(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.PropertyNames, *kind.ContentSchema:
		return true
	}
	return false
}

// eachReport calls visit for an entry and, if that returns true, for its causes.
func eachReport(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError) bool) {
	if !visit(e) || opaque(e) {
		return
	}
	for _, cause := range e.Causes {
		eachReport(cause, visit)
	}
}

// blamed returns the subschema and the keyword that an entry of a report names. A false subschema counts as a failure of the parent's
// keyword.
func blamed(e *jsonschema.ValidationError) (location, keyword string) {
	switch e.ErrorKind.(type) {
	case *kind.Not:
		return e.SchemaURL, "not"
	case *kind.FalseSchema:
		return e.SchemaURL, "false"
	case *kind.Dependency:
		return e.SchemaURL, "dependencies"
	case *kind.Group, *kind.Reference, *kind.Schema:
		return e.SchemaURL, ""
	}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return e.SchemaURL, path[0]
	}
	return e.SchemaURL, ""
}

func pointerOf(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(token))
	}
	return b.String()
}

func unescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// schemaPointer returns the JSON pointer of a validator's URL.
func schemaPointer(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

// maxExponent limits the numbers with which we calculate: exact arithmetic with 1e1000000 would take seconds.
const maxExponent = 5000

// parseNumber returns the exact value of a JSON number, and false if its exponent exceeds maxExponent.
func parseNumber(text string) (*big.Rat, bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(text[i+1:])
		if err != nil || exp > maxExponent || exp < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// plainValue converts a tree to the validator's representation, in which numbers keep their text.
func plainValue(v *mutate.JSON) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch v.Kind {
	case mutate.Null:
		return nil, nil
	case mutate.Bool:
		return v.Text == "true", nil
	case mutate.Number:
		if len(v.Text) > 18 || strings.ContainsAny(v.Text, "eE") {
			if _, ok := parseNumber(v.Text); !ok {
				return nil, fmt.Errorf("the number %.40s cannot be calculated with", v.Text)
			}
		}
		return json.Number(v.Text), nil
	case mutate.String:
		return v.Text, nil
	case mutate.Array:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			plain, err := plainValue(item)
			if err != nil {
				return nil, err
			}
			items[i] = plain
		}
		return items, nil
	case mutate.Object:
		members := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			plain, err := plainValue(m.Value)
			if err != nil {
				return nil, err
			}
			members[m.Name] = plain
		}
		return members, nil
	}
	return nil, fmt.Errorf("a %v node has no value", v.Kind)
}

// treeOf converts a value of the validator to a tree, with members sorted by name.
func treeOf(plain any) *mutate.JSON {
	switch plain := plain.(type) {
	case bool:
		return mutate.NewBool(plain)
	case json.Number:
		return mutate.NewNumber(plain.String())
	case string:
		return mutate.NewString(plain)
	case []any:
		v := mutate.NewArray()
		for _, item := range plain {
			v.Items = append(v.Items, treeOf(item))
		}
		return v
	case map[string]any:
		v := mutate.NewObject()
		for _, name := range sortedKeys(plain) {
			v.Members = append(v.Members, mutate.Member{Name: name, Value: treeOf(plain[name])})
		}
		return v
	}
	return mutate.NewNull()
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
