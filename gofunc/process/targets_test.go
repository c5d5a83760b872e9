package process_test

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc"
	"github.com/teaselfuzz/teasel/mutate/typed"
	"github.com/teaselfuzz/teasel/policy"
)

// The fuzz tests that the tests of this package start as processes. Under plain go test they pass.

type op uint8

const (
	opNone op = iota
	opOpen
	opWrite
	opSync
	opClose
)

type call struct {
	Op  op
	Arg uint16
}

// FuzzOrdered fails after six operations in the right order, two of them with the right argument.
func FuzzOrdered(f *testing.F) {
	test := gofunc.Test[[]call]{Mutator: typed.Of[[]call](typed.Use(typed.OneOf(opNone, opOpen, opWrite, opSync, opClose)))}
	test.Fuzz(f, func(t *testing.T, calls []call) {
		want := []func(c call) bool{
			func(c call) bool { return c.Op == opOpen }, func(c call) bool { return c.Op == opWrite && c.Arg > 1000 },
			func(c call) bool { return c.Op == opSync }, func(c call) bool { return c.Op == opWrite && c.Arg%16 == 7 },
			func(c call) bool { return c.Op == opClose }, func(c call) bool { return c.Op == opOpen },
		}
		for i, c := range calls {
			if i == len(want) || !want[i](c) {
				return
			}
			gofunc.Observe(uint64(i + 1)) // what the compiler's counters would show
			if i+1 == len(want) {
				t.Fatal("six operations in order")
			}
		}
	}, nil)
}

// FuzzSensors has four states and a measure.
func FuzzSensors(f *testing.F) {
	odd := map[uint8]bool{}
	test := gofunc.Test[[3]uint8]{Figures: func() []policy.Figure { return []policy.Figure{{Name: "odd numbers", Value: float64(len(odd))}} }}
	test.Fuzz(f, func(t *testing.T, v [3]uint8) {
		gofunc.Observe(uint64(v[0] % 4))
		gofunc.Maximize("ones", float64(bits.OnesCount8(v[1])))
		if v[2]%2 == 1 {
			odd[v[2]] = true
		}
	})
}

type few struct {
	A, B bool
	C    *bool
	D    uint8 `fuzz:"min=3,max=9"`
}

// FuzzFew fails for one of 84 values.
func FuzzFew(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, v few) {
		if v.A && !v.B && v.C != nil && *v.C && v.D == 8 {
			t.Fatal("the one")
		}
	})
}

type factors struct {
	Name        string
	Left, Right *factors
	A, B        int32
}

// FuzzProduct fails when the product of two fields of a node in a tree is a number with one pair of factors that will do.
func FuzzProduct(f *testing.F) {
	var visit func(t *testing.T, n *factors, depth int)
	visit = func(t *testing.T, n *factors, depth int) {
		if n == nil || depth > 8 {
			return
		}
		gofunc.Observe(uint64(depth))
		if depth > 0 && n.A > 1 && n.B > 1 {
			gofunc.Observe(uint64(100 + depth))
		}
		if depth > 0 && n.A > 1 && n.B > 1 && gofunc.Compare("product", uint64(int64(n.A)*int64(n.B)), 1234567) { // 127 * 9721
			t.Fatal("the product of two factors")
		}
		visit(t, n.Left, depth+1)
		visit(t, n.Right, depth+1)
	}
	gofunc.Fuzz(f, func(t *testing.T, root factors) { visit(t, &root, 0) })
}

type step byte

const (
	left  step = 'L'
	right step = 'R'
	up    step = 'U'
	down  step = 'D'
)

// FuzzMaze fails at the end of a walk of 28 steps; a step into a wall ends the walk. No counter tells how far a walk has
// come, but the test says where it is.
func FuzzMaze(f *testing.F) {
	const path = "RDDDRRUURRRDDDLDDLLUULLDDDRR"
	gofunc.Test[[]step]{Mutator: typed.Slice(typed.OneOf(left, right, up, down), 0, 100)}.Fuzz(f, func(t *testing.T, in []step) {
		x, y := 0, 0
		for i, s := range in {
			if byte(s) != path[i] {
				return
			}
			switch s {
			case left:
				x--
			case right:
				x++
			case up:
				y--
			case down:
				y++
			}
			gofunc.Observe(uint64(uint32(x))<<32 | uint64(uint32(y)))
			if i+1 == len(path) {
				t.Fatal("out of the maze")
			}
		}
	})
}

type blow struct {
	Kind  uint8 `fuzz:"max=9"`
	Deep  []uint8
	Notes []string
}

// FuzzBlows ends in every way that there is.
func FuzzBlows(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, b blow) {
		if len(b.Deep) < 2 || b.Deep[0] == 0 {
			return
		}
		switch b.Kind {
		case 1:
			os.Exit(3)
		case 2:
			debug.SetMaxStack(1 << 20) // or it takes a second
			var over func(int) int
			over = func(n int) int { return over(n+1) + 1 }
			over(0)
		case 3:
			m := map[int]int{}
			done := make(chan bool)
			for range 4 {
				go func() {
					for i := range 100_000 {
						m[i%7]++
					}
					done <- true
				}()
			}
			<-done
		case 4:
			select {}
		case 5:
			panic("a panic")
		case 6:
			t.Error("an error")
		case 7:
			for n := 0; n < 8; n = (n + 1) & 7 { // for ever
			}
		}
	}, blow{})
}

