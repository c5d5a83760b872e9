package schema

import (
	"fmt"
	"math/rand/v2"
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

// TestReport: a breach is reported if every validator would, and only then.
func TestReport(t *testing.T) {
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
		{`{"properties":{"a":{"pattern":"(?<=x)y"}}}`, `{"a":"X"}`, ""},
		{`{"properties":{"a":{"pattern":"^\\w+$"}}}`, `{"a":"é"}`, ""},
		{`{"properties":{"a":{"multipleOf":0.1}}}`, `{"a":0.35}`, ""},
		{`{"properties":{"a":{"multipleOf":2}}}`, `{"a":3}`, "at /a: it breaks multipleOf"},
		{`{"properties":{"a":{"oneOf":[{"type":"string","format":"date"},{"type":"string","format":"time"}]}}}`, `{"a":"x"}`, ""},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"boolean"}]}}}`, `{"a":1}`, "at /a: it fits no branch of anyOf"},
		{`{"properties":{"a":{"anyOf":[{"type":"string","pattern":"(?=x)y"},{"type":"boolean"}]}}}`, `{"a":"z"}`, ""},
		{`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`, `{"a":1}`, "at /a: got number, want string"},
		{`{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`, `{"a":1}`, ""},
		{`{"properties":{},"additionalProperties":false}`, `{"a":1,"b":2}`, `at the top: unknown property "a", "b"`},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"a":1,"b":2}`, `at /a: got number, want string; at the top: unknown property "b"`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, ""},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"\ud800","b":1}`, ""},
		{`{"properties":{"a":{"maximum":5}}}`, `{"a":1e999}`, ""},
		{`{"type":"text"}`, `1`, ""},
		{`{"properties":{"a":{"type":"integer"},"b":{"type":"string"}}}`, `{"b":1,"a":"x"}`, "at /a: got string, want integer; at /b: got number, want string"},
		{`{"anyOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k","n"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, `{"k":"a","n":"x"}`,
			"at /n: got string, want integer"},
		{`{"anyOf":[{"properties":{"a":{},"n":{"type":"integer"}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `{"a":1,"n":"x"}`, "at /n: got string, want integer"},
		{`{"anyOf":[{"type":"string"},{"type":"integer","minimum":5}]}`, `3`, "at the top: it breaks minimum"},
		{`{"anyOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, `{"k":"c"}`, "at the top: it fits no branch of anyOf"},
	} {
		breaches, _ := NewChecker(jsonOf(t, test.schema)).Report(jsonOf(t, test.value))
		got := ""
		for i, b := range breaches {
			if i > 0 {
				got += "; "
			}
			got += b.Text
		}
		if got != test.want {
			t.Errorf("%s on %s: got %q, want %q", test.schema, test.value, got, test.want)
		}
	}
	if b, _ := NewChecker(jsonOf(t, `{"additionalProperties":false}`)).Report(jsonOf(t, `{"a":1}`)); len(b) != 1 || !b[0].Extra {
		t.Errorf("a property too many: %+v", b)
	}
	if b, certain := (*Checker)(nil).Report(mutate.NewNull()); len(b) > 0 || certain {
		t.Error("no schema is broken")
	}
}

