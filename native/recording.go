package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// record attaches the recorded comparisons of a run to its observation, for the stages that use them. String comparisons are left
// out if only some sites are watched.
func (e *executor) record(o *teasel.Observation, s *sancov.Outcome) {
	all := e.memory.Operands(s)
	if len(all) == 0 {
		return
	}
	rec := &operands.Recording{Numbers: make([]teasel.Operand, 0, len(all))}
	for i := range all {
		op := &all[i]
		if op.Flags&sancov.OperandText == 0 {
			a, b := op.Number()
			rec.Numbers = append(rec.Numbers, teasel.Operand{Site: op.Site, Size: op.Size, Const: op.Flags&sancov.OperandConst != 0, A: a, B: b})
		} else if op.Flags&sancov.OperandEqual == 0 && len(o.Ask.Watch) == 0 {
			a, b := op.Text()
			rec.Texts = append(rec.Texts, operands.Text{Site: op.Site, A: string(a), B: string(b)})
		}
	}
	e.history.Attach(o, rec)
}
