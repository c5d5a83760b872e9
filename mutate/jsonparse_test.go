package mutate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// odd are texts on which JSON parsers disagree.
var odd = []string{
	"\xef\xbb\xbf{}", "\x00", "{}\x00", "\x0c1", "\u00a01", "1\x00", "\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"a\nb\"", "'a'", "//1\n1", "/**/1",
	"", " \t\r\n", "1 2", "1,", ",1", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1", "[", "[1,", "[1}", "[}", "]", "{]", "{", "{,", "{,}", "}",
	`{"a":1,}`, `{"a":1,]`, `{"a":1]`, `{"a":]`, `{"a":}`, `{"a",1}`, `{"a" 1}`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1:2}`, `{"a":1 "b":2}`, `{"a"::1}`,
	`{1:2}`, `{[1]:2}`, `{[1:2}`, `{null:1}`, `{nul:1}`, `{x:1}`, `{"a":1}}`, `{"a":{"a":{"a":[}}}`, `{"a":1,"a":2,"a":{}}`, `{"":{"":""}}`,
	"nul", "nulL", "nullx", "null1", "n", "True", "tru", "truefalse", "fals", "NaN", "Infinity", "-Infinity", "undefined",
	"-", "--1", "+1", "01", "-01", "00", "0x1", "1.", "1.x", ".5", "-.5", "1e", "1e+", "1e-x", "1E5", "1e5.5", "1_0", "1ee1", "0e", "0.0e+00", "-0.0E-0",
	strings.Repeat("9", 5000), "0." + strings.Repeat("0", 5000) + "1", "1e" + strings.Repeat("9", 400),
	`"`, `"a`, `"\`, `"\u`, `"\u1`, `"\u12`, `"\u123`, `"\u1234`, `"\u12x4"`, `"\u12"`, `"\u12" `, `"\u"`, `"\x"`, `"\a"`, `"\U0041"`, `"\u00e9\u00E9"`, `"\"`, `"\\`,
	`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800\udc00"`, `"\udc00\ud800"`, `"\ud800x"`, `"\ud800\u0041"`, `"\ud800\n"`, `"\ud800\`, `"\ud800\u`, `"\ud800\udc0"`,
	"\"\xff\"", "\"\xc3\"", "\"\xe2\x82\"", "\"\xf0\x9f\x98", "\"\xed\xa0\x80\"", "\"\xed\xa0\x80\xed\xb0\x80\"", "\"\xed\x9f\xbf\"", "\"\xed\xa0\"",
	"\"\xed\\n\"", "\"\\/\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc0\x80\"", "[\xff]", "\xff", "{\"\xff\":\"\xff\"}",
	strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	strings.Repeat(`{"":`, 10000) + "1" + strings.Repeat("}", 10000), strings.Repeat(`{"":`, 10001) + "1" + strings.Repeat("}", 10001),
	strings.Repeat("[", 10000) + "{" + strings.Repeat("]", 10000), strings.Repeat("[", 20000), "[" + strings.Repeat("1,", 5000) + "1]",
	"[" + strings.Repeat(`{"k":"v","w":[1,2]},`, 700) + "{}]",
}

// checkParsed compares the parser with encoding/json: whether the text is valid, and its form without white space.
func checkParsed(t *testing.T, p *JSONParser, data []byte) {
	t.Helper()
	defer p.Reset()
	v, err := p.Parse(data)
	if (err == nil) != json.Valid(data) {
		t.Fatalf("%.80q: %v, encoding/json takes it: %v", data, err, json.Valid(data))
	}
	if err != nil {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		t.Fatal(err)
	}
	text := v.Append(nil)
	if !bytes.Equal(text, compact.Bytes()) {
		t.Fatalf("%.80q was written as %.80q, want %.80q", data, text, &compact)
	}
	w, err := ParseJSON(text)
	if err != nil {
		t.Fatalf("%.80q was written as %.80q: %v", data, text, err)
	}
	if !v.Equal(w) || !v.identical(w) || v.size() != len(text) {
		t.Fatalf("%.80q was written as %.80q", data, text)
	}
}

func TestParserAgreesWithEncodingJSON(t *testing.T) {
	var p JSONParser
	for _, text := range append(odd, ugly...) {
		checkParsed(t, &p, []byte(text))
	}
}

// FuzzJSON compares the parser with encoding/json, and parses again what was written.
func FuzzJSON(f *testing.F) {
	for _, text := range append(odd, ugly...) {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	p := new(JSONParser)
	f.Fuzz(func(t *testing.T, data []byte) { checkParsed(t, p, data) })
}

func TestParserKeepsTreesUntilReset(t *testing.T) {
	var p JSONParser
	texts := []string{`{"a":[1,{"b":"c"}],"d":{}}`, `[[],[{"x":null}]]`, `{"a":[1,{"b":"\u0041"}],"d":{"e":[2,3]}}`}
	var trees []*JSON
	for range 40 {
		for _, text := range texts {
			v, err := p.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, v)
		}
		if _, err := p.Parse([]byte(`[{"half":[1,{"a":`)); err == nil {
			t.Fatal("half a text was accepted")
		}
	}
	trees[0].Set("new", NewInt(1)) // growing a node must not overwrite others
	trees[0].Get("a").Items = append(trees[0].Get("a").Items, NewInt(2))
	if got, want := trees[0].String(), `{"a":[1,{"b":"c"},2],"d":{},"new":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, v := range trees[1:] {
		if got, want := v.String(), texts[(i+1)%len(texts)]; got != want {
			t.Fatalf("tree %d: got %s, want %s", i+1, got, want)
		}
	}
	name, text := trees[0].Members[0].Name, trees[0].Get("a").Items[1].Get("b").Text
	p.Reset()
	if _, err := p.Parse([]byte(`{"other":"text"}`)); err != nil || name != "a" || text != "c" {
		t.Errorf("strings did not outlive the tree: %q, %q, %v", name, text, err)
	}
}

func TestParserCopies(t *testing.T) {
	var p JSONParser
	for _, text := range append(treeSeeds, ugly...) {
		v := parse(t, text)
		w := p.Copy(v)
		if !v.identical(w) || w.String() != text && v.String() == text {
			t.Errorf("%q was copied as %q", text, w)
		}
		if w.Text += "x"; w.Kind == Object {
			w.Members = append(w.Members[:0], Member{Name: "other"})
		}
		if v.String() != parse(t, text).String() {
			t.Errorf("%q shares memory with its copy", text)
		}
	}
	if p.Copy(nil) != nil {
		t.Error("a copy of nil is not nil")
	}
	if got, want := p.Copy(NewArray(nil, NewObject(Member{Name: "a"}))).String(), `[null,{"a":null}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParserUsesMemoryAgain(t *testing.T) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Echo: x"},true,[1,2]]}}`)
	var p JSONParser
	parse := func() {
		p.Reset()
		if _, err := p.Parse(text); err != nil {
			t.Error(err)
		}
	}
	for range 8 {
		parse()
	}
	if n := testing.AllocsPerRun(100, parse); n != 1 { // the copy of the text
		t.Errorf("%v allocations, want 1", n)
	}
	if _, err := p.Parse([]byte("[" + strings.Repeat("{},", 3*maxSlab) + "1]")); err != nil {
		t.Fatal(err)
	}
	p.Reset()
	if len(p.nodes.chunk) > maxSlab || len(p.items.chunk) > maxSlab || cap(p.openItems) > maxSlab {
		t.Errorf("%d nodes, %d and %d items are kept for later", len(p.nodes.chunk), len(p.items.chunk), cap(p.openItems))
	}
}

// TestSpeltAsOurs: the original token of a string is kept only if Append would write it differently.
func TestSpeltAsOurs(t *testing.T) {
	parts := []string{`a`, `é`, `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u001f`, `\u000a`, `\u0008`, `\u007f`, `\u0041`,
		`\u00e9`, `\u2028`, `\ud83d`, `\ude00`, `\uD83D`, `\ud83c`, `\u001F`, "\xed\xa0\xbd", "\xed\xb8\x80", "\xed", "\xff", "\x7f"}
	r := random(1)
	for range 20_000 {
		var inner string
		for range r.IntN(4) {
			inner += parts[r.IntN(len(parts))]
		}
		text := unescape(inner)
		if got, want := speltAsOurs(inner), string(appendString(nil, text)) == `"`+inner+`"`; got != want {
			t.Fatalf("%q is %q: %v, want %v", inner, text, got, want)
		}
	}
}
