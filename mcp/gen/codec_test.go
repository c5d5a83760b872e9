package gen

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
)

func TestCodecRoundTrip(t *testing.T) {
	lines := []string{
		``, `{}`, `{bad`, "\xff\x00", `{"a":1.0,"a":1e2,"b":"\u0041\/é"}`, `{"a": 1}`, ` {}`, "a\tb", "\u2028", `"<&>"`, `{"a":"\ud800"}`,
		strings.Repeat("[", 9500) + strings.Repeat("]", 9500), `null`, `5`, "\ufeff{}", `{"jsonrpc":"2.0","id":"@id","method":"ping"}`,
	}
	in := script.Script{Start: script.Shared, Check: "a <b>\n"}
	for i, line := range lines {
		in.Steps = append(in.Steps, script.Step{Line: []byte(line), NoWait: i%2 == 0, NoNewline: i%3 == 0, Times: i})
	}
	data, err := script.Codec{}.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := script.Codec{}.Decode(data)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	if !mcptest.ScriptsEqual(in, out) {
		t.Errorf("decoded something else from\n%s", data)
	}
	if got := bytes.Count(data, []byte{'\n'}); got != len(lines) {
		t.Errorf("%d lines for %d steps", got, len(lines))
	}
}

func TestCodecReadsWhatWasIndented(t *testing.T) {
	in := script.Script{Start: script.Fresh, Steps: []script.Step{
		{Line: []byte(`{"jsonrpc":"2.0","id":1.0,"method":"tools\/call","params":{"a":[1,2,{"b":"\u00e9"}]}}`)},
		{Line: []byte("{bad \xff"), Close: true, NoNewline: true},
	}}
	data, err := script.Codec{}.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "    "); err != nil {
		t.Fatal(err)
	}
	out, err := script.Codec{}.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !mcptest.ScriptsEqual(in, out) {
		t.Errorf("decoded something else from\n%s", b.Bytes())
	}
}

func TestCodecErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, `line 1`},
		{"{\"teasel-script\":1,\n\"steps\":[}", `line 2, column 10: expected JSON`},
		{`[]`, `found [], expected an object`},
		{`{"steps":[]}`, `"teasel-script" is missing`},
		{`{"teasel-script":2,"steps":[]}`, `teasel-script is 2, expected 1`},
		{`{"teasel-script":1}`, `"steps" is missing`},
		{`{"teasel-script":1,"steps":{}}`, `steps is {}, expected an array`},
		{`{"teasel-script":1,"start":"cold","steps":[]}`, `start is "cold", expected "shared" or "fresh"`},
		{`{"teasel-script":1,"check":5,"steps":[]}`, `check is 5, expected a string`},
		{`{"teasel-script":1,"seed":1,"steps":[]}`, `unknown key "seed", expected teasel-script`},
		{`{"teasel-script":1,"steps":[{"send":{}},5]}`, `step 1: found 5, expected an object`},
		{`{"teasel-script":1,"steps":[{}]}`, `step 0: has 0 of the keys send, text and base64, expected one`},
		{`{"teasel-script":1,"steps":[{"text":"a","send":1}]}`, `step 0: has 2 of the keys`},
		{`{"teasel-script":1,"steps":[{"text":1}]}`, `step 0: text is 1, expected a string`},
		{`{"teasel-script":1,"steps":[{"base64":"*"}]}`, `step 0: base64 is "*", expected standard base64`},
		{`{"teasel-script":1,"steps":[{"text":"a","nowait":1}]}`, `step 0: nowait is 1, expected true or false`},
		{`{"teasel-script":1,"steps":[{"text":"a","times":-1}]}`, `step 0: times is -1, expected an integer from 0 to 1000000`},
		{`{"teasel-script":1,"steps":[{"text":"a","close":true}]}`, `step 0: close is true, expected that only with "start":"fresh"`},
		{`{"teasel-script":1,"steps":[{"text":"a","wait":true}]}`, `step 0: unknown key "wait", expected send`},
	} {
		_, err := script.Codec{}.Decode([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
	if _, err := (script.Codec{}).Encode(script.Script{}); err == nil {
		t.Error("a script without a start was encoded")
	}
}

// Everything that a mutator makes can be written and read.
func TestCodecTakesWhatMutatorsMake(t *testing.T) {
	mcptest.Computes(t)
	m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything")})
	verify := func(in script.Script) {
		t.Helper()
		data, err := script.Codec{}.Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := script.Codec{}.Decode(data)
		if err != nil {
			t.Fatalf("%v\n%.2000s", err, data)
		}
		if !mcptest.ScriptsEqual(in, out) {
			t.Fatalf("decoded something else from\n%.2000s", data)
		}
	}
	seeds := m.Seeds()
	for _, s := range seeds {
		if len(s.Script.Steps) < 12 && s.Script.Check != check.Large && s.Script.Check != check.GrowthTime {
			verify(s.Script)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	var dst script.Script
	in := m.Generate(r)
	for n := range 1500 {
		if n%10 == 0 {
			in = m.Generate(r)
		}
		dst = m.Mutate(r, dst, in)
		verify(dst)
		in, dst = dst, in
	}
}
