package schema

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

func mustCompile(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile([]byte(text))
	if err != nil {
		t.Fatalf("compiling %s: %v", text, err)
	}
	return s
}

// Values that are drawn to conform validate, and values with a reported violation do not.
func TestDraws(t *testing.T) {
	for _, test := range schemas {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := mustCompile(t, test.schema)
			n := 300
			if s.weight > 100 { // the validator would be a thousand times slower
				n = 10
			} else if testing.Short() {
				n = 30
				t.Log("a tenth of the draws, an eighth of the violations with -short")
			}
			checkDraws(t, test.name, s, rand.New(rand.NewPCG(1, 2)), n)
		})
	}
}

// Every keyword of the table is violated in the expected ways, at a position that the validator confirms.
func TestViolations(t *testing.T) {
	for _, test := range schemas {
		s := mustCompile(t, test.schema)
		var found []string
		for _, v := range s.Violations() {
			found = append(found, v.Keyword+" "+v.How)
		}
		for _, want := range test.breaks {
			if !slices.ContainsFunc(found, func(have string) bool { return have == want || strings.HasPrefix(have, want+" ") }) {
				t.Errorf("%s: nothing breaks %q; there are %q", test.name, want, found)
			}
		}
	}
}

// A violation of one keyword satisfies the others if possible.
func TestBreaksOnlyOne(t *testing.T) {
	s := mustCompile(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","minLength":2,"pattern":"^[a-z]*$"}},"required":["n","s"],"additionalProperties":false}`)
	r := rand.New(rand.NewPCG(1, 1))
	for _, v := range s.Violations() {
		if !v.Only {
			t.Errorf("%v by %s breaks more than itself, as in %v", v, v.How, v.example)
		}
		for range 20 {
			if value := s.Break(r, v); s.firstBroken(value) != v.String() {
				t.Errorf("%v by %s drew %v, of which the validator says %q", v, v.How, value, s.firstBroken(value))
			}
		}
	}
}

func TestSkipped(t *testing.T) {
	for _, test := range skipped {
		s, err := Compile([]byte(test.schema))
		var skip *SkipError
		if !errors.As(err, &skip) {
			t.Errorf("%s: compiled to %v, error %v", test.name, s, err)
			continue
		}
		if skip.Keyword != test.keyword || skip.Where != test.where || !strings.Contains(skip.Reason, test.reason) {
			t.Errorf("%s: keyword %q at %q: %s; want %q at %q: ...%s...", test.name, skip.Keyword, skip.Where, skip.Reason, test.keyword, test.where, test.reason)
		}
	}
}

func TestUnmet(t *testing.T) {
	s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"integer","minimum":5,"maximum":3},"b":{"type":"string"},"c":{"$ref":"#/$defs/loop"},"gone":false},"$defs":{"loop":{"type":"object","required":["x"],"properties":{"x":{"$ref":"#/$defs/loop"}}}}}`)
	var got []string
	for _, skip := range s.Unmet() {
		got = append(got, skip.Error())
	}
	want := []string{"the keywords contradict each other (minimum at /properties/a)", "the schema recurses without an exit: every value would have to hold another one ($ref at /properties/c)"}
	if !slices.Equal(got, want) {
		t.Errorf("unmet %q, want %q", got, want)
	}
}

// The same generator state gives the same values, also from schemas that were compiled separately.
func TestDeterministic(t *testing.T) {
	for _, test := range schemas {
		a, b := mustCompile(t, test.schema), mustCompile(t, test.schema)
		r, q := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
		for i := range 60 {
			mode := Mode(1 + i%3)
			v, broken := a.Generate(r, mode)
			w, broken2 := b.Generate(q, mode)
			if v.String() != w.String() || broken != broken2 {
				t.Fatalf("%s: %v draw %d is %.200s (%s) and %.200s (%s)", test.name, mode, i, v, broken, w, broken2)
			}
		}
		if len(a.Violations()) != len(b.Violations()) {
			t.Fatalf("%s: %d and %d violations", test.name, len(a.Violations()), len(b.Violations()))
		}
	}
}

func TestConcurrent(t *testing.T) {
	s := mustCompile(t, schemas[len(schemas)-1].schema)
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range 200 {
				v, broken := s.Generate(r, Mode(1+i%3))
				if (broken == "") != (s.Validate(v) == nil) {
					t.Errorf("drew %v and said %q", v, broken)
				}
			}
		})
	}
	group.Wait()
}

func TestBoundaries(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, test := range schemas {
		s := mustCompile(t, test.schema)
		for _, b := range s.Boundaries(r) {
			if err := s.Validate(b.Value); err != nil {
				t.Errorf("%s: %v is %v, which does not validate: %v", test.name, b, b.Value, err)
			}
		}
	}
	s := mustCompile(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":3,"exclusiveMaximum":9},"s":{"type":"string","minLength":2,"maxLength":4},"l":{"type":"array","maxItems":2,"items":{"type":"boolean"}},"e":{"enum":["x","y"]}},"required":["n"]}`)
	at := map[string][]string{}
	for _, b := range s.Boundaries(r) {
		at[b.String()] = append(at[b.String()], b.Value.At(b.At).String())
	}
	contains := func(edge string, want ...string) {
		for _, value := range want {
			if !slices.Contains(at[edge], value) {
				t.Errorf("no %s among the values of %s: %q", value, edge, at[edge])
			}
		}
	}
	contains("minimum at /n", "3", "4")
	contains("maximum at /n", "8", "7")
	contains("minItems at /l", "[]")
	contains("enum at /e", `"x"`, `"y"`)
	for edge, size := range map[string]int{"minLength at /s": 2 + 2, "maxLength at /s": 2 + 4} {
		if len(at[edge]) != 1 || len([]rune(at[edge][0])) < size {
			t.Errorf("%s is %q, want one string of %d", edge, at[edge], size-2)
		}
	}
	if n := len(at["presence at the root"]); n != 5 { // none, all, each of three
		t.Errorf("%d objects are boundary cases of presence: %q", n, at["presence at the root"])
	}
}

