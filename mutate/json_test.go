package mutate

import (
	"fmt"
	"strings"
	"testing"
)

func parse(t testing.TB, text string) *JSON {
	t.Helper()
	v, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// ugly are compact texts that decoding into Go values and encoding would change.
var ugly = []string{
	`null`, `true`, `false`, `0`, `-0`, `1.0`, `1E+2`, `0e-00`, `1e400`, `123456789012345678901234567890`,
	`""`, `"\u0041"`, `"\/"`, `"/"`, `"\ud800"`, `"\udc00\ud800"`, `"\uD83D\uDE00"`, `"😀"`, `"\u0000"`, `"\b\f\n\r\t"`,
	"\"\x7f\u2028\"", "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"a\xedb\"", "\"\xc0\xaf\"", `"\u001F\u001f"`, `"\"\\"`,
	`[]`, `{}`, `[[],{}]`, `{"a":1,"a":2}`, `{"\u0061":1}`, `{"":{"":[]}}`, `{"a/b~c":[0,"x",null]}`,
	`{"b":1,"a":{"z":[1,2,{"k":"v"}]},"` + "\xff" + `":true}`,
}

func TestRoundTrip(t *testing.T) {
	for _, text := range ugly {
		v := parse(t, text)
		if got := v.String(); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if got := v.Clone().String(); got != text {
			t.Errorf("clone of %q came back as %q", text, got)
		}
		if v.size() != len(text) {
			t.Errorf("size of %q: %d, want %d", text, v.size(), len(text))
		}
		if !v.Equal(parse(t, text)) || !v.identical(parse(t, text)) {
			t.Errorf("%q does not equal itself", text)
		}
	}
}

func TestRoundTripLosesOnlyWhiteSpace(t *testing.T) {
	v := parse(t, " {\t\"a\" : [ 1 ,\n2 ] ,\r\"\\u0062\": 1.50 } \n")
	if got, want := v.String(), `{"a":[1,2],"\u0062":1.50}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChangedStringIsWrittenAnew(t *testing.T) {
	v := parse(t, `{"\u0061":"\u0062"}`)
	v.Members[0].Name = "x\n"
	v.Members[0].Value.Text = "\xed\xa0\x80\x01\xff"
	if got, want := v.String(), `{"x\n":"\ud800\u0001`+"\xff"+`"}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := v.size(); got != len(v.String()) {
		t.Errorf("size %d, want %d", got, len(v.String()))
	}
	v.Members[0].Value.Text = "b"
	if got, want := v.String(), `{"x\n":"\u0062"}`; got != want {
		t.Errorf("the old text again: got %q, want %q", got, want)
	}
}

func TestParseErrorsSayWhere(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, "no value at byte 0"},
		{`  `, "no value at byte 2"},
		{`1 2`, "text after the value at byte 2"},
		{`{} x`, "at byte 3"},
		{`[1,]`, "at byte 2"},
		{`{"a" 1}`, "at byte 5"},
		{`{"a":}`, "at byte 5"},
		{`{1:2}`, "at byte 1"},
		{`{"a"`, "at byte 4"},
		{`[1`, "at byte 2"},
		{`"\x"`, "at byte 1"},
		{`nul`, "at byte 3"},
		{`[}`, "at byte 1"},
		{`{]`, "at byte 1"},
		{`01`, "at byte 1"},
		{strings.Repeat("[", 10001) + strings.Repeat("]", 10001), "at byte 10000"},
	} {
		v, err := ParseJSON([]byte(test.text))
		if err == nil {
			t.Errorf("%.20q parsed as %.20s", test.text, v)
		} else if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "parsing JSON: ") {
			t.Errorf("%.20q: %v, want %q", test.text, err, test.want)
		}
	}
}

