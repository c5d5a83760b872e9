package teasel_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A Go function in small: a typed value, changed in place and changed back, in the process that dies of it, because coverage
// counters are global to one. See fake_go_process_test.go for that process, its parent, and what runs a value that may kill.

type item struct {
	Name  string
	Count int
}

type order struct {
	Express bool
	Items   []item
}

// total is the function under test. Each if is an edge.
func total(o order, edge func(int)) {
	edge(8)
	if len(o.Items) < 3 {
		return
	}
	edge(1)
	for i, it := range o.Items[:2] {
		if it.Name != fmt.Sprint("n", i) {
			return
		}
		edge(2 + i)
	}
	if o.Items[2].Count == 7 && o.Express { // two changes at once, with nothing between them to climb by
		panic("express of seven")
	}
	if o.Items[2].Count < -90 {
		edge(9)
		if o.Items[0].Count == 13 {
			os.Exit(3)
		}
	}
}

// goExecutor runs the function where it is, and judges what is new.
type goExecutor struct {
	record func(order) error // notes what is about to run; nil: nobody wants to know
	known  map[teasel.Feature]float64
}

var _ teasel.Learner = (*goExecutor)(nil)

func (*goExecutor) Close() error { return nil }

func (e *goExecutor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if old, ok := e.known[f]; !ok || complexity < old {
			e.known[f] = complexity
		}
	}
}

func (e *goExecutor) Exec(_ context.Context, in order, o *teasel.Observation) error {
	if e.record != nil {
		if err := e.record(in); err != nil {
			return err
		}
	}
	o.Exit = teasel.ExitOK
	defer func() {
		if p := recover(); p != nil {
			o.Exit, o.Detail = teasel.ExitCrash, fmt.Sprint(p)
		}
	}()
	c := (&orderMutator{}).Complexity(in)
	total(in, func(edge int) {
		f := teasel.Feature(edge)
		if best, ok := e.known[f]; !ok || c < best || o.Ask.Features {
			o.Features = append(o.Features, f)
		}
	})
	return nil
}

// orderMutator changes orders in place. Each change leaves behind how to take it back.
type orderMutator struct{ undo []func(*order) }

var (
	_ teasel.Undoer[order]     = (*orderMutator)(nil)
	_ teasel.Simplifier[order] = (*orderMutator)(nil)
	_ teasel.Crosser[order]    = (*orderMutator)(nil)
	_ teasel.Stepper[order]    = (*orderMutator)(nil)
)

func (m *orderMutator) Generate(r *teasel.Rand) order { return order{Items: []item{{"a", r.IntN(5)}}} }

func (m *orderMutator) Mutate(r *teasel.Rand, _, src order) order {
	out := order{src.Express, slices.Clone(src.Items)}
	m.Change(r, &out)
	m.undo = m.undo[:len(m.undo)-1]
	return out
}

func (m *orderMutator) Change(r *teasel.Rand, in *order) {
	n := len(in.Items)
	switch k := r.IntN(5); {
	case k == 0:
		in.Express = !in.Express
		m.undo = append(m.undo, func(o *order) { o.Express = !o.Express })
	case k == 1 && n < 6 || n == 0:
		old := in.Items
		in.Items = append(in.Items[:n:n], item{"a", r.IntN(9)})
		m.undo = append(m.undo, func(o *order) { o.Items = old })
	case k == 2:
		old := in.Items
		in.Items = in.Items[:n-1]
		m.undo = append(m.undo, func(o *order) { o.Items = old })
	case k == 3:
		i := r.IntN(n)
		old := in.Items[i].Name
		in.Items[i].Name = "n" + strconv.Itoa(r.IntN(3))
		m.undo = append(m.undo, func(o *order) { o.Items[i].Name = old })
	default:
		i := r.IntN(n)
		old := in.Items[i].Count
		in.Items[i].Count = r.IntN(201) - 100
		m.undo = append(m.undo, func(o *order) { o.Items[i].Count = old })
	}
}

func (m *orderMutator) Undo(in *order) {
	last := len(m.undo) - 1
	m.undo[last](in)
	m.undo = m.undo[:last]
}

func (m *orderMutator) Complexity(in order) float64 {
	c := 0.0
	for _, it := range in.Items {
		c += 4 + float64(len(it.Name))
		if it.Count != 0 {
			c++
		}
	}
	if in.Express {
		c++
	}
	return c
}

// Simplify takes items away, then names, counts and the haste.
func (m *orderMutator) Simplify(k uint64, _, src order) (order, bool) {
	n := uint64(len(src.Items))
	out := order{src.Express, slices.Clone(src.Items)}
	switch i := k % max(n, 1); {
	case k < n:
		out.Items = slices.Delete(out.Items, int(i), int(i)+1)
	case k < 2*n:
		out.Items[i].Name = ""
	case k < 3*n:
		out.Items[i].Count = 0
	case k == 3*n:
		out.Express = false
	default:
		return out, false
	}
	return out, true
}

// Cross takes the items of a up to some place and those of b from there on.
func (m *orderMutator) Cross(r *teasel.Rand, _, a, b order) order {
	n := r.IntN(min(len(a.Items), len(b.Items)) + 1)
	return order{a.Express, append(slices.Clone(a.Items[:n]), b.Items[n:]...)}
}

// Step tries the haste and each of the names at each place.
func (m *orderMutator) Step(k uint64, _, src order) (order, bool) {
	out := order{src.Express, slices.Clone(src.Items)}
	if k == 0 {
		out.Express = !out.Express
		return out, true
	}
	if k--; k >= uint64(3*len(src.Items)) {
		return out, false
	}
	out.Items[k/3].Name = "n" + strconv.Itoa(int(k%3))
	return out, true
}

// inProcess runs everything where the test is, and keeps away from what ends the process.
type inProcess struct{}

func (inProcess) Open(context.Context, teasel.Role) (teasel.Executor[order], error) {
	return &safeExecutor{goExecutor{known: map[teasel.Feature]float64{}}}, nil
}

type safeExecutor struct{ goExecutor }

func (e *safeExecutor) Exec(ctx context.Context, in order, o *teasel.Observation) error {
	if len(in.Items) > 0 && in.Items[0].Count == 13 {
		o.Exit = teasel.ExitOK
		return nil
	}
	return e.goExecutor.Exec(ctx, in, o)
}

func orders(t teasel.Target[order]) *teasel.Campaign[order] {
	return &teasel.Campaign[order]{Target: t, NewMutator: func() teasel.Mutator[order] { return &orderMutator{} }, Codec: jsonCodec[order]{},
		Seeds: []order{{}}, Calibrate: 1, Seed: 11}
}

func TestUndoFake(t *testing.T) {
	c := orders(inProcess{})
	c.StopAfter, c.Runs = 1, 400_000
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || s.Findings[0].Message != "express of seven" {
		t.Fatalf("findings %v after %d executions", s.Findings, s.Executions)
	}
	c.Workers, c.Mutator, c.NewMutator = 2, &orderMutator{}, nil
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("two workers share an undo stack")
	}
	c.Workers, c.Runs, c.Background = 1, 0, true
	if _, err := c.Run(t.Context()); err == nil {
		t.Error("a worker and its background executor share an undo stack")
	}
}
