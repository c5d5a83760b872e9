package schema

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

// TestFormats: hostile strings conform to their format, near ones do not, and drawn strings do.
func TestFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, name := range sortedKeys(formats) {
		f := formats[name]
		if f.bits > 0 {
			continue
		}
		s := mustCompile(t, `{"type":"string","format":"`+name+`"}`)
		valid := func(text string) bool { return s.Validate(mutate.NewString(text)) == nil }
		for _, text := range f.hostile {
			if !valid(text) {
				t.Errorf("%s: %q is refused", name, text)
			}
		}
		for _, text := range f.near {
			if valid(text) {
				t.Errorf("%s: %q is taken", name, text)
			}
		}
		for range 300 {
			if text := f.draw(r); !valid(text) {
				t.Errorf("%s: drew %q, which is refused", name, text)
			}
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string
	}{
		{`^\d+$`, []string{"1", "123"}, []string{"", "a", "1\n", "٣"}},
		{`^[^]$`, []string{"\n", "a"}, []string{"", "ab"}},
		{`^[]$`, nil, []string{"", "a"}},
		{`^.$`, []string{"a", "é", "\v"}, []string{"\n", "\r", "\u2028"}},
		{`^\s$`, []string{" ", "\u00a0", "\ufeff", "\u2003"}, []string{"a", "\u200b"}},
		{`^\S$`, []string{"a"}, []string{" ", "\u00a0"}},
		{`^[\s]$`, []string{"\u00a0"}, []string{"s"}},
		{`^[\w.\-]+$`, []string{"a-b.c_9"}, []string{"a b", "é"}},
		{`^[a[b]$`, []string{"a", "[", "b"}, []string{"c"}},
		{`^\u00e9\u{1F600}\ud83d\ude00\x41\cI$`, []string{"é😀😀A\t"}, []string{"é"}},
		{`^\p{Lu}\p{Script=Greek}\P{L}$`, []string{"Aα1"}, []string{"aα1", "Aa1"}},
		{`^(?<year>\d{4})$`, []string{"2024"}, []string{"24"}},
		{`^a{2,3}b{0,1500}$`, []string{"aab", "aaa"}, []string{"ab", "aaaab"}},
		{`^x{1200}$`, nil, []string{"x"}},
		{`^(?:ab){1100,}$`, nil, []string{"abab"}},
		{`a{,2}`, []string{"a{,2}"}, []string{"aa"}},
		{`^([a-z0-9]{1,63}\.){1,20}[a-z]{2,63}$`, []string{"a.bc", strings.Repeat("ab1.", 20) + "cd"}, []string{"bc", "a.b", strings.Repeat("a.", 21) + "bc"}},
		{`^([0-9a-f]{8},){0,200}$`, []string{"", strings.Repeat("01234567,", 200)}, []string{"01234567", strings.Repeat("01234567,", 201)}},
		{`^(?<row>(?<cell>[a-z]{4};){40}\n){2,10}$`, []string{strings.Repeat(strings.Repeat("abcd;", 40)+"\n", 10)}, []string{strings.Repeat("abcd;", 40) + "\n"}},
		{`^((a|b{30}){40}c?){3,}$`, []string{strings.Repeat("a", 120) + "c", strings.Repeat("a", 1200)}, []string{strings.Repeat("a", 119)}},
		{`^(?!admin$)[a-z]+$`, []string{"user", "admins"}, []string{"admin", ""}},
		{`^(?=.*\d)(?=.*[a-z]).{4,}$`, []string{"abc1"}, []string{"abcd", "1234", "a1"}},
		{`\/\-\_\a`, []string{"/-_a"}, []string{"/-_"}},
		{`[\b]`, []string{"\b"}, []string{"b"}},
	} {
		p, err := newPattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, text := range test.yes {
			if !p.MatchString(text) {
				t.Errorf("%s does not match %q", test.pattern, text)
			}
		}
		for _, text := range test.not {
			if p.MatchString(text) {
				t.Errorf("%s matches %q", test.pattern, text)
			}
		}
		if test.pattern == `^[]$` {
			continue // nothing matches
		}
		r := rand.New(rand.NewPCG(2, 2))
		for range 200 {
			if s, ok := p.sample(r, 0, longText); !ok || !p.MatchString(s) {
				t.Fatalf("%s: drew %.80q, %v", test.pattern, s, ok)
			}
		}
	}
}
