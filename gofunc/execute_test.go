package gofunc

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// opened returns an executor in this process of a test over bytes, and what runs one input.
func opened(t *testing.T, set func(g *target), check func(t *testing.T, n uint8)) (*executor, func(n uint8) *teasel.Observation) {
	t.Helper()
	plan, err := typed.Of[uint8]().Plan()
	if err != nil {
		t.Fatal(err)
	}
	g := &target{plan: plan, check: func(t *testing.T, p unsafe.Pointer) { check(t, *(*uint8)(p)) }}
	if set != nil {
		set(g)
	}
	x, err := (&process{g: g, parent: t, e: g.editor()}).Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x.(*executor), func(n uint8) *teasel.Observation {
		v, err := plan.Take(unsafe.Pointer(&n))
		if err != nil {
			t.Fatal(err)
		}
		o := &teasel.Observation{}
		if err := x.Exec(t.Context(), v, o); err != nil {
			t.Fatal(err)
		}
		return o
	}
}

// sink keeps the compiler from putting what a test allocates on the stack.
type sink struct{ kept []*int }

// What is measured is what the test allocates, and not what running it does, which the first time is more.
func TestAllocationsAreThoseOfTheTest(t *testing.T) {
	var s sink
	_, run := opened(t, func(g *target) { g.allocations = true }, func(t *testing.T, n uint8) {
		s.kept = s.kept[:0]
		for range n {
			s.kept = append(s.kept, new(int))
		}
		if n == 9 {
			t.SkipNow()
		}
	})
	s.kept = make([]*int, 0, 256)
	for _, n := range []uint8{0, 3, 9, 10, 20} {
		o := run(n)
		if len(o.Measures) != 1 || o.Measures[0].Value < float64(n) || o.Measures[0].Value > float64(n)+2 {
			t.Errorf("a test that allocates %d objects: %v", n, o.Measures)
		}
	}
	if o := run(5); len(o.Measures) != 0 {
		t.Errorf("fewer objects than before are news: %v", o.Measures)
	}
}

type wicked struct{}

func (wicked) Error() string { panic("even its text") }

// A panic whose error panics when it is printed is a panic like others.
func TestErrorThatPanicsIsAFailure(t *testing.T) {
	_, run := opened(t, nil, func(t *testing.T, n uint8) {
		switch n {
		case 1:
			panic(wicked{})
		case 2:
			panic(errors.New("a usual error"))
		}
	})
	for n, want := range map[uint8]string{1: "panic: %!v(PANIC=Error method: even its text)", 2: "panic: a usual error"} {
		o := run(n)
		f, ok := o.Evidence.(*judge.Failure)
		if o.Exit != teasel.ExitCrash || !ok || !strings.HasPrefix(f.Text, want) {
			t.Fatalf("input %d ended with %v, %v", n, o.Exit, o.Evidence)
		}
		found := judge.Detect(o)[0]
		if got := fmt.Sprint(found.Subject, found.Group); strings.Contains(got, "iter.") || strings.Contains(got, "runner") {
			t.Errorf("input %d is a fault of %s, %s", n, found.Subject, found.Group)
		}
	}
	if o := run(0); o.Exit != teasel.ExitOK {
		t.Errorf("afterwards another input ended with %v", o.Exit)
	}
}

// A test that ends its goroutine otherwise than by t.Skip or t.FailNow has failed, as with plain go test.
func TestEndOfGoroutineIsAFailure(t *testing.T) {
	_, run := opened(t, nil, func(t *testing.T, n uint8) {
		switch n {
		case 1:
			runtime.Goexit()
		case 2:
			t.SkipNow()
		}
	})
	for range 2 { // one after the other, in one process
		o := run(1)
		if o.Exit != teasel.ExitCrash {
			t.Fatalf("runtime.Goexit ended with %v", o.Exit)
		}
		f := judge.Detect(o)[0]
		if f.Rule != "go/failed" || !strings.HasPrefix(f.Message, judge.NoReturn) || !strings.Contains(f.Detail, "TestEndOfGoroutineIsAFailure") {
			t.Errorf("%s %s\n%s", f.Rule, f.Message, f.Detail)
		}
		for _, n := range []uint8{2, 0} {
			if o := run(n); o.Exit != teasel.ExitOK {
				t.Errorf("input %d ended with %v, %v", n, o.Exit, o.Evidence)
			}
		}
	}
}