// Conform values have all optional members sometimes but not always, use all branches, and reach the boundary values.
func TestConformExplores(t *testing.T) {
	s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":1000},"b":{"type":"string","maxLength":20},"c":{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]},"path":{"type":"string"}},"additionalProperties":false}`)
	r := rand.New(rand.NewPCG(6, 6))
	seen := map[string]int{}
	for range 3000 {
		v, _ := s.Generate(r, Conform)
		for _, name := range []string{"a", "b", "c", "path"} {
			if v.Get(name) == nil {
				seen["no "+name]++
			} else {
				seen[name]++
			}
		}
		if n, ok := v.Get("a").Int(); ok && (n == 0 || n == 1000) {
			seen["edge "+v.Get("a").Text]++
		}
		if text, ok := v.Get("b").Str(); ok && (len([]rune(text)) == 20 || text == "") {
			seen["length "+map[bool]string{true: "0", false: "20"}[text == ""]]++
		}
		if c := v.Get("c"); c != nil {
			seen["c "+c.Kind.String()]++
		}
		if path, ok := v.Get("path").Str(); ok && slices.Contains(paths, path) {
			seen["a path"]++
		}
	}
	for _, want := range []string{"a", "no a", "b", "no b", "c", "no c", "edge 0", "edge 1000", "length 0", "length 20", "c string", "c number", "c null", "a path"} {
		if seen[want] < 20 {
			t.Errorf("%q occurs %d times in 3000", want, seen[want])
		}
	}
}

// Recursion ends, and values stay so small that a server can be sent thousands of them.
func TestRecursionIsBounded(t *testing.T) {
	s := mustCompile(t, `{"$defs":{"t":{"type":"object","properties":{"a":{"$ref":"#/$defs/t"},"b":{"$ref":"#/$defs/t"},"c":{"type":"array","items":{"$ref":"#/$defs/t"},"minItems":0}}}},"$ref":"#/$defs/t"}`)
	r := rand.New(rand.NewPCG(7, 7))
	deepest, largest := 0, 0
	for range 2000 {
		v, _ := s.Generate(r, Conform)
		largest = max(largest, v.Len())
		deepest = max(deepest, depthOf(v))
	}
	if deepest < 4 || deepest > 3*maxDepth || largest > 4*maxNodes {
		t.Errorf("the deepest of 2000 values has %d levels, the largest %d nodes", deepest, largest)
	}
}

func depthOf(v *mutate.JSON) int {
	deepest := 0
	v.Walk(func(pointer string, _ *mutate.JSON) bool {
		deepest = max(deepest, strings.Count(pointer, "/"))
		return true
	})
	return deepest
}
