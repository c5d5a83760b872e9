package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// Recording is what a run compared beyond numbers that differ, which are in [teasel.Observation.Operands]. It is the note
// of an observation for which operands were asked.
type Recording struct {
	Texts   []Text           // texts that differ
	Numbers []teasel.Operand // in the order in which they were compared, equal or not

	past *past
}

// Text is a comparison of two texts, of which the first 32 bytes are kept.
type Text struct {
	Site uint32
	A, B string
}

// record puts what was compared into o.
func (e *executor) record(o *teasel.Observation, s *sancov.Slot) {
	all := e.memory.Operands(s)
	if len(all) == 0 {
		return
	}
	rec := &Recording{Numbers: make([]teasel.Operand, 0, len(all)), past: &e.past}
	for i := range all {
		op := &all[i]
		equal := op.Flags&sancov.OperandEqual != 0
		if op.Flags&sancov.OperandText != 0 {
			if at, bt := op.Text(); !equal && len(o.Ask.Watch) == 0 {
				rec.Texts = append(rec.Texts, Text{op.Site, string(at), string(bt)})
			}
			continue
		}
		a, b := op.Number()
		n := teasel.Operand{Site: op.Site, Size: op.Size, Const: op.Flags&sancov.OperandConst != 0, A: a, B: b}
		rec.Numbers = append(rec.Numbers, n)
		if !equal {
			o.Operands = append(o.Operands, n)
		}
	}
	o.Note = rec
}
