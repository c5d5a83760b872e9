package netproto

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate/operands"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// compared is the stage that puts what the server has compared a part of a dialogue with in the place of that part, as
// operands.InputToState does with inputs that are bytes.
type compared struct{}

// pickSwaps is how many candidates a testcase gets each time that it is picked.
const pickSwaps = 48

// Name implements [teasel.Stage].
func (compared) Name() string { return "operands" }

// Run implements [teasel.Stage].
func (compared) Run(ctx context.Context, w *teasel.Worker[*dialogue.Dialogue], tc *teasel.Testcase[*dialogue.Dialogue]) error {
	m, ok := w.Mutator().(*dialogue.Mutator)
	if e, counts := w.Executor().(*executor); !ok || !counts || e.coverage == nil || e.coverage.teaselMap == nil {
		return nil
	}
	s, known := tc.Note.(*swaps)
	if !known {
		obs, err := w.Probe(ctx, []*dialogue.Dialogue{tc.Input}, teasel.Ask{Operands: true})
		if err != nil {
			return err
		}
		s = &swaps{}
		if rec, _ := obs[0].Note.(*operands.Recording); rec != nil {
			s.left = operands.Swaps(flat(tc.Input), rec)
		}
		tc.Note = s
	}
	for range w.Energy(pickSwaps, pickSwaps) {
		if len(s.left) == 0 {
			return nil
		}
		x := s.left[0]
		s.left = s.left[1:]
		slot := w.Slot()
		out, fits := m.Replace(*slot, tc.Input, x.At, x.Length, x.Text)
		*slot = out
		if !fits {
			continue
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// swaps are the candidates of a testcase that were not tried yet. They are its note.
type swaps struct{ left []operands.Swap }

// flat returns the bytes of all messages.
func flat(d *dialogue.Dialogue) (all []byte) {
	for i := range d.Messages {
		all = append(all, d.Messages[i].Data...)
	}
	return all
}

// record holds a dialogue and has the server say meanwhile what it compares.
func (e *executor) record(o *teasel.Observation, hold func() error) error {
	if !o.Ask.Operands || e.coverage == nil || e.coverage.teaselMap == nil {
		return hold()
	}
	ours := e.coverage.teaselMap
	ours.Record(true)
	err := hold()
	ours.Record(false)
	rec := &operands.Recording{}
	for _, op := range ours.Operands() {
		if op.Flags&sancov.OperandEqual != 0 {
			continue
		}
		if op.Flags&sancov.OperandText != 0 {
			a, b := op.Text()
			rec.Texts = append(rec.Texts, operands.Text{Site: op.Site, A: string(a), B: string(b)})
			continue
		}
		a, b := op.Number()
		rec.Numbers = append(rec.Numbers, teasel.Operand{Site: op.Site, Size: op.Size, Const: op.Flags&sancov.OperandConst != 0, A: a, B: b})
	}
	if len(rec.Numbers)+len(rec.Texts) > 0 {
		e.compared.Attach(o, rec)
	}
	return err
}