// TestReportCertain: what readers disagree over is not certain, in either direction.
func TestReportCertain(t *testing.T) {
	for _, test := range []struct {
		schema, value string
		want          bool
	}{
		{`{"type":"string"}`, `"x"`, true},
		{`{"type":"string"}`, `1`, true},
		{`{"type":"string","maxLength":1}`, `"💥💥"`, false},
		{`{"type":"string","pattern":"(?<=x)y"}`, `"z"`, true}, // the pattern matches everything, which is no breach
		{`{"anyOf":[{"type":"string","maxLength":1},{"type":"boolean"}]}`, `"💥💥"`, false},
		{`{"$ref":"https://example.com/x"}`, `1`, false},
		{`{"type":"number","minimum":0}`, `1e999`, false},
		{`{"type":"object"}`, `{"a":1,"a":2}`, false},
	} {
		if _, certain := NewChecker(jsonOf(t, test.schema)).Report(jsonOf(t, test.value)); certain != test.want {
			t.Errorf("%s on %s: certain: %v", test.schema, test.value, certain)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, test := range []struct {
		schema  string
		invalid bool
	}{
		{`{"type":"object"}`, false}, {`{"type":"text"}`, true}, {`{"properties":[]}`, true}, {`{"required":"a"}`, true},
		{`{"$ref":"#/$defs/none"}`, true}, {`{"$ref":"https://example.com/x"}`, false}, {`{"pattern":"(?=a)"}`, false}, {`{"pattern":"["}`, false},
		{`{"$schema":"https://example.com/unknown"}`, false}, {`{"minLength":-1}`, true}, {`{"unknown":1}`, false}, {`true`, false},
	} {
		if got := NewChecker(jsonOf(t, test.schema)).Invalid(); (got != "") != test.invalid {
			t.Errorf("%s: %q", test.schema, got)
		}
	}
}

// TestInvalidAlike: the wording does not depend on the order of a map.
func TestInvalidAlike(t *testing.T) {
	faults := make(map[string]bool)
	for range 50 {
		faults[NewChecker(jsonOf(t, `{"type":5,"properties":[],"required":"a","minProperties":"x"}`)).Invalid()] = true
	}
	if len(faults) != 1 || faults[""] {
		t.Errorf("one schema has the faults %v, want one", faults)
	}
}

// TestAt checks against a part of a document, whose references lead to other parts.
func TestAt(t *testing.T) {
	c := NewChecker(jsonOf(t, `{"$defs":{"tree":{"type":"object","properties":{"next":{"$ref":"#/$defs/tree"},"n":{"type":"integer"}},"required":["n"]},"odd":{"type":"object","minProperties":1}}}`))
	for _, test := range []struct{ at, value, want string }{
		{"/$defs/tree", `{"n":1,"next":{"n":2}}`, "[]"},
		{"/$defs/tree", `{"n":1,"next":{"next":{"n":2}}}`, "[at /next: missing n]"},
		{"/$defs/odd", `{}`, "[at the top: it breaks minProperties]"},
		{"/$defs/none", `{}`, "[]"},
	} {
		breaches, _ := c.At(test.at).Report(jsonOf(t, test.value))
		texts := []string{}
		for _, b := range breaches {
			texts = append(texts, b.Text)
		}
		if got := fmt.Sprint(texts); got != test.want {
			t.Errorf("%s at %s: %s, want %s", test.value, test.at, got, test.want)
		}
	}
	if q := c.At("/$defs/tree").quick; q == nil || !q.holds(jsonOf(t, `{"n":1,"next":{"n":2}}`), 0) {
		t.Error("a reference is left to the validator")
	}
	for _, text := range []string{`{"$ref":"#"}`, `{"type":"object","allOf":[{"$ref":"#"}]}`} {
		if b, certain := NewChecker(jsonOf(t, text)).Report(jsonOf(t, `{}`)); certain || len(b) > 0 {
			t.Errorf("%s, which refers to itself without end, decides: %v", text, b)
		}
	}
}

// TestQuick holds the quick look against the validator: what it lets pass has to be valid.
func TestQuick(t *testing.T) {
	quickly := 0
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9},"b":{"type":"string","minLength":1,"maxLength":3}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"},"minItems":1,"maxItems":2}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"boolean"},"c":{"type":"null"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","maxItems":1,"maxLength":5}}}`,
		`{"type":"object","properties":{"a":{"minItems":1,"maxLength":1}}}`,
		`{"type":["object","null"],"required":["a"],"properties":{"b":{"type":["integer","string"]}}}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"const":"x"},{"type":"integer","minimum":5}]},"b":{"oneOf":[{"type":"string"}]}}}`,
		`{"allOf":[{"$ref":"#/$defs/a"},{"required":["b"]}],"$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}}},"n":{"type":"number"}}}`,
		`{}`,
	} {
		c := NewChecker(jsonOf(t, text))
		if c.quick == nil {
			t.Errorf("%s is left to the validator", text)
			continue
		}
		values := []*mutate.JSON{}
		for _, value := range []string{
			`{}`, `{"a":1}`, `{"a":-1}`, `{"a":10}`, `{"a":1.0}`, `{"a":0.5}`, `{"a":1e1}`, `{"a":9999999999999999999}`, `{"a":"x"}`, `{"a":"z"}`, `{"a":""}`,
			`{"a":1,"b":""}`, `{"a":1,"b":"abc"}`, `{"a":1,"b":"abcd"}`, `{"a":1,"b":"ééé"}`, `{"a":[]}`, `{"a":[1]}`, `{"a":[1,2,3]}`, `{"a":["x"]}`, `{"a":[1],"z":0}`,
			`{"b":true,"c":null}`, `{"b":1}`, `{"c":0}`, `{"a":null}`, `{"a":{}}`, `[]`, `"x"`, `1`, `null`, `true`, `{"a":1,"a":-5}`,
		} {
			values = append(values, jsonOf(t, value))
		}
		if s, err := Compile([]byte(text)); err == nil {
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 300 {
				v, _ := s.Generate(r, [...]Mode{Conform, Adversarial, Mixed}[i%3])
				values = append(values, v)
			}
		}
		for _, v := range values {
			if !c.quick.holds(v, 0) {
				continue
			}
			quickly++
			plain, err := plainValue(v)
			if err == nil {
				err = c.schema.Validate(plain)
			}
			if err != nil || hasDuplicate(v) && v.Kind == mutate.Object {
				t.Errorf("%s lets %s pass: %v", text, v, err)
			}
		}
	}
	if quickly < 500 {
		t.Errorf("only %d values were decided at once", quickly)
	}
	for _, text := range []string{`{"oneOf":[]}`, `{"$id":"x"}`, `{"enum":[1]}`, `{"required":["a"],"additionalProperties":false}`} {
		if q := readQuick(jsonOf(t, text), ""); q != nil {
			t.Errorf("%s is taken for usual", text)
		}
	}
}

