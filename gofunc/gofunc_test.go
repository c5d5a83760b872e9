package gofunc_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc"
)

// failures takes what a property says instead of failing.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

type point struct{ X, Y int }

type list struct {
	Values map[string]any
	Part   []list
	next   *list
}

func TestProperties(t *testing.T) {
	encode := func(p point) ([]byte, error) { return json.Marshal(p) }
	decode := func(b []byte) (p point, err error) { return p, json.Unmarshal(b, &p) }
	forget := func(b []byte) (point, error) { return point{X: 1}, nil }
	for _, test := range []struct {
		name string
		run  func(tb testing.TB)
		want string // "": no failure
	}{
		{"round trip", func(tb testing.TB) { gofunc.RoundTrip(tb, point{1, 2}, encode, decode) }, ""},
		{"round trip that loses", func(tb testing.TB) { gofunc.RoundTrip(tb, point{1, 2}, encode, forget) }, "decoded {X:1 Y:0}"},
		{"round trip that cannot", func(tb testing.TB) {
			gofunc.RoundTrip(tb, point{1, 2}, func(point) ([]byte, error) { return []byte("{"), nil }, decode)
		}, "cannot be decoded"},
		{"idempotent", func(tb testing.TB) { gofunc.Idempotent(tb, "a//b/../c", path.Clean) }, ""},
		{"not idempotent", func(tb testing.TB) {
			gofunc.Idempotent(tb, "x", func(s string) string { return s + "!" })
		}, "twice x!!"},
		{"idempotent behind pointers", func(tb testing.TB) {
			gofunc.Idempotent(tb, &point{1, 2}, func(p *point) *point { return &point{p.X, p.Y} })
		}, ""},
		{"not idempotent in place behind pointers", func(tb testing.TB) {
			gofunc.Idempotent(tb, []*point{{1, 2}}, func(ps []*point) []*point { ps[0].X++; return ps })
		}, "a second time"},
		{"idempotent with maps, interfaces and values that contain themselves", func(tb testing.TB) {
			gofunc.Idempotent(tb, 7, func(n int) int { return n })
			gofunc.Idempotent[any](tb, nil, func(any) any {
				loop := &list{Values: map[string]any{"a": math.NaN(), "b": []any{1, "x"}, "c": nil}}
				loop.next, loop.Part = loop, []list{{}, {}}
				loop.Values["numbers"] = []any{uint8(1), true, -2, 1i, [1]int{}}
				return loop
			})
		}, ""},
		{"same", func(tb testing.TB) {
			gofunc.Same(tb, []int{3, 1}, func(x []int) any { return slices.Max(x) }, func(x []int) any { return x[0] })
		}, ""},
		{"not the same", func(tb testing.TB) {
			gofunc.Same(tb, []int{1, 3}, func(x []int) any { return slices.Max(x) }, func(x []int) any { return x[0] })
		}, "second 1"},
		{"no panic", func(tb testing.TB) { gofunc.NoPanic(tb, 1, func(int) {}) }, ""},
		{"a panic", func(tb testing.TB) { gofunc.NoPanic(tb, 7, func(n int) { panic("no") }) }, "panic: no\n  value 7"},
	} {
		f := &failures{TB: t}
		test.run(f)
		if said := strings.Join(f.said, "\n"); (said == "") != (test.want == "") || !strings.Contains(said, test.want) {
			t.Errorf("%s: said %q, want %q", test.name, said, test.want)
		}
	}
}

// Outside of a campaign the sensors do nothing, and allocate nothing.
func TestSensorsWithoutCampaign(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		gofunc.Observe(7)
		gofunc.Maximize("depth", 3)
		if gofunc.Compare("sum", 1, 2) || !gofunc.Compare("sum", 2, 2) {
			t.Error("a comparison is wrong")
		}
	}); n != 0 {
		t.Errorf("the sensors allocate %v times", n)
	}
}

type request struct {
	Method string `fuzz:"oneof=GET|PUT"`
	Path   string
	Sizes  []int `fuzz-each:"min=0,max=9"`
}

// FuzzAny takes every text that go test -fuzz may make: each becomes a valid value.
func FuzzAny(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, r request) {
		if r.Method != "GET" && r.Method != "PUT" {
			t.Fatalf("the method is %q", r.Method)
		}
		for _, n := range r.Sizes {
			if n < 0 || n > 9 {
				t.Fatalf("a size is %d", n)
			}
		}
	}, request{Method: "GET", Path: "/"}, request{Method: "PUT", Sizes: []int{9}})
}

func BenchmarkObserve(b *testing.B) {
	for b.Loop() {
		gofunc.Observe(7)
	}
}
