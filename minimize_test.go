package teasel_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// stairsTarget dies of seven and a stair behind it that goes down to one step, so that its crash takes long to be made
// simple: it is always one byte that can go, the highest step.
type stairsTarget struct{}

func (t stairsTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (t stairsTarget) Close() error { return nil }
func (t stairsTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	for i, b := range in {
		if i == 0 && b != 7 || i > 0 && int(b) != len(in)-i {
			return nil
		}
	}
	if len(in) > 0 {
		o.Exit, o.Detail = teasel.ExitCrash, "seven"
	}
	return nil
}

// sizes notes of how many bytes the findings were that it was told of.
type sizes []int

func (l *sizes) Report(e teasel.Event) error {
	if e.Kind == teasel.EventFound {
		*l = append(*l, len(e.Finding.Input))
	}
	return nil
}

// A finding that takes long to minimise is reported before it is, and minimised in the end: also when the campaign has
// reached a limit of its own by then.
func TestFindingIsMinimizedInSlices(t *testing.T) {
	for _, runs := range []uint64{1, 60_000} {
		var told sizes
		c := bytesCampaign(stairsTarget{})
		seed := []byte{7}
		for step := byte(80); step > 0; step-- {
			seed = append(seed, step)
		}
		c.Seeds, c.MinimizeRuns = [][]byte{seed}, 1<<14
		c.Runs, c.Reporters = runs, []teasel.Reporter{&told}
		s, err := c.Run(context.Background())
		if err != nil || len(s.Findings) != 1 {
			t.Fatalf("findings %v, %v", s.Findings, err)
		}
		f := s.Findings[0]
		if len(f.Input) != 1 || f.Stable != f.Tries {
			t.Errorf("%d runs: in the end it is %q, %d of %d", runs, f.Input, f.Stable, f.Tries)
		}
		if n := len(told); n < 3 || !slices.IsSortedFunc(told, func(a, b int) int { return b - a }) || told[0] < 20 {
			t.Errorf("%d runs: told with lengths %v, expected several that fall", runs, told)
		}
		if f.Occurrences < 1 {
			t.Errorf("%d runs: seen %d times", runs, f.Occurrences)
		}
	}
}

// slowStairs is stairsTarget whose crash takes long to show. It ends the campaign after so many other runs.
type slowStairs struct {
	stairsTarget
	quick, slow *int
	most        int
	cancel      context.CancelFunc
}

func (t slowStairs) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (t slowStairs) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	err := t.stairsTarget.Exec(ctx, in, o)
	if o.Exit == teasel.ExitOK {
		if *t.quick++; *t.quick == t.most {
			t.cancel()
		}
		return err
	}
	*t.slow++
	began := time.Now()
	for time.Since(began) < 100*time.Millisecond {
		time.Sleep(10 * time.Millisecond)
	}
	o.Elapsed = time.Since(began)
	return err
}

// harmless is a mutator none of whose mutants is a finding.
type harmless struct{ byteMutator }

func (harmless) Mutate(_ *teasel.Rand, dst, _ []byte) []byte { return append(dst[:0], 0) }

// A campaign goes on while there is a finding that takes long to be made simple.
func TestSlowMinimizingIsDeferred(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quick, slow := 0, 0
	c := bytesCampaign(slowStairs{quick: &quick, slow: &slow, most: 100_000, cancel: cancel})
	seed := []byte{7}
	for step := byte(200); step > 0; step-- {
		seed = append(seed, step)
	}
	c.Mutator, c.Seeds, c.MinimizeRuns = harmless{}, [][]byte{seed}, 1<<14
	if s, err := c.Run(ctx); err != nil || len(s.Findings) != 1 {
		t.Fatalf("findings %v, %v", s.Findings, err)
	}
	// The first slice is of some four, and the next waits for as many seconds to go by.
	if slow < 4 || slow > 30 {
		t.Errorf("it was shown %d times beside %d other executions", slow, quick)
	}
}

// opsMutator is all that a mutator has to be, for a slice of any type.
type opsMutator struct{}

type op struct{ name string }

func (opsMutator) Generate(*teasel.Rand) []op              { return nil }
func (opsMutator) Mutate(_ *teasel.Rand, _, src []op) []op { return src }
func (opsMutator) Complexity(in []op) float64              { return float64(len(in)) }

// Inputs that are slices are minimised without a Simplifier: single elements are left out, wherever they stand.
func TestSlicesAreMinimized(t *testing.T) {
	in := []op{{"x"}, {"a"}, {"y"}, {"y"}, {"b"}, {"c"}, {"x"}}
	before := slices.Clone(in)
	got, err := teasel.Minimize(t.Context(), opsMutator{}, in, func(_ context.Context, try []op) (out []op, ok bool, err error) {
		next := 0
		for _, o := range try {
			if next < 3 && o.name == string("abc"[next]) {
				next++
			}
		}
		return try, next == 3, nil
	})
	if want := []op{{"a"}, {"b"}, {"c"}}; err != nil || !slices.Equal(got, want) || !slices.Equal(in, before) {
		t.Errorf("%v became %v, want %v, %v", before, got, want, err)
	}
	if got, err := teasel.Minimize(t.Context(), opsMutator{}, nil, func(context.Context, []op) ([]op, bool, error) { return nil, true, nil }); err != nil || got != nil {
		t.Errorf("nothing became %v, %v", got, err)
	}
}

func TestFeatureOf(t *testing.T) {
	for _, hash := range []uint64{0, 1, 1 << 63, 1<<63 | 7, 1<<64 - 1} {
		if f := teasel.FeatureOf(hash); f == 0 || f.IsState() {
			t.Errorf("%#x became %#x", hash, f)
		}
	}
	if a, b := teasel.FeatureOf(1<<62), teasel.FeatureOf(1<<61); a == b {
		t.Error("two hashes became one feature")
	}
}
