package mutate

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/teaselfuzz/teasel"
)

// treeSeeds are texts with all kinds of nodes.
var treeSeeds = []string{
	`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"Hi there, caf\u00e9","count":3,"loud":true}}}`,
	`{"jsonrpc":"2.0","id":"x-1","method":"resources/read","params":{"uri":"file:///a/b.txt","_meta":{"progressToken":null}}}`,
	`[1,-2.5,1e3,"text",null,true,false,[],{},[[3,4]],{"a":{"b":{"c":"deep"}}}]`,
	`{"list":[1,2,3,4,5,6],"n":9007199254740993,"s":"","dup":1,"dup":2,"\u0061":"\ud800"}`,
	`"just text"`, `12345`, `null`, `true`, `[]`, `{}`, `""`, `-0`,
}

func strict(text string) bool { return json.Valid([]byte(text)) }

// TestTreeOperators checks the results of each operator: the kind of change, the limits, and that it can be applied where it must.
func TestTreeOperators(t *testing.T) {
	type mutant struct {
		src, got *JSON
		text     string
	}
	any := func(mutant) bool { return true }
	valid := func(m mutant) bool { // valid for our parser, and without Raw nodes
		w, err := ParseJSON([]byte(m.text))
		return err == nil && w.Equal(m.got)
	}
	nodes := func(low, high int) func(mutant) bool {
		return func(m mutant) bool { d := m.got.Len() - m.src.Len(); return valid(m) && low <= d && d <= high }
	}
	const seed = `{"a":"text, more text","b":[10,2.5,-3],"c":{"d":true,"e":null},"f":"IiSsKk"}`
	checks := map[JSONOperator]func(mutant) bool{
		JSONTypeConfusion: func(m mutant) bool { return valid(m) && kindsOf(m.got) != kindsOf(m.src) },
		JSONBoundary:      any,
		JSONNesting: func(m mutant) bool {
			return valid(m) && m.got.depth() <= 50 && m.got.Len() > m.src.Len() && leaves(m.got) == leaves(m.src)
		},
		JSONUnicode:         nodes(0, 0),
		JSONStringFlip:      nodes(0, 0),
		JSONStringInsert:    func(m mutant) bool { return nodes(0, 0)(m) && len(m.text) > len(m.src.String()) },
		JSONStringDelete:    func(m mutant) bool { return nodes(0, 0)(m) && len(m.text) < len(m.src.String()) },
		JSONStringDuplicate: func(m mutant) bool { return nodes(0, 0)(m) && len(m.text) > len(m.src.String()) },
		JSONStringToken:     nodes(0, 0),
		JSONStringCase:      nodes(0, 0),
		JSONStringSpace:     func(m mutant) bool { return nodes(0, 0)(m) && len(m.text) > len(m.src.String()) },
		JSONNumberAdd:       nodes(0, 0),
		JSONNumberScale:     nodes(0, 0),
		JSONNumberNegate:    func(m mutant) bool { return nodes(0, 0)(m) && abs(len(m.text)-len(m.src.String())) == 1 },
		JSONNumberForm: func(m mutant) bool {
			w, err := ParseJSON([]byte(m.text))
			return err != nil || w.Equal(m.src)
		},
		JSONMemberRemove: nodes(-4, -1),
		JSONMemberRename: func(m mutant) bool { return nodes(0, 0)(m) && leaves(m.got) == leaves(m.src) },
		JSONMemberDuplicate: func(m mutant) bool {
			return nodes(1, 9)(m) && !m.got.Equal(m.src) == (lastMembersLen(m.got) < membersLen(m.got)) || lastMembersLen(m.got) < membersLen(m.got)
		},
		JSONMemberAdd:     nodes(1, 2),
		JSONMemberShuffle: func(m mutant) bool { return nodes(0, 0)(m) && m.got.Equal(m.src) },
		JSONItemDuplicate: nodes(1, 1024),
		JSONItemDrop:      nodes(-1, -1),
		JSONItemReorder: func(m mutant) bool {
			return nodes(0, 0)(m) && sortedBytes([]byte(m.text)) == sortedBytes([]byte(m.src.String()))
		},
		JSONSwap: func(m mutant) bool {
			return nodes(0, 0)(m) && sortedBytes([]byte(m.text)) == sortedBytes([]byte(m.src.String()))
		},
		JSONCopy:   valid,
		JSONDefect: func(m mutant) bool { return !strict(m.text) || kindsOf(m.got).has(Raw) },
		JSONSplice: valid,
	}
	tree := &JSONTree{MaxBytes: 5000, MaxDepth: 50}
	r := random(11)
	other := parse(t, `{"x":[{"y":"z"}],"w":77}`)
	for _, op := range JSONOperators() {
		check := checks[op]
		if check == nil {
			t.Errorf("%s: no check", op)
			continue
		}
		changed := 0
		for range 1000 {
			m := mutant{src: parse(t, seed), got: parse(t, seed)}
			ok := tree.Apply(r, op, m.got, other)
			m.text = m.got.String()
			if ok == (m.text == seed) {
				t.Fatalf("%s: says changed %v of %s", op, ok, m.text)
			}
			if !ok {
				continue
			}
			changed++
			if len(m.text) > 5000 || !check(m) {
				t.Fatalf("%s: %s", op, m.text)
			}
		}
		if changed < 950 {
			t.Errorf("%s: changed only %d of 1000", op, changed)
		}
	}
	if tree.Apply(r, JSONInvalid, parse(t, seed), nil) || tree.Apply(r, 200, parse(t, seed), nil) || tree.Apply(r, JSONSplice, parse(t, seed), nil) {
		t.Error("an operator that is none changed something")
	}
	if got := JSONDefect.String() + " " + JSONOperator(200).String(); got != "defect jsonoperator(200)" {
		t.Errorf("names %q", got)
	}
}

