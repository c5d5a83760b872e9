package operands

import (
	"bytes"
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Stage[[]byte] = Repair{}

// Repair changes a testcase that contains checksums, first by the candidates that [InputToState] has tried, then at random, and corrects
// the checksums: the value that the program has computed replaces the one in the input. The mutator must be a [teasel.Repairer].
type Repair struct {
	Energy int // number of inputs made from a testcase of average energy; 0: 256
}

// Name implements [teasel.Stage].
func (Repair) Name() string { return "repair" }

// maxRepairs is the maximum number of checksums in an input, which are corrected one after another.
const maxRepairs = 4

// maxCopies is the maximum number of occurrences of the same checksum that are tried.
const maxCopies = 3

// Run implements [teasel.Stage].
func (p Repair) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	m, ok := w.Mutator().(teasel.Repairer[[]byte])
	if !ok {
		return nil
	}
	s, err := analysisOf(ctx, w, tc)
	if err != nil || len(s.sites) == 0 {
		return err
	}
	w.Slot()
	tokens := TokensOf(w, tc)
	size := w.BatchSize()
	for left := w.Energy(p.Energy, 256); left > 0; left -= size {
		var broken [][]byte
		for range min(size, left) {
			slot := w.Slot()
			if s.repaired < s.next && s.next == len(s.swaps) {
				*slot = s.swaps[s.repaired].apply(w.Mutator(), *slot, tc.Input)
				s.repaired++
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
		for range maxRepairs {
			if broken, err = repair(ctx, w, m, broken, site); err != nil {
				return err
			}
		}
	}
	return nil
}

// repair runs inputs with one comparison recorded, and returns the inputs with the value corrected, where that was possible.
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
		if repaired, ok := m.Repair(nil, ins[i], obs[i].Operands[at:at+1]); ok {
			out = append(out, otherCopies(ins[i], repaired)...)
		}
	}
	return out, nil
}

// otherCopies returns the repaired input, and inputs in which a later occurrence of the same bytes is corrected instead: two parts of an
// input may have the same checksum.
func otherCopies(in, repaired []byte) [][]byte {
	out := [][]byte{repaired}
	if len(repaired) != len(in) {
		return out
	}
	from, to := 0, len(in)
	for from < to && in[from] == repaired[from] {
		from++
	}
	for to > from && in[to-1] == repaired[to-1] {
		to--
	}
	old, text := in[from:to], repaired[from:to]
	for at := from; len(old) > 1 && len(out) < maxCopies; {
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
