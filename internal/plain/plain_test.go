package plain

import (
	"encoding/json"
	"maps"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢\n\ttext":   "plain é 漢\n\ttext",
		"\x1b[31mred\x07":     `\x1b[31mred\x07`,
		"\r\x00\x7f":          `\x0d\x00\x7f`,
		"\u0085\u009b":        `\u0085\u009b`,
		"a\u202eb\u2066c":     `a\u202eb\u2066c`,
		"\u200e\u200f\u061c":  `\u200e\u200f\u061c`,
		"\u2028\u2029\ufeff":  `\u2028\u2029\ufeff`,
		"\u2060\ufff9":        `\u2060\ufff9`,
		"a\U000e0041😀":        `a\U000e0041😀`,
		"not \xff UTF-8 \xc3": `not \xff UTF-8 \xc3`,
		"\ufffd":              `\ufffd`,
		"<script>&amp;":       "<script>&amp;", // markup is for whoever writes it
	} {
		if got := Text(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := Line(" a\n\tb \x1b "); got != `a b \x1b` {
		t.Errorf("on one line: %q", got)
	}
}

func TestJSON(t *testing.T) {
	const text = "{\"a\\n\": \"\u009b\u202e\u2066\U000e0041 é 😀\"}\n"
	got := JSON([]byte(text))
	if want := `{"a\n": "\u009b\u202e\u2066\udb40\udc41 é 😀"}` + "\n"; string(got) != want {
		t.Errorf("%q becomes %q, want %q", text, got, want)
	}
	var before, after map[string]string
	if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal(got, &after) != nil || !maps.Equal(before, after) {
		t.Errorf("%q means %q, and %q %q", text, before, got, after)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a/b-c.json": "a/b-c.json", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "~": "'~'"} {
		if got := Quote(in); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
}
