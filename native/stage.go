package native

import (
	"bytes"
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

var (
	_ teasel.Stage[[]byte] = Operands{}
	_ teasel.Stage[[]byte] = Tokens{}
	_ teasel.Stage[[]byte] = Repair{}
	_ teasel.Stage[[]byte] = Walk{}
	_ teasel.Stage[[]byte] = Havoc{}
)

// longest is how long an input may become.
func longest(w *teasel.Worker[[]byte]) int {
	if m, ok := w.Mutator().(*mutate.Bytes); ok && m.MaxLen > 0 {
		return m.MaxLen
	}
	return 1 << 20
}

// A turn of havoc is short, so that it comes sooner to testcases that were just found: as many inputs as take a quarter of a
// millisecond, about ten times as long as the round trip of their batch, but no fewer than leastTurn, however slow they are.
const (
	leastTurn = 64
	turnWork  = 1 << 15 // in the unit of [teasel.Observation.Work], our own part of an execution included
)

// Havoc is [teasel.Havoc] with an energy that depends on how quick the testcase is.
type Havoc struct{}

// Name implements [teasel.Stage].
func (Havoc) Name() string { return "havoc" }

// Run implements [teasel.Stage].
func (Havoc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	return teasel.Havoc[[]byte]{Energy: turn(tc.Work, w.BatchSize())}.Run(ctx, w, tc)
}

// turn is how many inputs are made of a testcase at a time: one batch at most.
func turn(work uint64, batch int) int {
	if work == 0 { // unknown
		return leastTurn
	}
	return max(min(int(turnWork/work), batch), leastTurn)
}

// Stages returns the stages for native targets, in order.
func Stages() []teasel.Stage[[]byte] {
	return []teasel.Stage[[]byte]{Operands{}, Slopes{}, Repair{}, Custom{}, Walk{},
		Plain{Tokens{}}, Plain{Havoc{}}, Plain{teasel.Splice[[]byte]{}}}
}

// walked is how long an input is at most that is worth walking over: in longer ones, chance finds more in the same time.
const walked = 16

// stale is how often a testcase had its turn before it is walked over: until then, chance finds more.
const stale = 16

// Walk is the ordered steps, AFL's deterministic stage, for short inputs of programs that do not tell what they compare:
// those of AFL++ and those without instrumentation. With operands the same is found in far fewer executions.
type Walk struct{ teasel.Steps[[]byte] }

// Run implements [teasel.Stage].
func (k Walk) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if len(tc.Input) > walked || tc.Picked < stale {
		return nil
	}
	if s, err := studied(ctx, w, tc); err != nil || s.past != nil {
		return err
	}
	return k.Steps.Run(ctx, w, tc)
}

// Operands puts what a testcase was compared with in the place of what was compared. Each candidate is tried once.
type Operands struct {
	Energy int // candidates of a testcase of ordinary energy at a time; 0: 512
}

// Name implements [teasel.Stage].
func (Operands) Name() string { return "operands" }

