package typed_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate/typed"
)

const sums = `
Sum    = Number { ( "+" | "-" ) Number } .
Number = Digit { Digit } | "(" Sum ")" .
Digit  = "0" … "9" .
`

// All generated and changed texts match the grammar, and simplification ends at the shortest text.
func TestGrammar(t *testing.T) {
	g, err := typed.NewGrammar(sums)
	if err != nil {
		t.Fatal(err)
	}
	p, err := typed.Text[string](g).Plan()
	if err != nil {
		t.Fatal(err)
	}
	e, r := typed.NewEditor(p), rand.New(rand.NewPCG(1, 2))
	v := e.Generate(r)
	seen := map[string]bool{}
	for range 3000 {
		v = e.Mutate(r, nil, v)
		s := as[string](v)
		seen[s] = true
		if strings.Count(s, "(") != strings.Count(s, ")") || strings.Trim(s, "0123456789+-()") != "" || s == "" {
			t.Fatalf("made %q", s)
		}
		if len(s) > 60 {
			v = e.Generate(r)
		}
	}
	if len(seen) < 1000 {
		t.Errorf("%d texts", len(seen))
	}
	if v, err = e.Decode([]byte(`"12+(3-(45+6))-7"`)); err != nil {
		t.Fatal(err)
	}
	for k, ok := uint64(0), true; ok; k++ {
		c, more := e.Simplify(k, nil, v)
		if ok = more; ok && e.Complexity(c) < e.Complexity(v) {
			v, k = c, 0
		}
	}
	if s := as[string](v); s != "0" {
		t.Errorf("simplified to %q", s)
	}
}

func TestPattern(t *testing.T) {
	for _, pattern := range []string{`[A-Z]{3}-[0-9]{2,4}`, `(a|bc)*d?`, `(?i)select .+ from [a-z_]+`, `\d+(\.\d+)?([eE][+-]?\d+)?`, `^[^\n]{1,5}$`, `\p{Greek}+`} {
		g, err := typed.Pattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		p, err := typed.Text[[]byte](g).Plan()
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(`^(?:` + pattern + `)$`)
		e, r := typed.NewEditor(p), rand.New(rand.NewPCG(1, 2))
		v := e.Generate(r)
		for range 500 {
			v = e.Mutate(r, nil, v)
			if s := as[[]byte](v); !re.Match(s) {
				t.Fatalf("%s: made %q", pattern, s)
			}
			if len(as[[]byte](v)) > 80 {
				v = e.Generate(r)
			}
		}
	}
}

func TestGrammarMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`A = B .`, "B has no production"},
		{`A = A "x" | "y" .`, "A is left recursive"},
		{`A = ["-"] A .`, "A derives no finite text"},
		{`A = "x" A . B = "y" .`, "A derives no finite text"},
		{`A = ( "x" .`, "expected ')'"},
		{`A = "z" … "a" .`, "a range goes from"},
		{`A = "x"`, "expected '.'"},
		{``, "it has no production"},
		{`A = "x" . A = "y" .`, "A has two productions"},
	} {
		if _, err := typed.NewGrammar(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		}
	}
	for _, pattern := range []string{`a[`, `\bx`, `[^\x00-\x{10FFFF}]`} {
		if _, err := typed.Pattern(pattern); err == nil {
			t.Errorf("%s is accepted", pattern)
		}
	}
}
