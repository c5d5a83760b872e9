package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// Recording is what a run compared beyond numbers that differ, which are in [teasel.Observation.Operands]. It is the note
// of an observation for which operands were asked.
type Recording struct {
	Texts []Text           // texts that differ
	Equal []teasel.Operand // numbers that are equal
	Seen  []uint8          // how often this executor had recorded each of the observation's operands before, up to 255
}

// Text is a comparison of two texts, of which the first 32 bytes are kept.
type Text struct {
	Site uint32
	Seen uint8 // as in Recording
	A, B string
}

// pair is a comparison and what was compared.
type pair struct {
	site uint32
	a, b string
}

// maxPairs is how many pairs are remembered before it begins anew.
const maxPairs = 1 << 18

// count returns how often a pair was recorded before.
func (e *executor) count(p pair) uint8 {
	if e.pairs == nil || len(e.pairs) >= maxPairs {
		e.pairs = map[pair]uint8{}
	}
	n := e.pairs[p]
	if n < 255 {
		e.pairs[p] = n + 1
	}
	return n
}

// record puts what was compared into o.
func (e *executor) record(o *teasel.Observation, s *sancov.Slot) {
	all := e.memory.Operands(s)
	if len(all) == 0 {
		return
	}
	var rec Recording
	for i := range all {
		op := &all[i]
		at, bt := op.Text()
		equal := op.Flags&sancov.OperandEqual != 0
		if op.Flags&sancov.OperandText != 0 {
			if !equal && len(o.Ask.Watch) == 0 {
				p := pair{op.Site, string(at), string(bt)}
				rec.Texts = append(rec.Texts, Text{op.Site, e.count(p), p.a, p.b})
			}
			continue
		}
		a, b := op.Number()
		n := teasel.Operand{Site: op.Site, Size: op.Size, Const: op.Flags&sancov.OperandConst != 0, A: a, B: b}
		if equal {
			rec.Equal = append(rec.Equal, n)
			continue
		}
		o.Operands = append(o.Operands, n)
		if len(o.Ask.Watch) == 0 {
			rec.Seen = append(rec.Seen, e.count(pair{op.Site, string(at), string(bt)}))
		}
	}
	o.Note = &rec
}
