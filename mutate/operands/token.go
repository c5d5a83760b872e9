package operands

import (
	"cmp"
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Stage[[]byte] = Tokens{}

// Tokens mutates a testcase at random and then inserts a value with which this testcase, or another one, was compared.
type Tokens struct {
	Energy int // number of inputs made from a testcase of average energy; 0: 64
}

// Name implements [teasel.Stage].
func (Tokens) Name() string { return "tokens" }

// Run implements [teasel.Stage].
func (t Tokens) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	w.Slot() // seeds the generator, which is used to choose another testcase
	tokens := TokensOf(w, tc)
	if len(tokens) == 0 {
		return nil
	}
	for range w.Energy(t.Energy, 64) {
		slot := w.Slot()
		*slot = mutant(w, *slot, tc, tokens)
		if err := w.CommitRandom(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mutant returns a mutated testcase into which, or over which, a token was written.
func mutant(w *teasel.Worker[[]byte], dst []byte, tc *teasel.Testcase[[]byte], tokens []string) []byte {
	r := w.Rand()
	switch n := r.IntN(8); {
	case n < 2:
		dst = append(dst[:0], tc.Input...)
	case n < 4: // another testcase may have set state that this one compares
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
	at := r.IntN(len(dst) + 1)
	if s, ok := w.Mutator().(Splicer); ok {
		return s.Splice(nil, dst, at, 0, t)
	}
	return slices.Insert(dst, at, []byte(t)...)
}

// separators separate words, keys and values, and lines of text.
const separators = " \n\t,;:=/&"

// crossed returns a testcase crossed with another one, or mutated if it cannot be crossed.
func crossed(w *teasel.Worker[[]byte], dst []byte, tc *teasel.Testcase[[]byte]) []byte {
	x, ok := w.Mutator().(teasel.Crosser[[]byte])
	if other := w.Other(tc); ok && other != nil {
		return x.Cross(w.Rand(), dst, tc.Input, other.Input)
	}
	return w.Mutator().Mutate(w.Rand(), dst, tc.Input)
}

// TokensOf returns the tokens of a testcase and of another, random one, sorted and without duplicates, which would make common tokens too
// likely. It uses the worker's generator, which [teasel.Worker.Slot] must have seeded.
func TokensOf(w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) []string {
	var lists [2][]string
	for i, x := range [2]*teasel.Testcase[[]byte]{tc, w.Other(tc)} {
		if x == nil {
			continue
		}
		if s, ok := x.Note.(*analysis); ok {
			lists[i] = s.tokens
		}
	}
	a, b := lists[0], lists[1] // both are sorted
	if len(b) == 0 {
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := cmp.Compare(a[0], b[0])
		if c <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out = append(out, b[0])
		}
		if c >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}
