package typed_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

type status int

type line struct {
	SKU      string `fuzz:"pattern=[A-Z]{3}-[0-9]{2,4}"`
	Count    int    `fuzz:"min=1,max=99"`
	Discount *float32
	Tags     []string `fuzz:"len=0..3" fuzz-each:"oneof=red|green|blue"`
}

type shape interface{ area() float64 }

type circle struct{ R uint16 }
type square struct{ A, B *uint8 }
type group struct{ Shapes []shape }

func (c circle) area() float64  { return float64(c.R) }
func (s *square) area() float64 { return 0 }
func (g group) area() float64   { return 0 }

type tree struct {
	Left, Right *tree
	Value       int32
	hidden      int //lint:ignore U1000 a field that is ignored
}

type order struct {
	ID      uint64
	Express bool
	State   status
	Lines   []line
	Note    []byte
	Ratio   float64
	Pair    [2]int8
	Z       complex128
	By      map[string]int
	Grid    map[[2]int8][]bool
	Opt     **int
	Shape   shape
	Any     any
	Tree    *tree
	When    time.Time
	Wait    time.Duration `fuzz:"min=\"1s\",max=\"1h\""`
	Skip    chan int      `fuzz:"-"`
}

func orders(t testing.TB) *typed.Plan {
	t.Helper()
	p, err := typed.Of[order](typed.Choices[shape](circle{}, &square{}, group{}), typed.Use(typed.OneOf[status](1, 2, 7))).Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func as[T any](v *typed.Value) T { return *(*T)(v.Pointer()) }

func text(t testing.TB, e *typed.Editor, v *typed.Value) string {
	t.Helper()
	data, err := e.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Generated values are valid, and encoding, packing and copying them preserves them.
func TestGenerated(t *testing.T) {
	e := typed.NewEditor(orders(t))
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 2000 {
		v := e.Generate(r)
		s := text(t, e, v)
		seen[s] = true
		back, err := e.Decode([]byte(s))
		if err != nil {
			t.Fatalf("%v in %s", err, s)
		}
		if got := text(t, e, back); got != s {
			t.Fatalf("decoded and encoded again:\n%s\n%s", s, got)
		}
		if e.Complexity(back) != e.Complexity(v) {
			t.Fatalf("complexity %v, decoded %v: %s", e.Complexity(v), e.Complexity(back), s)
		}
		packed, err := e.Unpack(e.Pack(nil, v))
		if err != nil || text(t, e, packed) != s {
			t.Fatalf("packed and unpacked: %v\n%s", err, s)
		}
		taken, err := e.Take(e.Argument(v))
		if err != nil || text(t, e, taken) != s {
			t.Fatalf("copied: %v\n%s", err, s)
		}
	}
	if len(seen) < 1900 {
		t.Errorf("only %d of 2000 values are distinct", len(seen))
	}
}

// Stacked changes are undone exactly, obey the rules, and depend on the generator's state only.
func TestChangeAndUndo(t *testing.T) {
	e, twin := typed.NewEditor(orders(t)), typed.NewEditor(orders(t))
	e.MaxComplexity = 300
	twin.MaxComplexity = 300
	r := rand.New(rand.NewPCG(3, 4))
	v := e.Generate(r)
	e.Kept(0, v)
	w, err := twin.Decode([]byte(text(t, e, v)))
	if err != nil {
		t.Fatal(err)
	}
	twin.Kept(0, w)
	before, changed := text(t, e, v), 0
	for i := range 6_000 {
		n := 1 + i%5
		a, b := rand.New(rand.NewPCG(9, uint64(i))), rand.New(rand.NewPCG(9, uint64(i)))
		for range n {
			e.Change(a, &v)
			twin.Change(b, &w)
		}
		s := text(t, e, v)
		if s != before {
			changed++
		}
		if got := text(t, twin, w); got != s {
			t.Fatalf("draw %d: two editors make\n%s\n%s", i, s, got)
		}
		back, err := e.Plan.Decode([]byte(s))
		if err != nil {
			t.Fatalf("draw %d: %v", i, err)
		}
		if c := e.Complexity(v); c > 300 || c != twin.Plan.Complexity(back) {
			t.Fatalf("draw %d: complexity %v, of the same decoded %v", i, c, twin.Plan.Complexity(back))
		}
		for range n {
			e.Undo(&v)
			twin.Undo(&w)
		}
		if i%16 == 0 {
			if got := text(t, e, v); got != before {
				t.Fatalf("draw %d: undone to\n%s\nnot\n%s", i, got, before)
			}
		}
		if i%200 == 199 {
			v = e.Mutate(a, nil, v)
			if w, err = twin.Decode([]byte(text(t, e, v))); err != nil {
				t.Fatal(err)
			}
			before = text(t, e, v)
		}
	}
	if changed < 5_700 {
		t.Errorf("only %d of 6000 draws changed anything", changed)
	}
}

func TestSteps(t *testing.T) {
	e := typed.NewEditor(orders(t))
	v, _ := e.First(0)
	before := text(t, e, v)
	seen, k := map[string]bool{}, uint64(0)
	for ; ; k++ {
		out, ok := e.Step(k, nil, v)
		if !ok {
			break
		}
		s := text(t, e, out)
		seen[s] = true
		if _, err := e.Decode([]byte(s)); err != nil {
			t.Fatalf("step %d: %v", k, err)
		}
	}
	if got := text(t, e, v); got != before {
		t.Fatalf("steps changed their source to %s", got)
	}
	if len(seen) < int(k)/2 || k < 100 {
		t.Errorf("%d steps make %d values", k, len(seen))
	}
	for _, want := range []string{`"Express":true`, `"State":7`, `"Shape":{"*square":`, `"Shape":{"group":`, `"Tree":{"Left":null`, `"ID":4096`} {
		found := false
		for s := range seen {
			found = found || strings.Contains(s, want)
		}
		if !found {
			t.Errorf("no step makes %s", want)
		}
	}
	if out, ok := e.Step(k+7, nil, v); ok {
		t.Errorf("a step past the last makes %s", text(t, e, out))
	}
}

// Minimisation ends at the simplest value that satisfies a condition.
func TestSimplify(t *testing.T) {
	e := typed.NewEditor(orders(t))
	r := rand.New(rand.NewPCG(5, 6))
	for _, test := range []struct {
		name string
		hold func(o order) bool
		want string
	}{
		{"a line of ten", func(o order) bool {
			for _, l := range o.Lines {
				if l.Count >= 10 && l.Count < 100 {
					return true
				}
			}
			return false
		}, `"Lines":[{"SKU":"AAA-00","Count":`},
		{"a deep tree", func(o order) bool { return o.Tree != nil && o.Tree.Left != nil && o.Tree.Left.Value < 0 }, `"Tree":{"Left":{"Left":null,"Right":null,"Value":-`},
		{"a map entry", func(o order) bool { return len(o.By) > 1 }, `"By":{`},
	} {
		var in *typed.Value
		for in == nil || !test.hold(as[order](in)) {
			in = e.Generate(r)
		}
		was := e.Complexity(in)
		out, err := teasel.Minimize(t.Context(), e, in, func(_ context.Context, c *typed.Value) (*typed.Value, bool, error) {
			return c, test.hold(as[order](c)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := text(t, e, out); !strings.Contains(s, test.want) || e.Complexity(out) > e.Min()+32 {
			t.Errorf("%s: from complexity %v to %v: %s", test.name, was, e.Complexity(out), s)
		}
	}
}

// Parts of one testcase get into another by Cross and by the index of the corpus.
func TestCrossover(t *testing.T) {
	e := typed.NewEditor(orders(t))
	a, _ := e.First(0)
	b, err := e.Decode([]byte(`{"ID":777777777777,"State":2,"Wait":"1s","Lines":[{"SKU":"XYZ-77","Count":42}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	id, sku := 0, 0
	for range 2000 {
		o := as[order](e.Cross(r, nil, a, b))
		if o.ID == 777777777777 {
			id++
		}
		if len(o.Lines) > 0 && o.Lines[0].SKU == "XYZ-77" {
			sku++
		}
	}
	if id == 0 || sku == 0 {
		t.Errorf("the ID crossed %d times, the line %d times", id, sku)
	}
	found := func() (n int) {
		for range 4000 {
			e.Change(r, &a)
			if o := as[order](a); len(o.Lines) > 0 && o.Lines[0].SKU == "XYZ-77" || o.ID == 777777777777 {
				n++
			}
			e.Undo(&a)
		}
		return n
	}
	if n := found(); n != 0 {
		t.Errorf("%d changes use a testcase that is not kept", n)
	}
	e.Kept(1, b)
	if n := found(); n == 0 {
		t.Error("no change uses a part of the corpus")
	}
	e.Dropped(1)
	if n := found(); n != 0 {
		t.Errorf("%d changes use a testcase that was dropped", n)
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name            string
		m               interface{ Plan() (*typed.Plan, error) }
		min, max, space float64
	}{
		{"bool", typed.Of[bool](), 1, 1 + 1.0/64, 1},
		{"byte", typed.Of[uint8](), 1, 2, 8},
		{"range", typed.Range(10, 13), 1, 1.25, 2},
		{"one of four", typed.OneOf("a", "b", "c", "d"), 1, 1 + 3.0/64, 2},
		{"one of one", typed.OneOf(7), 1, 1, 0},
		{"two bytes", typed.Of[[2]uint8](), 2, 4, 16},
		{"option of a byte", typed.Option(typed.Range[uint8](0, 2)), 1, 2.25, 2},
		{"one bool, none or nil", typed.Slice(typed.Of[bool](), 0, 1), 1, 2 + 2.0/64, 2},
		{"no bytes or nil", typed.Of[struct {
			B []byte `fuzz:"len=..0"`
		}](), 1, 1, 1},
		{"any number of nothing", typed.Of[[]struct{}](), 1, math.Inf(1), math.Inf(1)},
	} {
		p, err := test.m.Plan()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if p.Min() != test.min || p.Max() != test.max || p.Space() != test.space {
			t.Errorf("%s: complexity %v to %v, space %v, want %v, %v, %v", test.name, p.Min(), p.Max(), p.Space(), test.min, test.max, test.space)
		}
	}
}

type loop struct {
	Next *loop `fuzz:"required"`
}

type bad struct {
	In []struct {
		F func()
	}
}

func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		m    interface{ Plan() (*typed.Plan, error) }
		want string
	}{
		{typed.Of[bad](), "In: F: a func() cannot be made from data"},
		{typed.Of[loop](), "has no finite value"},
		{typed.Of[shape](), "name the types with typed.Choices"},
		{typed.Range(3, 2), "the range of int from 3 to 2 is empty"},
		{typed.OneOf[int](), "OneOf has no values"},
		{typed.Of[struct {
			A int `fuzz:"mix=3"`
		}](), `A: the fuzz tag has no setting "mix"`},
		{typed.Of[struct {
			A uint8 `fuzz:"max=300"`
		}](), "A: reading a number"},
		{typed.Of[struct {
			A int `fuzz:"len=3"`
		}](), "does not apply to int"},
		{typed.Of[struct {
			A string `fuzz:"pattern=a["`
		}](), "A: reading a pattern"},
		{typed.Of[order](typed.Field[order]("Nope", typed.Of[int]())), "no exported field Nope"},
		{typed.Slice(typed.Of[int](), 3, 2), "a slice of from 3 to 2 elements"},
	} {
		if _, err := test.m.Plan(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

func TestRejected(t *testing.T) {
	p := orders(t)
	for _, test := range []struct{ data, want string }{
		{`{"State":3,"Wait":"1s"}`, "State: 3 is none of the 3 values"},
		{`{"Wait":"1ms"}`, "Wait: "},
		{`{"Lines":[{"SKU":"abc","Count":1}]}`, `Lines: element 0: SKU: "abc" does not match the grammar`},
		{`{"Unknown":1}`, `no field "Unknown"`},
		{`{"ID":-1}`, "ID: reading a number"},
		{`{"ID":"x"}`, `ID: expected a number, got "x"`},
		{`{"Shape":{"hexagon":{}}}`, `"hexagon" is none of the types`},
		{`{} {}`, "expected the end of the text"},
		{``, "EOF"},
	} {
		if _, err := p.Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.data, err, test.want)
		}
	}
	round := &tree{}
	round.Left = round
	trees, err := typed.Of[*tree]().Plan()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trees.Take(unsafe.Pointer(&round)); err == nil {
		t.Error("a tree that contains itself is taken")
	}
}

func TestCombinators(t *testing.T) {
	type sorted struct {
		N    []int `fuzz-each:"min=0,max=9"`
		Sum  int
		Even int
	}
	sum := typed.Repair(typed.Of[sorted](typed.Field[sorted]("Even", typed.Filter(typed.Range(0, 100), func(n int) bool { return n%2 == 0 }))), func(s sorted) sorted {
		s.Sum = 0
		for _, n := range s.N {
			s.Sum += n
		}
		return s
	})
	p, err := typed.Slice(sum, 1, 3).Plan()
	if err != nil {
		t.Fatal(err)
	}
	e, r := typed.NewEditor(p), rand.New(rand.NewPCG(1, 2))
	v := e.Generate(r)
	for range 5000 {
		v = e.Mutate(r, nil, v)
		got := as[[]sorted](v)
		if len(got) < 1 || len(got) > 3 {
			t.Fatalf("%d elements", len(got))
		}
		for _, s := range got {
			want := 0
			for _, n := range s.N {
				want += n
			}
			if s.Sum != want || s.Even%2 != 0 {
				t.Fatalf("%+v is not repaired", s)
			}
		}
	}
}

// All methods of an editor work with every kind of type, and with seeds of a user.
func TestKinds(t *testing.T) {
	type all struct {
		A int8
		B uint32
		C float32
		D [3]bool
		E struct{}
		F []struct{}
		G map[int8]*string
		H any
		I [][]byte
		J []any
	}
	one := "one"
	seed := all{A: -5, D: [3]bool{true}, G: map[int8]*string{3: &one, -3: nil}, H: map[string]any{"x": []any{1.5, nil, "y"}}, I: [][]byte{nil, {}, {0xff, 'a'}}}
	p, err := typed.Of[all]().Plan()
	if err != nil {
		t.Fatal(err)
	}
	e := typed.NewEditor(p)
	v, err := p.Take(unsafe.Pointer(&seed))
	if err != nil {
		t.Fatal(err)
	}
	if got := as[all](v); !reflect.DeepEqual(got, seed) {
		t.Errorf("took %+v of %+v", got, seed)
	}
	want := `{"A":-5,"B":0,"C":0,"D":[true,false,false],"E":{},"F":null,"G":[[-3,null],[3,"one"]],"H":{"map[string]interface {}":{"x":{"[]interface {}":[{"float64":1.5},null,{"string":"y"}]}}},"I":[null,"",{"hex":"ff61"}],"J":null}`
	if got := text(t, e, v); got != want {
		t.Errorf("encoded as\n%s, want\n%s", got, want)
	}
	back, err := p.Decode([]byte(want))
	if err != nil || !reflect.DeepEqual(as[all](back), seed) {
		t.Errorf("decoded as %+v, %v", as[all](back), err)
	}
}