var nothing map[string]int // nobody makes it

// FuzzOutcomes does to its testing.T what a test can do.
func FuzzOutcomes(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		switch n {
		case 1:
			t.Error("one is wrong")
		case 2:
			t.Fatal("two is fatal")
		case 3:
			panic("three")
		case 4:
			t.Skip("four is skipped")
		case 5:
			t.Cleanup(func() { t.Error("five fails late") })
		case 6:
			t.Run("sub", func(t *testing.T) { t.Error("six fails inside") })
		case 7:
			time.Sleep(time.Hour)
		case 8:
			nothing["x"] = 1
		case 9:
			t.Log("nine talks")
		case 10:
			t.TempDir()
		case 11:
			defer func() { _ = recover() }()
			panic("eleven is caught")
		case 12:
			go panic("twelve, elsewhere")
			runtime.Gosched()
			time.Sleep(time.Second)
		case 13:
			runtime.Goexit()
		}
	}, 0)
}

// FuzzLogs fails for two values, and logs only for others.
func FuzzLogs(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		switch {
		case n < 100:
			t.Log("small")
		case n == 200:
			t.Error("two hundred")
		case n == 201:
			t.Error("two hundred and one")
		}
	})
}

// FuzzClean has nothing to be found, though it changes its input.
func FuzzClean(f *testing.F) {
	test := gofunc.Test[map[string][]int]{MaxComplexity: 100}
	test.Fuzz(f, func(t *testing.T, in map[string][]int) {
		n := 0
		for k, v := range in {
			if len(v) > 0 {
				v[0]++
				n += len(v)
			}
			delete(in, k)
		}
		gofunc.Maximize("elements", float64(n))
	})
}

// FuzzOrdinary is no typed test.
func FuzzOrdinary(f *testing.F) {
	f.Add("x")
	f.Fuzz(func(*testing.T, string) {})
}

// FuzzNoisy logs a line for every input and then dies of some, as servers do.
func FuzzNoisy(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint16) {
		fmt.Fprintf(os.Stderr, "working on %d, which is a line of some length such as programs log, panic: none\n", n)
		if n > 60_000 && n%512 == 7 {
			go panic("too much noise")
			select {}
		}
	}, 0)
}

// FuzzSlow ends the process long after it began to run an input.
func FuzzSlow(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		if n > 0 {
			time.Sleep(1500 * time.Millisecond)
			os.Exit(3)
		}
	}, 0)
}

// FuzzOnce dies of an input only if the process has run others before.
func FuzzOnce(f *testing.F) {
	runs := 0
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		if runs++; runs > 100 && n > 0 {
			os.Exit(4)
		}
	}, 0)
}

// FuzzOnceEach fails once, in the hundredth run of a process, and ends that soon after.
func FuzzOnceEach(f *testing.F) {
	runs := 0
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		switch runs++; runs {
		case 100:
			t.Error("only once")
		case 102:
			os.Exit(5)
		}
	}, 0)
}

// FuzzWord fails for one text that nothing but the constants of a package tells.
func FuzzWord(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, s string) {
		if s == "zz-magic-word" {
			t.Fatal("found the word")
		}
	})
}

// FuzzFiltered fails for what its filter does not accept, which is almost everything.
func FuzzFiltered(f *testing.F) {
	accept := func(n uint32) bool { return n%100 == 77 }
	test := gofunc.Test[uint32]{Mutator: typed.Filter(typed.Of[uint32](), accept)}
	test.Fuzz(f, func(t *testing.T, n uint32) {
		if !accept(n) {
			t.Fatalf("the filter does not accept %d", n)
		}
	})
}

// FuzzParallel wants to run beside other tests.
func FuzzParallel(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint8) { t.Parallel() }, 0)
}

// FuzzPools keeps inputs for two reasons.
func FuzzPools(f *testing.F) {
	test := gofunc.Test[[]uint8]{Pools: policy.Portfolio{
		{Name: "coverage", Weight: 3},
		{Name: "longest", New: func() teasel.Pool { return policy.Limit(policy.NewMaximal(), gofunc.MeasureID("length")) }},
	}}
	test.Fuzz(f, func(t *testing.T, in []uint8) {
		gofunc.Maximize("length", float64(len(in)))
		for _, b := range in {
			gofunc.Observe(uint64(b))
		}
		if len(in) == 40 {
			os.Exit(9) // another process carries on with the statistics
		}
	}, nil)
}

// FuzzLeaves starts a process in a session of its own, says which, and ends.
func FuzzLeaves(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, v uint8) {
		path := os.Getenv("TEASEL_LEFT")
		if path == "" {
			return
		}
		c := exec.Command("sleep", "1000")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Exit(3)
	})
}

var hoard = map[uint8]bool{}

// FuzzHoards fails of a value that the process has seen before, and of one that fails by itself.
func FuzzHoards(f *testing.F) {
	gofunc.Fuzz(f, func(t *testing.T, n uint8) {
		if n == 77 {
			t.Error("by itself")
		}
		if hoard[n] && n > 99 {
			t.Error("seen before")
		}
		hoard[n] = true
	})
}
