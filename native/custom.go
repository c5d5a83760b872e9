package native

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

var (
	_ teasel.Stage[[]byte] = Custom{}
	_ teasel.Stage[[]byte] = Plain{}
)

// Custom is a stage that makes inputs with the harness's own LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver. Without either
// it does nothing. Both get their seed from the campaign's generator, so that a campaign is reproducible if they are
// deterministic.
type Custom struct {
	Energy int // number of inputs made from a testcase of average energy; 0: 192
}

// Name implements [teasel.Stage].
func (Custom) Name() string { return "custom" }

// Plain is a stage that is skipped for a harness with a mutator of its own. As with libFuzzer, random mutation is left to that
// mutator, since the parser of the format rejects most other mutants.
type Plain struct{ teasel.Stage[[]byte] }

// Run implements [teasel.Stage].
func (p Plain) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if h, ok := w.Executor().(customMutator); ok {
		if mutates, _ := h.custom(); mutates {
			return nil
		}
	}
	return p.Stage.Run(ctx, w, tc)
}

// customMutator is an executor whose program may have a mutator of its own.
type customMutator interface {
	custom() (mutates, crosses bool)
	mutate(ctx context.Context, ms []sancov.Mutation) ([][]byte, error)
}

// minCustomLength is the lower bound of the maximum length of a mutant, as with libFuzzer.
const minCustomLength = 4096

// limit returns the length of the longest input, in bytes.
func limit(w *teasel.Worker[[]byte]) int {
	if m, ok := w.Mutator().(interface{ Limit() int }); ok {
		return m.Limit()
	}
	return new(mutate.Bytes).Limit()
}

// Run implements [teasel.Stage].
func (c Custom) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	h, ok := w.Executor().(customMutator)
	if !ok {
		return nil
	}
	mutates, crosses := h.custom()
	if !mutates && !crosses {
		return nil
	}
	maxLength := min(max(minCustomLength, 2*len(tc.Input)), limit(w))
	size := w.BatchSize()
	for left := w.Energy(c.Energy, 192); left > 0; left -= size {
		w.Slot() // seeds the generator
		tokens := operands.TokensOf(w, tc)
		ms := make([]sancov.Mutation, min(size, left))
		for i := range ms {
			r := w.Rand()
			x := sancov.Mutation{Input: tc.Input, MaxLength: maxLength, Times: 1 + min(bits.TrailingZeros64(r.Uint64()), 4), Seed: r.Uint32()}
			if other := w.Other(tc); crosses && other != nil && (!mutates || r.IntN(4) == 0) {
				x.CrossOver, x.Other = true, other.Input
			} else if !mutates {
				return nil
			} else if len(tokens) > 0 {
				x.Other = []byte(tokens[r.IntN(len(tokens))])
			}
			ms[i] = x
		}
		made, err := h.mutate(ctx, ms)
		if err != nil {
			return err
		}
		for _, in := range made {
			slot := w.Slot()
			*slot = append((*slot)[:0], in...)
			if err := w.CommitRandom(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// MutatorError is the error of a harness's own mutator that fails. It is not a finding, since no input of the program triggers it.
type MutatorError struct {
	Command []string
	What    string  // what is wrong: "no end within 1s of processor time"
	Cross   bool    // the function is LLVMFuzzerCustomCrossOver
	Stack   []Frame // innermost first; nil: unknown
}

func (e *MutatorError) Error() string {
	name := "LLVMFuzzerCustomMutator"
	if e.Cross {
		name = "LLVMFuzzerCustomCrossOver"
	}
	return fmt.Sprintf("calling %s of %q: %s", name, strings.Join(e.Command, " "), e.What)
}

func (e *executor) custom() (mutates, crosses bool) {
	f := e.main.Hello.Flags
	return f&sancov.Mutator != 0, f&sancov.CrossOver != 0
}

// mutate returns the mutants that the program's own mutator makes, empty ones left out. A mutation that crashes is tried once more
// in a fresh process, since state that inputs have left behind may be the cause.
func (e *executor) mutate(ctx context.Context, ms []sancov.Mutation) (made [][]byte, err error) {
	again := -1 // the mutation that has crashed once
	for from := 0; from < len(ms); {
		s, err := e.server(ctx, teasel.Ask{})
		if err != nil {
			return nil, err
		}
		e.memory.Clear()
		n := 0
		for from+n < len(ms) && e.memory.Ask(ms[from+n]) {
			n++
		}
		if n == 0 { // the first mutation is too large
			from++
			continue
		}
		done, death, err := s.Mutate(ctx, e.target.limit())
		if errors.Is(err, sancov.ErrDamaged) {
			return nil, e.mutatorError(ms[from], sancov.ErrDamaged.Error(), nil)
		}
		if err != nil {
			return nil, err
		}
		if death != nil {
			if death.Killed == proc.Cancelled {
				return nil, ctx.Err()
			}
			done--
		}
		for i := range done {
			in, ok := e.memory.Mutated(i)
			if !ok {
				return nil, e.mutatorError(ms[from+i], fmt.Sprintf("it has made a mutant that is longer than the permitted %d bytes", max(ms[from+i].MaxLength, len(ms[from+i].Input))), nil)
			}
			if len(in) > 0 {
				made = append(made, slices.Clone(in))
			}
		}
		from += done
		if death == nil {
			continue
		}
		if from == again {
			o := teasel.Observation{Ask: teasel.Ask{}}
			e.died(&o, death, s)
			return nil, e.mutatorError(ms[from], o.Detail, o.Evidence.(*Crash).Stack)
		}
		again = from
	}
	return made, nil
}

func (e *executor) mutatorError(m sancov.Mutation, what string, stack []Frame) error {
	return &MutatorError{Command: e.target.Command, What: what, Cross: m.CrossOver, Stack: stack}
}
