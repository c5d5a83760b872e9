package teasel

import (
	"context"
	"fmt"
	"reflect"
)

// maxSkipped is how many candidates in a row may be no simpler than the input before descend gives up: a Simplifier that never says
// that there are no more would keep it for ever.
const maxSkipped = 1 << 20

// descend minimises in with the candidates that the mutator's Simplify proposes, up to width of them at a time: one after a
// success, twice as many after each failure, so that few are run in vain. try returns the index of the first candidate that is
// accepted and the input that it became, or -1, and false to stop. descend ends where no candidate is accepted, so the result is
// a local minimum: no single step that the mutator knows makes it simpler. at is the candidate to begin with; when
// try stops, it becomes the one to go on with, and done is false.
func descend[T any](m Mutator[T], in T, width int, at *uint64, try func(ins []T) (int, T, bool)) (out T, done bool) {
	s, ok := simplifier(m)
	for changed := ok; changed; *at = 0 {
		changed = *at > 0 // then the proposals before it have to be tried again
		n, skipped := 1, 0
		for k, more := *at, true; more; {
			var ins []T
			var ks []uint64
			limit := m.Complexity(in)
			for len(ins) < n && more {
				var zero, out T
				if out, more = s.Simplify(k, zero, in); more {
					if m.Complexity(out) < limit { // an equal one would be tried for ever
						ins, ks, skipped = append(ins, out), append(ks, k), 0
					} else if skipped++; skipped == maxSkipped {
						more = false
					}
					k++
				}
			}
			if len(ins) == 0 {
				break
			}
			i, got, goOn := try(ins)
			if !goOn {
				*at = ks[0]
				return in, false
			}
			if i >= 0 && m.Complexity(got) < limit { // candidate k+1 of the longer input is about candidate k of the shorter
				in, k, more, changed, n = got, ks[i], true, true, 1
			} else {
				n = min(2*n, width)
			}
		}
	}
	return in, true
}

// simplifier returns what proposes simpler inputs: the mutator, or for inputs that are slices, whose mutator does not, leaving out pieces.
func simplifier[T any](m Mutator[T]) (Simplifier[T], bool) {
	if s, ok := m.(Simplifier[T]); ok {
		return s, true
	}
	return pieces[T]{}, reflect.TypeFor[T]().Kind() == reflect.Slice
}

// pieces leaves out parts of a slice: all of it, its halves, its quarters, down to single elements.
type pieces[T any] struct{}

// Simplify implements [Simplifier]. The elements are those of src.
func (pieces[T]) Simplify(k uint64, _, src T) (out T, ok bool) {
	v := reflect.ValueOf(src)
	n := v.Len()
	for size := n; size > 0; size /= 2 {
		count := uint64((n + size - 1) / size)
		if k >= count {
			k -= count
			continue
		}
		from := int(k) * size
		to := min(from+size, n)
		short := reflect.MakeSlice(v.Type(), 0, n-(to-from))
		short = reflect.AppendSlice(reflect.AppendSlice(short, v.Slice(0, from)), v.Slice(to, n))
		return short.Interface().(T), true
	}
	return out, false
}

// Minimize makes in simpler while same accepts the candidates, one at a time. Single inputs and sequences differ only in
// what the mutator proposes: if m is no [Simplifier], pieces of a slice are left out, and any other input is
// returned as it is. same says whether a candidate is accepted and
// may return it repaired, as long as it is still simpler. Minimize returns an error of same, with the simplest input so far.
func Minimize[T any](ctx context.Context, m Mutator[T], in T, same func(context.Context, T) (T, bool, error)) (T, error) {
	var err error
	out, _ := descend(m, in, 1, new(uint64), func(ins []T) (int, T, bool) {
		var got T
		var ok bool
		if got, ok, err = same(ctx, ins[0]); err != nil || !ok {
			return -1, got, err == nil
		}
		return 0, got, true
	})
	return out, err
}

// Replay runs an input on a fresh target, if the executor can make one, and returns what the detectors find.
func Replay[T any](ctx context.Context, ex Executor[T], ds []Detector, in T) ([]Finding, Observation, error) {
	var o Observation
	if r, ok := ex.(Resetter); ok {
		if err := r.Reset(ctx); err != nil {
			return nil, o, fmt.Errorf("resetting: %w", err)
		}
	}
	o.reset(Ask{})
	if err := ex.Exec(ctx, in, &o); err != nil {
		return nil, o, fmt.Errorf("executing: %w", err)
	}
	o.endAlone()
	if err := o.checkExit(ctx); err != nil {
		return nil, o, err
	}
	fs, err := detect(ds, &o)
	if err != nil {
		return nil, o, err
	}
	for i := range fs {
		fs[i].describe()
	}
	return fs, o, nil
}
