package mutate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// odd are texts that readers of JSON disagree on.
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

// check compares with the reference what is read, and where it stops being JSON.
func check(t *testing.T, p *JSONParser, data []byte) {
	want, wantErr := oldParseJSON(data)
	got, err := p.Parse(data)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%.80q: %v, want %v", data, err, wantErr)
	}
	if err != nil {
		if utf8.Valid(data) && !strings.Contains(err.Error(), "must be a string") && place(err) != place(wantErr) {
			t.Errorf("%.80q: %v, want %v", data, err, wantErr)
		}
		return
	}
	same(t, got, want)
	p.Reset()
}

func place(err error) string { return err.Error()[strings.LastIndex(err.Error(), "byte "):] }

func same(t *testing.T, v, w *JSON) {
	if v.Kind != w.Kind || v.Text != w.Text || len(v.Items) != len(w.Items) || len(v.Members) != len(w.Members) || v.read.spelling(v.Text) != w.read.spelling(w.Text) {
		t.Fatalf("%s and %s", v, w)
	}
	for i := range v.Items {
		same(t, v.Items[i], w.Items[i])
	}
	for i := range v.Members {
		m, n := v.Members[i], w.Members[i]
		if m.Name != n.Name || m.read.spelling(m.Name) != n.read.spelling(n.Name) {
			t.Fatalf("%s and %s", v, w)
		}
		same(t, m.Value, n.Value)
	}
}

func TestParserAgreesWithReference(t *testing.T) {
	var p JSONParser
	for _, text := range append(odd, ugly...) {
		check(t, &p, []byte(text))
		check(t, new(JSONParser), []byte(text))
	}
}

func FuzzParser(f *testing.F) {
	for _, text := range append(odd, ugly...) {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	p := new(JSONParser)
	f.Fuzz(func(t *testing.T, data []byte) { check(t, p, data) })
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
			t.Fatal("half a text was read")
		}
	}
	trees[0].Set("new", NewInt(1)) // a part that grows must not grow into others
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
