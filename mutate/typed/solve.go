package typed

import (
	"context"
	"math/bits"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Stage[*Value] = Solve{}

// Solve changes numbers so that the operands of comparisons become equal. It replaces values of the input by those with which they are
// compared (input-to-state correspondence: RedQueen, NDSS 2019), and uses Newton's method for operands that the target computes from
// numbers (gradients: Angora, S&P 2018). Sometimes it first makes another number random, since an equation of two unknowns is solvable
// for few values of one of them; for a product of two numbers it tries the divisors. The worker's mutator must be an [Editor]. Without
// operands in the observations, the stage ends after one execution.
type Solve struct {
	Energy int // number of comparisons to solve for a testcase of average energy; 0: 64
}

// Name implements [teasel.Stage].
func (Solve) Name() string { return "solve" }

const (
	newtonRounds = 4
	traced       = 64
	copyTargets  = 8  // numbers of the input that are replaced for one comparison
	matched      = 16 // comparisons for which numbers are replaced
	few          = 8  // with more comparisons, most come from instrumented library code and are not worth solving
)

// distinct returns the comparisons of different numbers, without duplicates.
func distinct(all []teasel.Operand) (ops []teasel.Operand) {
	seen := map[teasel.Operand]bool{}
	for _, op := range all {
		if op.A != op.B && !seen[op] {
			seen[op] = true
			ops = append(ops, op)
		}
	}
	return ops
}

// Run implements [teasel.Stage].
func (s Solve) Run(ctx context.Context, w *teasel.Worker[*Value], tc *teasel.Testcase[*Value]) error {
	e, ok := w.Mutator().(*Editor)
	if !ok {
		return nil
	}
	w.Slot() // seeds the generator
	obs, err := w.Probe(ctx, []*Value{tc.Input}, teasel.Ask{Operands: true})
	if err != nil {
		return err
	}
	x := solver{w: w, e: e, in: tc.Input, ops: distinct(obs[0].Operands)}
	if len(x.ops) == 0 {
		return nil
	}
	for _, pl := range tc.Input.prepare(e.root).places {
		if n, ok := pl.n.(*integer); ok {
			x.numbers = append(x.numbers, pl)
			x.nodes = append(x.nodes, n)
		}
	}
	if len(x.numbers) == 0 {
		return nil
	}
	w.Rand().Shuffle(len(x.ops), func(i, j int) { x.ops[i], x.ops[j] = x.ops[j], x.ops[i] })
	for _, op := range x.ops[:min(len(x.ops), matched)] {
		if err := x.match(ctx, op); err != nil {
			return err
		}
	}
	op := x.ops[0] // only one, since the testcase is picked again
	energy := 64
	if len(x.ops) > few { // most of them are of no interest
		if energy /= 8; w.Rand().IntN(4) > 0 {
			return nil
		}
	}
	if err := x.trace(ctx, op); err != nil || len(x.moving) == 0 {
		return err
	}
	if len(x.moving) > 1 {
		if err := x.product(ctx, op); err != nil {
			return err
		}
	}
	for range w.Energy(s.Energy, energy) {
		if err := x.newton(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// solver is the work on one testcase.
type solver struct {
	w       *teasel.Worker[*Value]
	e       *Editor
	in      *Value
	ops     []teasel.Operand
	numbers []place
	nodes   []*integer
	moving  []int // indexes of the numbers on which the operands depend
}

// probe runs the input with numbers set, and returns the difference of the operands at a site, and false if the target does not reach the
// site.
func (x *solver) probe(ctx context.Context, site uint32, set map[int]uint64) (int64, bool, error) {
	x.e.begin(x.w.Rand())
	in := x.e.copied(x.in, func() {
		for i := range x.numbers {
			if v, ok := set[i]; ok {
				x.nodes[i].set(x.e, x.numbers[i].p, v)
			}
		}
	})
	obs, err := x.w.Probe(ctx, []*Value{in}, teasel.Ask{Operands: true})
	if err != nil {
		return 0, false, err
	}
	for _, op := range obs[0].Operands {
		if op.Site == site {
			return int64(op.A - op.B), true, nil
		}
	}
	return 0, false, nil
}

// trace finds the numbers on which the operands depend; if there are many numbers, among a random selection.
func (x *solver) trace(ctx context.Context, op teasel.Operand) error {
	base := int64(op.A - op.B)
	for k, i := range x.w.Rand().Perm(len(x.numbers)) {
		if k == traced {
			break
		}
		f, ok, err := x.probe(ctx, op.Site, map[int]uint64{i: x.nodes[i].load(x.numbers[i].p) + 1})
		if err != nil {
			return err
		}
		if ok && f != base {
			x.moving = append(x.moving, i)
		}
	}
	return nil
}

// match replaces numbers that equal one operand of a comparison by the other operand.
func (x *solver) match(ctx context.Context, op teasel.Operand) error {
	mask := ^uint64(0) >> (64 - 8*min(uint(op.Size), 8))
	tried := 0
	for i := range x.numbers {
		v := x.nodes[i].load(x.numbers[i].p) & mask
		var want uint64
		switch v {
		case op.A & mask:
			want = op.B
		case op.B & mask:
			want = op.A
		default:
			continue
		}
		if _, _, err := x.probe(ctx, op.Site, map[int]uint64{i: want}); err != nil {
			return err
		}
		if tried++; tried == copyTargets {
			break
		}
	}
	return nil
}

// newton searches the value of one number for which the difference of the operands is 0.
func (x *solver) newton(ctx context.Context, op teasel.Operand) error {
	r := x.w.Rand()
	at := x.moving[r.IntN(len(x.moving))]
	set := map[int]uint64{}
	if other := x.moving[r.IntN(len(x.moving))]; other != at {
		x.e.begin(r)
		set[other] = x.nodes[other].random(x.e)
	}
	v := x.nodes[at].load(x.numbers[at].p)
	for range newtonRounds {
		set[at] = v
		f, ok, err := x.probe(ctx, op.Site, set)
		if err != nil || !ok {
			return err
		}
		set[at] = v + 1
		g, ok, err := x.probe(ctx, op.Site, set)
		if err != nil || !ok || g == f {
			return err
		}
		slope := g - f
		step := f / slope
		if step == 0 {
			return nil
		}
		v -= uint64(step)
		if bits.Len64(magnitude(f%slope)) > 0 { // if the difference is linear, there is no integer solution
			if r.IntN(4) > 0 {
				return nil
			}
			continue
		}
	}
	set[at] = v
	_, _, err := x.probe(ctx, op.Site, set)
	return err
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
