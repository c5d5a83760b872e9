package netproto

import (
	"context"
	"sync/atomic"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// firstPass is the stage that goes through [dialogue.Mutator.FirstPass]: each message in each state, each field at its limits, two
// seeds side by side. What it does depends on the model and on no testcase, so that the workers of a process share it. A resumed
// campaign begins it again.
type firstPass struct {
	next *atomic.Uint64 // dialogue
	size *atomic.Uint64 // dialogues in all; 0: not known yet
}

func newFirstPass() firstPass { return firstPass{new(atomic.Uint64), new(atomic.Uint64)} }

// firstPassShare is how many dialogues of the first pass are held each time that a testcase is picked: more than of all other stages
// together, so that it is done within the first minute.
const firstPassShare = 256

// FirstPass is the name of the stage that tries the extremes of a model before anything is left to chance.
const FirstPass = "first-pass"

// Name implements [teasel.Stage].
func (firstPass) Name() string { return FirstPass }

// Planned says how many dialogues it holds in all: see [teasel.Stage].
func (f firstPass) Planned() uint64 { return f.size.Load() }

// Run implements [teasel.Stage].
func (f firstPass) Run(ctx context.Context, w *teasel.Worker[*dialogue.Dialogue], _ *teasel.Testcase[*dialogue.Dialogue]) error {
	m, ok := w.Mutator().(*dialogue.Mutator)
	if !ok {
		return nil
	}
	if f.size.Load() == 0 {
		f.size.Store(m.FirstPassSize())
	}
	for range firstPassShare {
		d, more := m.FirstPass(f.next.Add(1) - 1)
		if !more {
			return nil
		}
		slot := w.Slot()
		*slot = d
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
