package overlay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is reached by another way than through package testing is instrumented.
func TestUnreached(t *testing.T) {
	const list = `{"ImportPath": "testing", "Imports": ["bufio", "flag", "regexp"], "DepOnly": true}
{"ImportPath": "bufio", "Imports": ["bytes"], "DepOnly": true}
{"ImportPath": "bytes", "DepOnly": true, "Standard": true, "CgoFiles": ["b.go"]}
{"ImportPath": "flag", "Imports": ["regexp"], "DepOnly": true}
{"ImportPath": "regexp", "DepOnly": true, "CgoFiles": ["r.go"]}
{"ImportPath": "m/helper", "Imports": ["bytes"], "DepOnly": true}
{"ImportPath": "m"}
{"ImportPath": "m [m.test]", "Imports": ["m/helper [m.test]", "testing"]}
{"ImportPath": "m/helper [m.test]", "Imports": ["bytes"], "DepOnly": true, "CgoFiles": ["h.go"]}
{"ImportPath": "m.test", "Imports": ["m [m.test]", "testing"]}
`
	got, cgo, err := unreached(strings.NewReader(list))
	if want := []string{"flag", "m/helper", "regexp", "testing"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, expected %q", got, err, want)
	}
	if want := []string{"m/helper"}; !slices.Equal(cgo, want) {
		t.Errorf("with C code: %q, expected %q", cgo, want)
	}
	if _, _, err := unreached(strings.NewReader(`{"ImportPath": 1}`)); err == nil {
		t.Error("what is not a list was read")
	}
}

// A package that only Go's own fuzzer imports has no counters.
func TestNarrow(t *testing.T) {
	b, err := NewBuilder(toolchain(t), userCache(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := module(t)
	build := func() (counters int) {
		binary := filepath.Join(t.TempDir(), "m.test")
		if err := b.Build(t.Context(), dir, Flags{}, binary); err != nil {
			t.Fatal(err)
		}
		_, counters = describe(t, dir, binary)
		return counters
	}
	all := build()
	if err := b.Narrow(t.Context(), dir, Flags{}, []string{"."}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(b.unreached, "go/parser") || slices.Contains(b.unreached, "bytes") || slices.Contains(b.unreached, "example.com/m") {
		t.Errorf("not instrumented: %q", b.unreached)
	}
	if got := build(); got == 0 || got > all/2 {
		t.Errorf("%d counters, %d before", got, all)
	}
}
