package schema

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

// The error for a schema that cannot be used is deterministic, however many reasons there are.
func TestSkippedAlike(t *testing.T) {
	heavy := twice(8, `{"allOf":[NEXT,NEXT,NEXT,NEXT]}`)
	for _, test := range []struct{ name, schema string }{
		{"heavy members", strings.Replace(heavy, `"$ref":"#/$defs/d0"`, `"properties":{"a":{"$ref":"#/$defs/d0"},"b":{"$ref":"#/$defs/d1"},"c":{"$ref":"#/$defs/d0"}},
			"patternProperties":{"^d":{"$ref":"#/$defs/d0"},"^e":{"$ref":"#/$defs/d1"}}`, 1)},
		{"members that are much work", strings.Replace(twice(20, `{"required":["a"],"properties":{"a":NEXT},"patternProperties":{"^a":NEXT}}`), `"$ref":"#/$defs/d0"`,
			`"properties":{"a":{"$ref":"#/$defs/d0"},"b":{"$ref":"#/$defs/d1"},"c":{"$ref":"#/$defs/d0"}}`, 1)},
		{"lost anchors", `{"properties":{"a":{"$ref":"#x"},"b":{"$ref":"#y"},"c":{"$dynamicRef":"#z"}}}`},
	} {
		_, first := Compile([]byte(test.schema))
		if first == nil {
			t.Errorf("%s: compiled", test.name)
			continue
		}
		for range 100 {
			if _, err := Compile([]byte(test.schema)); err == nil || err.Error() != first.Error() {
				t.Errorf("%s: %v, and %v", test.name, first, err)
				break
			}
		}
	}
}

// Anchors are found in the syntax of each draft.
func TestAnchors(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}`,
		`{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"p":{"$ref":"#a"}},"definitions":{"x":{"$id":"#a"}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"p":{"$ref":"#a"}},"definitions":{"x":{"id":"#a"}}}`,
		`{"properties":{"p":{"$ref":"#"}}}`,
	} {
		mustCompile(t, text)
	}
}

// The position of a string with bad content, which the validator's report lacks, is found.
func TestPlaceOfContent(t *testing.T) {
	s := mustCompile(t, `{"type":"object","additionalProperties":{"contentMediaType":"application/json","contentSchema":{"type":"object"}}}`)
	v, err := mutate.ParseJSON([]byte(`{"q":7,"a":"17","r":[],"x":null,"y":"{}"}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if got := s.firstBroken(v); got != "contentSchema at /a" {
			t.Fatalf("%v is reported to violate %q", v, got)
		}
	}
}
