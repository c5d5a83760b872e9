package operands

import "github.com/teaselfuzz/teasel"

// Recording is what one execution compared.
type Recording struct {
	Numbers []teasel.Operand // every comparison of two numbers, in the order in which they were made, equal or not
	Texts   []Text           // comparisons of two texts that differ
	History *History         // of the executor; [History.Attach] sets it
}

// Text is a comparison of two texts. An executor may keep only their first bytes.
type Text struct {
	Site uint32 // where; stable within a campaign
	A, B string
}

// Attach hands a recording to the stages of this package. It appends the numbers that differ to o.Operands, for
// mutators that repair, and puts rec into o.Note. An executor whose target does not say what it compares never calls it.
func (h *History) Attach(o *teasel.Observation, rec *Recording) {
	for _, op := range rec.Numbers {
		if op.A != op.B {
			o.Operands = append(o.Operands, op)
		}
	}
	rec.History = h
	o.Note = rec
}

// recordingOf returns the recording of an execution, nil if nothing was recorded.
func recordingOf(o *teasel.Observation) *Recording {
	rec, _ := o.Note.(*Recording)
	return rec
}
