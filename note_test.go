package teasel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// noteCodec stores notes, which are lengths, as text; one byte stands for a version that it no longer knows.
type noteCodec struct{ unknown bool }

func (noteCodec) EncodeNote(note any) ([]byte, error) { return make([]byte, note.(int)), nil }

func (c noteCodec) DecodeNote(data []byte) (any, error) {
	if c.unknown {
		return nil, errors.New("unknown version")
	}
	return len(data), nil
}

// annotated is a target whose executions are annotated with the length of the input; it counts those that are asked for all features.
type annotated struct{ asked *int }

func (a annotated) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return a, nil }
func (annotated) Close() error                                                         { return nil }

func (a annotated) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(min(len(in), 40)+1))
	if o.Ask.Features {
		*a.asked++
		o.Note = len(in)
	}
	return nil
}

// noted is a stage that checks notes.
type noted struct{ t *testing.T }

func (noted) Name() string { return "noted" }

func (s noted) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if n, ok := tc.Note.(int); !ok || n != len(tc.Input) {
		s.t.Errorf("a testcase of %d bytes has the note %v", len(tc.Input), tc.Note)
	}
	slot := w.Slot()
	*slot = append((*slot)[:0], append(tc.Input, 'x')...)
	return w.Commit(ctx)
}

// Notes are stored: a resumed campaign runs testcases to annotate them only when their notes cannot be decoded.
func TestNotesSurvive(t *testing.T) {
	work := func(h *teasel.Hub, codec noteCodec, runs uint64) (asked int) {
		c := bytesCampaign(annotated{&asked})
		c.Notes, c.Calibrate, c.Runs, c.TrimRuns = codec, 1, runs, -1
		c.Stages = []teasel.Stage[[]byte]{noted{t}}
		if err := c.Work(t.Context(), h.Join(), 0); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	h := &teasel.Hub{}
	h.Seed([]byte("seed"))
	work(h, noteCodec{}, 500)
	s := h.Snapshot()
	if len(s.Entries) < 10 {
		t.Fatalf("%d testcases", len(s.Entries))
	}
	for _, unknown := range []bool{false, true} {
		again := &teasel.Hub{}
		if err := again.Resume(&s); err != nil {
			t.Fatal(err)
		}
		asked := work(again, noteCodec{unknown: unknown}, uint64(len(s.Entries)+10))
		if least := len(s.Entries); unknown != (asked >= least) {
			t.Errorf("%d of %d testcases were run for their notes, unknown version %v", asked, least, unknown)
		}
	}
}
