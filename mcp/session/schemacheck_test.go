package session

import (
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

func jsonOf(t testing.TB, text string) *mutate.JSON {
	t.Helper()
	v, err := mutate.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestSchemaCheck(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"object"}`, `{}`, ""},
		{`{"type":"object"}`, `[]`, "at the top: got array, want object"},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.0}`, ""},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, "at /a: got number, want integer"},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":null}`, ""},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, "at /a: got number, want null or string"},
		{`{"required":["a","b"]}`, `{}`, "at the top: missing a, b"},
		{`{"properties":{"a":{"enum":["x",1]}}}`, `{"a":"y"}`, "at /a: it breaks enum"},
		{`{"properties":{"a":{"minLength":2}}}`, `{"a":"x"}`, "at /a: it breaks minLength"},
		{`{"properties":{"a":{"maxLength":1}}}`, `{"a":"💥💥"}`, ""},
		{`{"properties":{"a":{"format":"email"}}}`, `{"a":"x"}`, ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"email"}}}`, `{"a":"x"}`, ""},
		{`{"properties":{"a":{"pattern":"^[a-z]+$"}}}`, `{"a":"X"}`, "at /a: it breaks pattern"},
		{`{"properties":{"a":{"pattern":"^[a-z]+$"}}}`, `{"a":"x\n"}`, ""},
		{`{"properties":{"a":{"pattern":"^[a-z]+$"}}}`, `{"a":"\nx"}`, "at /a: it breaks pattern"},
		{`{"properties":{"a":{"minLength":3}}}`, `{"a":"x\n"}`, "at /a: it breaks minLength"},
		{`{"properties":{"a":{"pattern":"^(?!X)"}}}`, `{"a":"X"}`, ""},
		{`{"properties":{"a":{"pattern":"^\\w+$"}}}`, `{"a":"é"}`, ""},
		{`{"properties":{"a":{"multipleOf":0.1}}}`, `{"a":0.35}`, ""},
		{`{"properties":{"a":{"multipleOf":2}}}`, `{"a":3}`, "at /a: it breaks multipleOf"},
		{`{"properties":{"a":{"oneOf":[{"type":"string","format":"date"},{"type":"string","format":"time"}]}}}`, `{"a":"x"}`, ""},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"boolean"}]}}}`, `{"a":1}`, "at /a: it fits no branch of anyOf"},
		{`{"properties":{"a":{"anyOf":[{"type":"string","pattern":"(?=x)y"},{"type":"boolean"}]}}}`, `{"a":"z"}`, ""},
		{`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`, `{"a":1}`, "at /a: got number, want string"},
		{`{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`, `{"a":1}`, ""},
		{`{"properties":{},"additionalProperties":false}`, `{"a":1,"b":2}`, `at the top: unknown property "a", "b"`},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"a":1,"b":2}`, "at /a: got number, want string"},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, ""},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"\ud800","b":1}`, ""},
		{`{"properties":{"a":{"maximum":5}}}`, `{"a":1e999}`, ""},
		{`{"type":"text"}`, `1`, ""},
	} {
		b, broken := CompileSchema(jsonOf(t, test.schema)).Check(jsonOf(t, test.value))
		if b.Text != test.want || broken != (test.want != "") {
			t.Errorf("%s on %s: got %q, %v, want %q", test.schema, test.value, b.Text, broken, test.want)
		}
	}
	if b, _ := CompileSchema(jsonOf(t, `{"additionalProperties":false}`)).Check(jsonOf(t, `{"a":1}`)); !b.Extra {
		t.Error("a property too many is not told from a wrong one")
	}
	if _, broken := (*SchemaCheck)(nil).Check(mutate.NewNull()); broken {
		t.Error("no schema is broken")
	}
}

func TestBrokenSchema(t *testing.T) {
	for _, test := range []struct {
		schema string
		broken bool
	}{
		{`{"type":"object"}`, false}, {`{"type":"text"}`, true}, {`{"properties":[]}`, true}, {`{"required":"a"}`, true},
		{`{"$ref":"#/$defs/none"}`, true}, {`{"$ref":"https://example.com/x"}`, false}, {`{"pattern":"(?=a)"}`, false}, {`{"pattern":"["}`, false},
		{`{"$schema":"https://example.com/unknown"}`, false}, {`{"minLength":-1}`, true}, {`{"unknown":1}`, false}, {`true`, false},
	} {
		if got := CompileSchema(jsonOf(t, test.schema)).Broken; (got != "") != test.broken {
			t.Errorf("%s: %q", test.schema, got)
		}
	}
}

// TestPlainSchema holds the quick look against the validator: what it lets pass has to be valid.
func TestPlainSchema(t *testing.T) {
	schemas := []string{
		`{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9},"b":{"type":"string","minLength":1,"maxLength":3}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"},"minItems":1,"maxItems":2}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"boolean"},"c":{"type":"null"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","maxItems":1,"maxLength":5}}}`,
		`{"type":"object","properties":{"a":{"minItems":1,"maxLength":1}}}`,
		`{}`,
	}
	values := []string{
		`{}`, `{"a":1}`, `{"a":-1}`, `{"a":10}`, `{"a":1.0}`, `{"a":0.5}`, `{"a":1e1}`, `{"a":9999999999999999999}`, `{"a":"x"}`, `{"a":"z"}`, `{"a":""}`,
		`{"a":1,"b":""}`, `{"a":1,"b":"abc"}`, `{"a":1,"b":"abcd"}`, `{"a":1,"b":"ééé"}`, `{"a":[]}`, `{"a":[1]}`, `{"a":[1,2,3]}`, `{"a":["x"]}`, `{"a":[1],"z":0}`,
		`{"b":true,"c":null}`, `{"b":1}`, `{"c":0}`, `{"a":null}`, `{"a":{}}`, `[]`, `"x"`, `1`, `null`, `true`, `{"a":1,"a":-5}`,
	}
	quick := 0
	for _, text := range schemas {
		c := CompileSchema(jsonOf(t, text))
		if c.plain == nil {
			t.Errorf("%s is not plain", text)
			continue
		}
		for _, value := range values {
			v := jsonOf(t, value)
			if !c.plain.holds(v) {
				continue
			}
			quick++
			goValue, ok := goValue(v, 0)
			if err := c.schema.Validate(goValue); !ok || err != nil {
				t.Errorf("%s lets %s pass: %v", text, value, err)
			}
		}
	}
	if quick < 40 {
		t.Errorf("only %d values were decided at once", quick)
	}
	for _, text := range []string{`{"oneOf":[]}`, `{"type":["string"]}`, `{"properties":{"a":{"pattern":"x"}}}`, `true`, `{"enum":[1]}`, `{"required":["a"]}`, `{"items":true}`} {
		if readPlain(jsonOf(t, text), 0) != nil {
			t.Errorf("%s is taken for plain", text)
		}
	}
}
