package operands

import "github.com/teaselfuzz/teasel"

// Recording holds the comparisons of one execution.
type Recording struct {
	Numbers []teasel.Operand // all comparisons of numbers, equal or not, in the order of execution
	Texts   []Text           // comparisons of different texts
	History *History         // of the executor; set by [History.Attach]
}

// Text is a comparison of two texts. An executor may keep only their first bytes.
type Text struct {
	Site uint32 // position in the program, stable within a campaign
	A, B string
}

// Attach attaches a recording to an observation, for the stages of this package: it sets o.Note to rec, and appends the comparisons of
// different numbers to o.Operands, for mutators that implement [teasel.Repairer]. An executor without recordings never calls it.
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