func TestDecodedText(t *testing.T) {
	for _, test := range []struct{ token, want string }{
		{`"a\u0062\/\"\\\b\f\n\r\t"`, "ab/\"\\\b\f\n\r\t"},
		{`"\ud83d\ude00"`, "😀"},
		{`"\ud800"`, "\xed\xa0\x80"},
		{`"\udfffx"`, "\xed\xbf\xbfx"},
		{`"\ud800\u0041"`, "\xed\xa0\x80A"},
		{`"\ud800\ud800\udc00"`, "\xed\xa0\x80\U00010000"},
		{"\"\xff\"", "\xff"},
	} {
		if got, _ := parse(t, test.token).Str(); got != test.want {
			t.Errorf("%s is %q, want %q", test.token, got, test.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`1`, `10e-1`, true},
		{`1`, `0.1E1`, true},
		{`100`, `1e2`, true},
		{`0`, `-0.00e5`, true},
		{`1`, `-1`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`123456789012345678901234567890`, `1.2345678901234567890123456789e29`, true},
		{`1e400`, `10e399`, true},
		{`1e999999999999999999999`, `10e999999999999999999998`, false},
		{`1e999999999999999999999`, `1e999999999999999999999`, true},
		{`1e-0000000000000000000000002`, `0.01`, true},
		{`"a"`, `"\u0061"`, true},
		{`"a"`, `"b"`, false},
		{"\"\xed\xa0\x80\"", `"\ud800"`, true},
		{`"1"`, `1`, false},
		{`null`, `null`, true},
		{`true`, `false`, false},
		{`[1,2]`, `[1.0,2]`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"a":2}`, false},
	} {
		a, b := parse(t, test.a), parse(t, test.b)
		if a.Equal(b) != test.want || b.Equal(a) != test.want {
			t.Errorf("%s == %s is %v, want %v", test.a, test.b, a.Equal(b), test.want)
		}
	}
	pair := NewString("\xed\xa0\xbd\xed\xb8\x80\xed\xa0\x80z")
	if !pair.Equal(NewString("😀\xed\xa0\x80z")) || !parse(t, pair.String()).Equal(pair) {
		t.Error("two halves of a character are not equal to it")
	}
	for _, bad := range []string{"", "+1", "01", "1.", ".5", "1e", "1e+-2", "0x1", "NaN"} {
		if NewNumber(bad).Equal(NewNumber("1")) || NewNumber("1").Equal(NewNumber(bad)) || !NewNumber(bad).Equal(NewNumber(bad)) {
			t.Errorf("number %q: only itself is equal", bad)
		}
	}
	var none *JSON
	if !none.Equal(nil) || none.Equal(NewNull()) || NewNull().Equal(nil) || !NewRaw("x").Equal(NewRaw("x")) || NewRaw("1").Equal(NewInt(1)) {
		t.Error("nil and raw nodes")
	}
}

func TestAccess(t *testing.T) {
	v := NewObject(Member{Name: "a", Value: NewInt(1)}, Member{Name: "a", Value: NewInt(2)}, Member{Name: "s", Value: NewString("x")})
	if got, _ := v.Get("a").Int(); got != 1 {
		t.Errorf("Get found %d, want the first", got)
	}
	v.Set("a", NewBool(true))
	v.Set("n", NewArray(NewNull(), nil, NewRaw("{,}")))
	if got, want := v.String(), `{"a":true,"a":2,"s":"x","n":[null,null,{,}]}`; got != want || v.size() != len(want) {
		t.Errorf("got %s (size %d), want %s", got, v.size(), want)
	}
	if got := v.Len(); got != 7 {
		t.Errorf("Len %d, want 7", got)
	}
	if got := v.depth(); got != 2 {
		t.Errorf("depth %d, want 2", got)
	}
	v.Delete("a")
	if got, want := v.String(), `{"s":"x","n":[null,null,{,}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s, ok := v.Get("s").Str()
	if s != "x" || !ok {
		t.Errorf("Str gave %q, %v", s, ok)
	}
	var none *JSON
	if _, ok := none.Str(); ok || none.Get("x") != nil || none.Len() != 0 || none.Clone() != nil || none.String() != "null" {
		t.Error("nil is not safe to read")
	}
	none.Set("a", v)
	none.Delete("a")
	NewNull().Set("a", v)
	if (&JSON{}).String() != "null" || (&JSON{}).size() != 4 || none.size() != 4 {
		t.Error("the zero value is not written as null")
	}
	if Raw.String() != "raw" || Kind(99).String() != "kind(99)" {
		t.Error("names of kinds")
	}
}

func TestInt(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"1", 1, true}, {"-1.0", -1, true}, {"10e-1", 1, true}, {"1e18", 1e18, true}, {"1e19", 0, false}, {"1.5", 0, false},
		{"9223372036854775807", 9223372036854775807, true}, {"9223372036854775808", 0, false},
		{"-9223372036854775808", -9223372036854775808, true}, {"+1", 0, false}, {"x", 0, false}, {"0e99", 0, true},
		{"1e99999999999999999999", 0, false},
	} {
		if got, ok := NewNumber(test.text).Int(); ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %d, %v", test.text, got, ok)
		}
	}
	if _, ok := NewString("1").Int(); ok {
		t.Error("a string is no integer")
	}
}

func TestPointers(t *testing.T) {
	v := parse(t, `{"a":[10,{"b/c":1,"~":2}],"":3,"a":4}`)
	var got []string
	v.Walk(func(pointer string, w *JSON) bool {
		got = append(got, fmt.Sprintf("%s=%s", pointer, w.Kind))
		if pointer != "/a" && pointer != "" && v.At(pointer) != w {
			t.Errorf("At(%q) is another node", pointer)
		}
		return true
	})
	want := "=object /a=array /a/0=number /a/1=object /a/1/b~1c=number /a/1/~0=number /=number /a=number"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("walked\n%s, want\n%s", s, want)
	}
	for _, pointer := range []string{"a", "/x", "/a/2", "/a/01", "/a/-", "/a/+1", "/a/0/x", "/a/1/x/y"} {
		if w := v.At(pointer); w != nil {
			t.Errorf("At(%q) found %s", pointer, w)
		}
	}
	n := 0
	v.Walk(func(pointer string, w *JSON) bool { n++; return pointer == "" })
	if n != 4 {
		t.Errorf("visited %d nodes, want 4", n)
	}
}

func TestDeepTree(t *testing.T) {
	const depth = 10000
	text := strings.Repeat(`{"nested":`, depth) + "1" + strings.Repeat("}", depth)
	v := parse(t, text)
	longest := 0
	v.Walk(func(pointer string, w *JSON) bool { longest = max(longest, len(pointer)); return true })
	if longest != depth*len("/nested") || v.depth() != depth || v.Len() != depth+1 || v.Clone().String() != text {
		t.Errorf("longest pointer %d, depth %d, %d nodes", longest, v.depth(), v.Len())
	}
}

func TestCopyUsesMemoryAgain(t *testing.T) {
	src := parse(t, `{"a":[1,2,{"b":"\u0041"}],"c":{"d":null}}`)
	dst := parse(t, `{"x":[0,0,{"y":1,"z":2}],"q":{"r":1},"s":[1,2,3]}`)
	if n := testing.AllocsPerRun(10, func() { dst.copyFrom(src) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got, want := dst.String(), src.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	dst.Get("a").Items[0].Text = "9"
	if src.Get("a").Items[0].Text != "1" {
		t.Error("the copy shares a node")
	}
}