func abs(n int) int { return max(n, -n) }

// kindsOf counts the nodes of each kind.
type kindCount [Raw + 1]int

func (c kindCount) has(k Kind) bool { return c[k] > 0 }

func kindsOf(v *JSON) (c kindCount) {
	v.each(func(w *JSON) { c[w.Kind]++ })
	return c
}

// leaves returns all scalars in order.
func leaves(v *JSON) string {
	var b strings.Builder
	v.each(func(w *JSON) {
		if w.childCount() == 0 {
			b.WriteString(w.String())
		}
	})
	return b.String()
}

func membersLen(v *JSON) (n int) {
	v.each(func(w *JSON) { n += len(w.Members) })
	return n
}

func lastMembersLen(v *JSON) (n int) {
	v.each(func(w *JSON) { n += len(lastMembers(w.Members)) })
	return n
}

// TestTreeMutants checks that all mutants differ from their source, respect the limits, and are a pure function of the arguments.
func TestTreeMutants(t *testing.T) {
	tree := &JSONTree{MaxBytes: 4000, MaxDepth: 100}
	fresh := &JSONTree{MaxBytes: 4000, MaxDepth: 100}
	same := 0
	var dst *JSON
	for i := range 10000 {
		text := treeSeeds[i%len(treeSeeds)]
		src := parse(t, text)
		dst = tree.Mutate(random(uint64(i)), dst, src)
		got := dst.String()
		if got == text {
			same++
		}
		if src.String() != text {
			t.Fatalf("mutant %d changed its source to %s", i, src)
		}
		if len(got) > 4000 || dst.depth() > 100 || dst.size() != len(got) {
			t.Fatalf("mutant %d: %d bytes (size says %d), %d deep", i, len(got), dst.size(), dst.depth())
		}
		if i%10 == 0 {
			if again := fresh.Clone().Mutate(random(uint64(i)), nil, src).String(); again != got {
				t.Fatalf("mutant %d depends on earlier calls:\n%s\n%s", i, got, again)
			}
		}
		distinct(t, dst)
	}
	if same*100 >= 10000 {
		t.Errorf("%d of 10000 mutants equal their source", same)
	} else if same > 0 {
		t.Logf("%d of 10000 mutants equal their source", same)
	}
}

// distinct checks that a tree does not contain a node twice.
func distinct(t *testing.T, v *JSON) {
	t.Helper()
	seen := map[*JSON]bool{}
	v.each(func(w *JSON) {
		if seen[w] {
			t.Fatalf("a node occurs twice in %s", v)
		}
		seen[w] = true
	})
}

// TestTreeMutantsOfMutants mutates mutants again, as a campaign does, including those with Raw nodes.
func TestTreeMutantsOfMutants(t *testing.T) {
	tree := &JSONTree{MaxBytes: 2000, MaxDepth: 30, MaxOps: 8}
	r := random(1)
	pool := make([]*JSON, len(treeSeeds))
	for i, text := range treeSeeds {
		pool[i] = parse(t, text)
	}
	for i := range 6000 {
		src := pool[below(r, len(pool))]
		before := src.String()
		var v *JSON
		if i%3 == 0 {
			v = tree.Cross(r, nil, src, pool[below(r, len(pool))])
		} else {
			v = tree.Mutate(r, nil, src)
		}
		if got := v.String(); got == before && got != "" || src.String() != before || len(got) > 2000 || v.depth() > 30 || v.size() != len(got) {
			t.Fatalf("%s became %s", before, got)
		}
		distinct(t, v)
		pool[below(r, len(pool))] = v
	}
}

