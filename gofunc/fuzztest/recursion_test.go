package fuzztest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
)

// deepTest notes which limit of the stack its inputs had.
const deepTest = `package deep

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

func down(n int) int {
	if n == 0 {
		return 0
	}
	return down(n-1) + n%7
}

func FuzzDeep(f *testing.F) {
	log, err := os.OpenFile(os.Getenv("LIMITS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		limit := debug.SetMaxStack(1 << 30)
		debug.SetMaxStack(limit)
		fmt.Fprintf(log, "%s %d\n", b, limit)
		switch string(b) {
		case "endless", "other":
			down(-1)
		case "deep": // more than a shallow stack has, less than plain go test allows
			down(1 << 20)
		}
	})
}
`

// An input that overflows the stack is judged under the limit of plain go test, once, and so is one that overflows a smaller stack alone.
func TestStackLimit(t *testing.T) {
	dir := t.TempDir()
	limits := filepath.Join(t.TempDir(), "limits")
	for name, text := range map[string]string{"go.mod": "module example.com/deep\n\ngo 1.24\n", "deep_test.go": deepTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	target := &fuzztest.Target{Binary: build(t, dir, overlay.Flags{}), Dir: dir, Name: "FuzzDeep", Env: []string{"LIMITS=" + limits}, Timeout: time.Minute}
	const plain = "1000000000"
	ran := func() (lines []string) {
		text, err := os.ReadFile(limits)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(limits, 0); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	overflows := func(o *teasel.Observation) {
		t.Helper()
		fs := judge.Detect(o)
		if o.Exit != teasel.ExitCrash || len(fs) != 1 || fs[0].Rule != "go/stack-overflow" || fs[0].Subject != "example.com/deep.down" || !strings.Contains(fs[0].Detail, plain+"-byte limit") {
			t.Errorf("%v, %+v", o.Exit, fs)
		}
	}
	ex := open(t, target)
	obs := make([]teasel.Observation, 2)
	if n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), [][]byte{[]byte("a"), []byte("endless")}, obs); n != 2 || err != nil {
		t.Fatalf("%d of a batch, %v", n, err)
	}
	overflows(&obs[1])
	if got := ran(); !slices.Equal(got, []string{"a 16777216", "endless 16777216", "endless " + plain, "a 16777216"}) { // "a" reaches something new, which is confirmed
		t.Errorf("the batch ran as %q", got)
	}
	for _, in := range []string{"endless", "endless", "other"} {
		var o teasel.Observation
		if err := ex.Exec(t.Context(), []byte(in), &o); err != nil {
			t.Fatal(err)
		}
		overflows(&o)
	}
	if got := ran(); !slices.Equal(got, []string{"endless 16777216", "endless 16777216", "other " + plain}) {
		t.Errorf("to be confirmed, the inputs ran as %q", got)
	}

	ex = open(t, target)
	for range 2 {
		obs := make([]teasel.Observation, 2)
		if n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), [][]byte{[]byte("deep"), []byte("b")}, obs); n < 1 || err != nil || obs[0].Exit != teasel.ExitOK {
			t.Fatalf("a deep recursion that ends: %d of a batch, %v, %v", n, obs[0].Exit, err)
		}
	}
	if got := ran(); got[0] != "deep 16777216" || slices.ContainsFunc(got[1:], func(l string) bool { return !strings.HasSuffix(l, plain) }) {
		t.Errorf("deep recursions ran as %q", got)
	}
}