// TestCoercible: what generous libraries turn into a value that conforms.
func TestCoercible(t *testing.T) {
	c := NewChecker(jsonOf(t, `{"type":"object","properties":{
		"n":{"type":"integer","maximum":9},"x":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
		"l":{"type":"array","items":{"type":"integer"}},"o":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["n"]}`))
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"n":"7"}`, true},
		{`{"n":true}`, true},
		{`{"n":" 7.0 "}`, true},
		{`{"n":"7","x":"1e2","b":"off","s":5,"l":"[1,2]","o":"3"}`, true},
		{`{"n":7,"b":1,"s":false,"l":["1",true]}`, true},
		{`{"n":[7],"x":["1e2"]}`, true}, // as JavaScript's Number does
		{`{"n":[7,8]}`, false},
		{`{"n":[]}`, true},
		{`{"n":null}`, true}, // as JavaScript's Number does, too
		{`{"n":""}`, true},
		{`{"n":"0x7"}`, true},
		{`{"n":[["7"]]}`, true},
		{`{"n":"７"}`, true}, // as Python's int does
		{`{"n":"٧"}`, true},
		{`{"n":"0_7"}`, true},
		{`{"n":"0x70"}`, false},
		{`{"n":"７７"}`, false},
		{`{"n":"NaN"}`, false},
		{`{"n":7,"b":[true]}`, false},
		{`{"n":"seven"}`, false},
		{`{"n":"7.5"}`, false},
		{`{"n":"10"}`, false},
		{`{"n":10}`, false},
		{`{"n":{}}`, false},
		{`{"n":7,"b":2}`, false},
		{`{"n":7,"l":"1,2"}`, false},
		{`{"n":7,"s":[]}`, false},
		{`{"n":7,"s":null}`, false},
		{`{"n":7,"o":"three"}`, false},
		{`{"s":"7"}`, false},
	} {
		v := jsonOf(t, tt.text)
		if breaches, _ := c.Report(v); len(breaches) == 0 {
			t.Errorf("%s is valid", tt.text)
		}
		if got := c.Coercible(v); got != tt.want {
			t.Errorf("%s: %v", tt.text, got)
		}
		if v.String() != jsonOf(t, tt.text).String() {
			t.Errorf("%s has become %s", tt.text, v)
		}
	}
}

func BenchmarkReport(b *testing.B) {
	c := NewChecker(jsonOf(b, `{"type":"object","properties":{"content":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/image"},{"$ref":"#/$defs/text"}]}}},"required":["content"],
		"$defs":{"text":{"type":"object","properties":{"type":{"const":"text"},"text":{"type":"string"}},"required":["type","text"]},
		"image":{"type":"object","properties":{"type":{"const":"image"},"data":{"type":"string","format":"byte"}},"required":["type","data"]}}}`))
	v := jsonOf(b, `{"content":[{"type":"text","text":"hello"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if breaches, certain := c.Report(v); len(breaches) > 0 || !certain {
			b.Fatal(breaches)
		}
	}
}