func TestTreeLargerThanItsLimits(t *testing.T) {
	tree := &JSONTree{MaxBytes: 10, MaxDepth: 2}
	text := `{"a":[[[["deeper and longer than allowed",1,2,3]]]]}`
	r := random(1)
	for range 500 {
		v := tree.Mutate(r, nil, parse(t, text))
		if got := v.String(); len(got) > len(text) || v.depth() > 5 || got == text {
			t.Fatalf("%s", got)
		}
	}
	if v := tree.Mutate(r, nil, nil); v == nil {
		t.Error("nothing was made of nothing")
	}
}

func TestProtect(t *testing.T) {
	text := `{"jsonrpc":"2.0","id":7,"params":{"keep":{"x":[1,2]},"free":[1,{"y":"z"}],"list":[{"p":1},{"q":2}]}}`
	guard := []string{"/jsonrpc", "/id", "/params/keep", "/params/list/1/q"}
	tree := &JSONTree{
		MaxBytes: 3000, MaxOps: 6,
		Protect: func(pointer string) bool {
			for _, g := range guard {
				if pointer == g {
					return true
				}
			}
			return false
		},
	}
	src := parse(t, text)
	kept := func(v *JSON) {
		t.Helper()
		for _, g := range guard {
			if w := v.At(g); w == nil || !w.identical(src.At(g)) {
				t.Fatalf("%s is gone in %s", g, v)
			}
		}
		for _, name := range []string{"id", "jsonrpc"} {
			n := 0
			for _, m := range v.Members {
				if m.Name == name {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("%s occurs %d times in %s", name, n, v)
			}
		}
	}
	r := random(2)
	other := parse(t, `{"a":[{"b":1},"c"]}`)
	for range 5000 {
		kept(tree.Mutate(r, nil, src))
		kept(tree.Cross(r, nil, src, other))
	}
	for k := uint64(0); ; k++ {
		v, more := tree.Step(k, nil, src)
		if !more {
			break
		}
		kept(v)
	}
	for k := uint64(0); ; k++ {
		v, more := tree.Simplify(k, nil, src)
		if !more {
			break
		}
		kept(v)
	}
	all := &JSONTree{Protect: func(string) bool { return true }}
	if got := all.Mutate(r, nil, src).String(); got != text {
		t.Errorf("all is protected, but: %s", got)
	}
}

func TestTreeWeights(t *testing.T) {
	tree := &JSONTree{Weights: map[JSONOperator]int{}}
	for _, op := range JSONOperators() {
		tree.Weights[op] = 0
	}
	r := random(1)
	if got := tree.Mutate(r, nil, parse(t, "1")).String(); got == "1" {
		t.Error("with all operators off nothing was changed")
	}
	only := &JSONTree{Weights: map[JSONOperator]int{}}
	for _, op := range JSONOperators() {
		only.Weights[op] = 0
	}
	only.Weights[JSONMemberShuffle] = 1
	src := parse(t, `{"a":1,"b":2,"c":3}`)
	for range 200 {
		if got := only.Mutate(r, nil, src); !got.Equal(src) {
			t.Fatalf("not only shuffled: %s", got)
		}
	}
	if got := only.Mutate(r, nil, parse(t, "5")).String(); got == "5" {
		t.Error("what does not fit the only operator was not changed by another one")
	}
}

func TestTreeCross(t *testing.T) {
	tree := &JSONTree{}
	a, b := parse(t, `{"a":1,"b":[2,3],"c":"d"}`), parse(t, `{"x":"MARK","y":["MARK"],"z":{"k":"MARK"}}`)
	r := random(1)
	marked := 0
	var dst *JSON
	for range 500 {
		dst = tree.Cross(r, dst, a, b)
		got := dst.String()
		if got == a.String() {
			t.Fatal("equals the first")
		}
		if strings.Contains(got, "MARK") {
			marked++
		}
	}
	if marked < 450 {
		t.Errorf("only %d of 500 have anything of the second", marked)
	}
	if got := tree.Cross(r, nil, a, a).String(); got == a.String() {
		t.Error("a tree crossed with itself is itself")
	}
	if tree.Cross(r, nil, nil, b).String() != b.String() || tree.Cross(r, nil, a, nil).String() == a.String() {
		t.Error("cross with nil")
	}
}

func TestTreeGenerate(t *testing.T) {
	tree := &JSONTree{MaxDepth: 3}
	r := random(1)
	var all kindCount
	for range 500 {
		v := tree.Generate(r)
		w, err := ParseJSON([]byte(v.String()))
		if err != nil || !w.Equal(v) || v.depth() > 3 {
			t.Fatalf("%s: %v", v, err)
		}
		for k, n := range kindsOf(v) {
			all[k] += n
		}
	}
	for k := Null; k <= Object; k++ {
		if all[k] == 0 {
			t.Errorf("no %s in 500 trees", k)
		}
	}
}

func TestTreeSteps(t *testing.T) {
	tree := &JSONTree{}
	for _, text := range treeSeeds {
		src := parse(t, text)
		seen := map[string]bool{}
		var dst *JSON
		k := uint64(0)
		for more := true; more; k++ {
			if dst, more = tree.Step(k, dst, src); !more {
				break
			}
			got := dst.String()
			if len(got) > 5000 { // long strings and deep nesting make the check slow
				continue
			}
			if got == text || src.String() != text {
				t.Fatalf("step %d of %s: %s", k, text, got)
			}
			if again, _ := tree.Step(k, nil, src); again.String() != got {
				t.Fatalf("step %d of %s: %s, then %s", k, text, got, again)
			}
			seen[got] = true
		}
		if len(seen) < 15*src.Len() || uint64(len(seen)) < k/2 {
			t.Errorf("%s: %d steps, %d different", text, k, len(seen))
		}
		if _, more := tree.Step(k+5000, nil, src); more {
			t.Errorf("%s: steps go on", text)
		}
	}
	if _, more := tree.Step(0, nil, nil); more {
		t.Error("steps of nothing")
	}
	want := map[string]bool{`{"n":9223372036854775808}`: false, `{"n":"1"}`: false, `{}`: false, `{"n":1,"n":null}`: false, `{"n":NaN}`: false,
		`{"n":1,"__proto__":true}`: false, `[{"n":1}]`: false}
	for k := uint64(0); ; k++ {
		v, more := tree.Step(k, nil, parse(t, `{"n":1}`))
		if !more {
			break
		}
		if _, ok := want[v.String()]; ok {
			want[v.String()] = true
		}
	}
	for text, ok := range want {
		if !ok {
			t.Errorf("no step makes %s of {\"n\":1}", text)
		}
	}
	small := &JSONTree{MaxBytes: 30, MaxDepth: 3}
	for k := uint64(0); ; k++ {
		v, more := small.Step(k, nil, parse(t, `{"n":[true,"x"]}`))
		if !more {
			break
		}
		if len(v.String()) > 30 || v.depth() > 3 {
			t.Fatalf("step %d goes over the limits: %s", k, v)
		}
	}
}

func TestTreeSimplify(t *testing.T) {
	tree := &JSONTree{}
	extra := []string{`{"a":RAW,"b":[1,2,3,4,5,6,7,8,9]}`}
	for _, text := range append(extra, treeSeeds...) {
		var src *JSON
		if strings.Contains(text, "RAW") {
			src = parse(t, strings.Replace(text, "RAW", "0", 1))
			src.Set("a", NewRaw("RAW\xff"))
			text = src.String()
		} else {
			src = parse(t, text)
		}
		was := tree.Complexity(src)
		lower := 0
		k := uint64(0)
		for ; ; k++ {
			v, more := tree.Simplify(k, nil, src)
			if !more {
				break
			}
			if k > 100000 {
				t.Fatalf("%s: no end", text)
			}
			again, _ := tree.Simplify(k, parse(t, treeSeeds[0]), src)
			if again.String() != v.String() || src.String() != text {
				t.Fatalf("candidate %d of %s is not pure: %s, %s", k, text, v, again)
			}
			c := tree.Complexity(v)
			if c > was || c == was && v.String() != text {
				t.Fatalf("candidate %d of %s is not simpler: %s", k, text, v)
			}
			if c < was {
				lower++
			}
		}
		if text != "null" && lower == 0 {
			t.Errorf("nothing is simpler than %s", text)
		}
	}
	if _, more := tree.Simplify(0, nil, nil); more {
		t.Error("nothing is simpler than nothing")
	}
}

// TestTreeMinimize minimises a large input while a planted fault still shows.
func TestTreeMinimize(t *testing.T) {
	has := func(part string) func(string) bool {
		return func(text string) bool { return strings.Contains(text, part) }
	}
	for _, test := range []struct {
		name, text, want string
		fault            func(text string) bool
	}{
		{"a member", treeSeeds[0], `{"message":null}`, has(`"message"`)},
		{"a number of three digits", `{"a":[1,{"b":98765}],"c":"x"}`, `100`, func(text string) bool {
			return strings.ContainsFunc(text, func(c rune) bool { return c > '0' && c <= '9' }) && len(text) >= 3
		}},
		{"a deep nest", strings.Repeat(`{"n":[`, 50) + `"x"` + strings.Repeat(`]}`, 50), `{"":[{"":[{"":[{"":[{"":[]}]}]}]}]}`, func(text string) bool {
			v, err := ParseJSON([]byte(text))
			return err == nil && v.depth() >= 10
		}},
		{"a long string", `{"s":"` + strings.Repeat("xyz", 500) + `"}`, `"` + strings.Repeat("0", 998) + `"`, func(text string) bool { return len(text) >= 1000 }},
		{"many items", `[` + strings.Repeat(`{"a":1},`, 99) + `{}]`, `[null,null,null,null,null,null,null]`, func(text string) bool { return strings.Count(text, ",") >= 6 }},
		{"true, somewhere", `{"a":{"b":[true,false,"true"]}}`, `true`, has("true")},
		{"an escape", `{"a":{"b":"\u0041\u0042"}}`, `"\u0041\u0042"`, has(`\u0042`)},
		{"an escape too many", `["\u0041\u0042"]`, `"AB"`, func(text string) bool { return strings.Contains(text, "AB") || strings.Contains(text, `\u0042`) }},
	} {
		tree := &JSONTree{}
		tries := 0
		got, err := teasel.Minimize(t.Context(), tree, parse(t, test.text), func(_ context.Context, v *JSON) (*JSON, bool, error) {
			tries++
			return v, test.fault(v.String()), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.String()) > len(test.want) || !test.fault(got.String()) {
			t.Errorf("%s: ends at %s after %d tries, want %s", test.name, got, tries, test.want)
		}
	}
}

func BenchmarkTree(b *testing.B) {
	tree := &JSONTree{MaxBytes: 1 << 16, Weights: map[JSONOperator]int{JSONNesting: 0}}
	src := parse(b, treeSeeds[0])
	b.Run("copy", func(b *testing.B) {
		var dst *JSON
		b.ReportAllocs()
		for b.Loop() {
			dst = copyOnto(dst, src)
		}
	})
	b.Run("mutate", func(b *testing.B) {
		r := random(1)
		var dst *JSON
		b.ReportAllocs()
		for b.Loop() {
			dst = tree.Mutate(r, dst, src)
		}
	})
	b.Run("parse", func(b *testing.B) {
		text := []byte(treeSeeds[0])
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse-again", func(b *testing.B) {
		text := []byte(treeSeeds[0])
		var p JSONParser
		b.ReportAllocs()
		for b.Loop() {
			p.Reset()
			if _, err := p.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		var text []byte
		b.ReportAllocs()
		for b.Loop() {
			text = src.Append(text[:0])
		}
	})
}

// TestJSONTreeReleases: a mutator that is not in use keeps no reference to the trees that it has made.
func TestJSONTreeReleases(t *testing.T) {
	src, other := NewArray(), NewObject(Member{Name: "a", Value: NewString("b")})
	for i := range 1000 {
		src.Items = append(src.Items, NewInt(int64(i)))
	}
	for name, makes := range map[string]func(*JSONTree) *JSON{
		"mutate":   func(tree *JSONTree) *JSON { return tree.Mutate(random(1), nil, src) },
		"cross":    func(tree *JSONTree) *JSON { return tree.Cross(random(1), nil, src, other) },
		"step":     func(tree *JSONTree) *JSON { v, _ := tree.Step(3, nil, src); return v },
		"simplify": func(tree *JSONTree) *JSON { v, _ := tree.Simplify(3, nil, src); return v },
		"apply": func(tree *JSONTree) *JSON {
			v := src.Clone()
			tree.Apply(random(1), JSONTypeConfusion, v, nil)
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := &JSONTree{}
			made := weak.Make(makes(tree))
			runtime.GC()
			if made.Value() != nil {
				t.Error("the tree lives on")
			}
			runtime.KeepAlive(tree)
		})
	}
}

func TestNestedText(t *testing.T) {
	for _, text := range treeSeeds {
		v, err := ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, depth := range []int{1, 2, 3, 100} {
			for style := range 3 {
				if got, want := nestedText(v, depth, style).String(), nested(v.Clone(), depth, style).String(); got != want {
					t.Errorf("style %d, %d deep: %s, want %s", style, depth, got, want)
				}
			}
		}
	}
}