// Run implements [teasel.Stage].
func (o Operands) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	s, err := studied(ctx, w, tc)
	if err != nil {
		return err
	}
	for range w.Energy(o.Energy, 512) {
		if s.next == len(s.swaps) {
			if len(s.sites) == 0 || s.mended == len(s.swaps) {
				s.swaps, s.next, s.mended = nil, 0, 0
			}
			return nil
		}
		slot := w.Slot()
		*slot = s.swaps[s.next].apply(*slot, tc.Input)
		s.next++
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Tokens is random mutation, and on top of it one of the values that this testcase or another was compared with.
type Tokens struct {
	Energy int // inputs made from a testcase of ordinary energy; 0: 64
}

// Name implements [teasel.Stage].
func (Tokens) Name() string { return "tokens" }

// Run implements [teasel.Stage].
func (t Tokens) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	w.Slot() // seeds the generator that choosing another testcase draws from
	tokens := others(w, tc)
	if len(tokens) == 0 {
		return nil
	}
	for range w.Energy(t.Energy, 64) {
		slot := w.Slot()
		*slot = mutant(w, *slot, tc, tokens)
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mutant returns a change of a testcase with a token in or over it.
func mutant(w *teasel.Worker[[]byte], dst []byte, tc *teasel.Testcase[[]byte], tokens []string) []byte {
	r := w.Rand()
	switch n := r.IntN(8); {
	case n < 2:
		dst = append(dst[:0], tc.Input...)
	case n < 4: // what is compared in a part of an input may have been set in another
		dst = crossed(w, dst, tc)
	default:
		dst = w.Mutator().Mutate(r, dst, tc.Input)
	}
	if len(tokens) == 0 {
		return dst
	}
	t := tokens[r.IntN(len(tokens))]
	if over := r.IntN(2) == 0 && len(t) <= len(dst); over {
		copy(dst[r.IntN(len(dst)-len(t)+1):], t)
		return dst
	}
	switch r.IntN(4) {
	case 0:
		t = string(separators[r.IntN(len(separators))]) + t
	case 1:
		t += string(separators[r.IntN(len(separators))])
	}
	return slices.Insert(dst, r.IntN(len(dst)+1), []byte(t)...)
}

// separators are what stands between words, keys and values, and lines of text.
const separators = " \n\t,;:=/&"

// crossed is a testcase crossed with another, or changed where that cannot be.
func crossed(w *teasel.Worker[[]byte], dst []byte, tc *teasel.Testcase[[]byte]) []byte {
	x, ok := w.Mutator().(teasel.Crosser[[]byte])
	if other := w.Other(tc); ok && other != nil {
		return x.Cross(w.Rand(), dst, tc.Input, other.Input)
	}
	return w.Mutator().Mutate(w.Rand(), dst, tc.Input)
}

// Repair changes a testcase whose checksums are right, at first by what [Operands] has tried in vain, then at random, and
// makes them right again: what was computed is put in the place of what was found. The mutator has to be a
// [teasel.Repairer].
type Repair struct {
	Energy int // inputs made from a testcase of ordinary energy; 0: 256
}

// Name implements [teasel.Stage].
func (Repair) Name() string { return "repair" }

// mends is how many checksums of an input are made right at most, one after another.
const mends = 4

// mendPlaces is at how many places the same checksum is looked for.
const mendPlaces = 3

// Run implements [teasel.Stage].
func (p Repair) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	m, ok := w.Mutator().(teasel.Repairer[[]byte])
	if !ok {
		return nil
	}
	s, err := studied(ctx, w, tc)
	if err != nil || len(s.sites) == 0 {
		return err
	}
	w.Slot()
	tokens := others(w, tc)
	size := w.BatchSize()
	for left := w.Energy(p.Energy, 256); left > 0; left -= size {
		var broken [][]byte
		for range min(size, left) {
			slot := w.Slot()
			if s.mended < s.next && s.next == len(s.swaps) {
				*slot = s.swaps[s.mended].apply(*slot, tc.Input)
				s.mended++
			} else {
				*slot = mutant(w, *slot, tc, tokens)
			}
			broken = append(broken, slices.Clone(*slot))
			if err := w.Commit(ctx); err != nil {
				return err
			}
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
		site := s.sites[tc.Picked%uint64(len(s.sites))]
		for range mends {
			if broken, err = repair(ctx, w, m, broken, site); err != nil {
				return err
			}
		}
	}
	return nil
}

// repair runs inputs, watching one comparison, and returns those of which it could mend something.
func repair(ctx context.Context, w *teasel.Worker[[]byte], m teasel.Repairer[[]byte], ins [][]byte, site uint32) ([][]byte, error) {
	if len(ins) == 0 {
		return nil, nil
	}
	obs, err := w.Probe(ctx, ins, teasel.Ask{Operands: true, Watch: []uint32{site}})
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for i := range obs {
		at := slices.IndexFunc(obs[i].Operands, func(op teasel.Operand) bool { return op.Site == site })
		if at < 0 {
			continue
		}
		if mended, ok := m.Repair(nil, ins[i], obs[i].Operands[at:at+1]); ok {
			out = append(out, elsewhere(ins[i], mended)...)
		}
	}
	return out, nil
}

// elsewhere returns what was mended and the same with the next places mended instead at which the same bytes stand: two
// parts of an input may have the same checksum.
func elsewhere(in, mended []byte) [][]byte {
	out := [][]byte{mended}
	if len(mended) != len(in) {
		return out
	}
	from, to := 0, len(in)
	for from < to && in[from] == mended[from] {
		from++
	}
	for to > from && in[to-1] == mended[to-1] {
		to--
	}
	old, text := in[from:to], mended[from:to]
	for at := from; len(old) > 1 && len(out) < mendPlaces; {
		i := bytes.Index(in[at+1:], old)
		if i < 0 {
			break
		}
		at += 1 + i
		next := slices.Clone(in)
		copy(next[at:], text)
		out = append(out, next)
	}
	return out
}
