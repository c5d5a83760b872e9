package corpus

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
)

func TestFindingHasEveryField(t *testing.T) {
	want := FindingFile{Kind: "mcp", Target: []byte(`{"command":["a","<b>"]}`), Seed: 1<<64 - 1,
		Finding: filled[teasel.Finding](rand.New(rand.NewPCG(7, 8)))}
	want.Finding.Severity, want.Finding.Complexity = teasel.Low, 0 // which is not written
	path := filepath.Join(t.TempDir(), "f.json")
	if err := WriteFinding(path, &want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFinding(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	if text, _ := os.ReadFile(path); !bytes.Contains(text, []byte(`"id": "`+want.Finding.ID()+`"`)) {
		t.Errorf("no id in %s", text)
	}
}

// The exact bytes of an input come back, whatever they are, and readable ones are readable in the file.
func TestFindingInputs(t *testing.T) {
	deep := strings.Repeat("[", 9999) + strings.Repeat("]", 9999)
	inputs := []struct {
		in       string
		readable bool
	}{
		{`{"a":1}`, true},
		{"{\"teasel-script\":1,\"steps\":[\n  {\"send\":{}},\n  {\"text\":\"<&>\u2028\"}]}", true},
		{`{"a":1,"a":2,"b":1e400,"c":"\ud800","d":0.10}`, true},
		{`[1, 2]`, true},
		{`{"base64":"AA==","x":1}`, true},
		{`{"base64":"AA=="}`, false},
		{`{"base64":5}`, false},
		{"{}\n", false},
		{" {}", false},
		{"{\"a\":\"\xff\"}", false},
		{`{} {}`, false},
		{`{}, "rule": {}`, false},
		{`1`, false},
		{`null`, false},
		{``, false},
		{"\x00\x01GET / HTTP/1.1\r\n", false},
		{deep, true},
		{"[" + deep + "]", false},
	}
	check := func(in []byte) []byte {
		f := FindingFile{Kind: "k", Finding: teasel.Finding{Rule: "r", Severity: teasel.Low, Input: in, Original: in, History: [][]byte{[]byte("{}"), in}}}
		text, err := f.text()
		if err != nil || !utf8.Valid(text) {
			t.Errorf("%.60q: written as %.80q, %v", in, text, err)
		}
		got, wrong := parseFinding("f.json", text)
		if wrong != nil || !bytes.Equal(got.Finding.Input, in) || !bytes.Equal(got.Finding.Original, in) || len(got.Finding.History) != 2 || !bytes.Equal(got.Finding.History[1], in) {
			t.Errorf("%.60q: got %.60q and %.60q, %v", in, got.Finding.Input, got.Finding.Original, wrong)
		}
		return text
	}
	for _, c := range inputs {
		if text := check([]byte(c.in)); bytes.Contains(text, []byte(`"input": `+c.in+",\n")) != c.readable {
			t.Errorf("%.60q: readable is not %v", c.in, c.readable)
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	const letters = "{}[]\",:\\ntrue123 \n\xff\x00base64"
	for range 5000 {
		in := make([]byte, r.IntN(12))
		for i := range in {
			in[i] = letters[r.IntN(len(letters))]
		}
		check(in)
	}
}

func TestReadFindingErrors(t *testing.T) {
	whole := func(s string) string {
		return "{\n\"teasel-finding\": 1,\n\"kind\": \"mcp\",\n\"rule\": \"r\",\n\"severity\": \"low\",\n" + s + "}"
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `:1: the file is empty: expected a finding`},
		{"no JSON", "hello", `:1: invalid character 'h' looking for beginning of value: expected a finding`},
		{"cut off", whole(`"input": {"a":`)[:70], `:6: the file is cut off: expected`},
		{"other JSON", `[1]`, `:1: expected a finding`},
		{"other object", `{"a":1}`, `:1: "teasel-finding" is missing: expected a finding`},
		{"no input", whole(`"x":1`), `:1: "input" is missing: expected a finding`},
		{"bad input", whole(`"input": {"base64":"%"}`), `:6: expected an input, as it is or as {"base64":"..."}: illegal base64`},
		{"bad original", whole("\"input\": {},\n\"original\": {\"base64\":[\"x\"]}"), `:7: expected an input, as it is or as {"base64":"..."}: json: cannot unmarshal`},
		{"bad type", whole(`"input": {}, "stable": "3"`), `:6: expected "stable" to be a whole number, found string`},
		{"bad rule", whole("\"input\": {},\n\n\"rule\": []"), `:8: expected "rule" to be a rule's id, such as mcp/server-crash, found array`},
		{"bad escape", whole("\"input\": {}, \"group\": \"a\\\\xg0\",\n\"escaped\": [\"group\"]"), `:1: "group" has escapes: \xg0: expected two hexadecimal digits after \x`},
		{"lone backslash", whole(`"input": {}, "group": "a\\", "escaped": ["group"]`), `:1: "group" has escapes: a backslash: expected \\, or \x and two hexadecimal digits`},
		{"escaped number", whole(`"input": {}, "escaped": ["seed"]`), `:1: "escaped" has "seed": expected the name of a field that is a string`},
		{"later version", "{\n\"teasel-finding\": 2, \"rule\": {}}", `:2: version 2 of the format: expected 1`},
		{"more", whole(`"input": {}`) + "\n{}", `:7: expected nothing after the object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.json")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := ReadFinding(path)
			if _, ok := errors.AsType[*Problem](err); !ok || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := ReadFinding(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "f.json")
	os.WriteFile(path, []byte(whole(`"input": {}, "of a later day": [1]`)), 0o644)
	if f, err := ReadFinding(path); err != nil || string(f.Finding.Input) != "{}" {
		t.Errorf("an unknown field: %+v, %v", f, err)
	}
}

// The plain input of a finding is found from its file, with and without an extension.
func TestInputFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"crashes/0123", "crashes/4567.json", "hangs/89ab", "crashes/45678"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{"0123": "crashes/0123", "4567": "crashes/4567.json", "89ab": "hangs/89ab", "456": "", "cdef": ""} {
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got := InputFile(filepath.Join(dir, Findings, id+".json"), id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	if got := InputFile("elsewhere.json", "0123"); got != "" {
		t.Errorf("a file that was taken away has the input %q", got)
	}
	if err := os.Mkdir(filepath.Join(dir, Findings), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, Findings))
	if got, want := InputFile("4567.json", "4567"), "../crashes/4567.json"; got != want {
		t.Errorf("from where the findings are: %q, want %q", got, want)
	}
}
