package teasel_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// reusedMemoryTarget is a target whose evidence is valid until its next execution, as it is allowed to be: each input that it runs is
// noted in memory that is used again. It takes batches a few inputs at a time, and dies of what begins with a 7, without
// saying of which.
type reusedMemoryTarget struct {
	notes  [][1]byte
	most   int // inputs that it takes of a batch
	deadly bool
}

func (s *reusedMemoryTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return s, nil
}
func (s *reusedMemoryTarget) Close() error                { return nil }
func (s *reusedMemoryTarget) Reset(context.Context) error { return nil }
func (s *reusedMemoryTarget) BatchSize() int              { return 32 }

func (s *reusedMemoryTarget) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	s.note(0, in, o)
	if s.dies(in) {
		o.Exit = teasel.ExitCrash
	}
	return nil
}

func (s *reusedMemoryTarget) dies(in []byte) bool { return s.deadly && len(in) > 0 && in[0]&15 == 7 }

func (s *reusedMemoryTarget) note(i int, in []byte, o *teasel.Observation) {
	o.Exit = teasel.ExitOK
	if s.notes[i][0] = 0; len(in) > 0 {
		s.notes[i][0] = in[0]
	}
	o.Evidence = &s.notes[i]
}

func (s *reusedMemoryTarget) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	n := min(len(ins), s.most)
	dead := false
	for i := range n {
		s.note(i, ins[i], &obs[i])
		if dead = dead || s.dies(ins[i]); dead {
			obs[i].Exit, obs[i].Evidence = teasel.ExitLost, nil
		}
	}
	return n, nil
}

// Detect finds something in every evidence of an odd byte, named by it.
func (s *reusedMemoryTarget) Detect(o *teasel.Observation) []teasel.Finding {
	note, ok := o.Evidence.(*[1]byte)
	if !ok || note[0]&1 == 0 {
		return nil
	}
	return []teasel.Finding{{Rule: "odd", Subject: string(rune('0' + note[0]&15)), Severity: teasel.Low}}
}

// What was seen of an input is put down to that input, whatever was run before anybody looked at it.
func TestEvidenceBelongsToItsInput(t *testing.T) {
	for _, deadly := range []bool{false, true} {
		s := &reusedMemoryTarget{notes: make([][1]byte, 8), most: 8, deadly: deadly}
		c := bytesCampaign(s)
		c.Runs, c.MinimizeRuns = 20_000, 1
		c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{s} }
		sum, err := c.Run(context.Background())
		if err != nil || len(sum.Findings) != 8 {
			t.Errorf("deadly %v: %d findings, want 8, %v", deadly, len(sum.Findings), err)
		}
		for _, f := range sum.Findings {
			if len(f.Original) == 0 || string(rune('0'+f.Original[0]&15)) != f.Subject {
				t.Errorf("deadly %v: %q was found by %q", deadly, f.Subject, f.Original)
			}
		}
	}
}

// byteFeatures is a reusedMemoryTarget that takes one input at a time; every byte of an input, with its place, is a feature.
type byteFeatures struct{ *reusedMemoryTarget }

func (s byteFeatures) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return s, nil
}

func (s byteFeatures) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i, b := range ins[0] {
		obs[0].Features = append(obs[0].Features, teasel.Feature(i<<8+int(b)+1))
	}
	return s.reusedMemoryTarget.ExecBatch(ctx, ins, obs)
}

// The same holds for inputs that are run to trim another: what is seen first without the first byte of a seed is put down
// to just that, though its trimming goes on.
func TestEvidenceOfTrimming(t *testing.T) {
	s := byteFeatures{&reusedMemoryTarget{notes: make([][1]byte, 1), most: 1}}
	c := bytesCampaign(s)
	c.Runs, c.MinimizeRuns, c.Calibrate, c.Seeds = 2000, 1, 2, nil
	for i := byte(0); i < 16; i += 2 {
		c.Seeds = append(c.Seeds, []byte{i, i + 1, i, i, i})
	}
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{s} }
	sum, err := c.Run(t.Context())
	if err != nil || len(sum.Findings) != 8 {
		t.Errorf("%d findings, want 8, %v", len(sum.Findings), err)
	}
	for _, f := range sum.Findings {
		if len(f.Original) != 4 || string(rune('0'+f.Original[0]&15)) != f.Subject {
			t.Errorf("%q was found by %q", f.Subject, f.Original)
		}
	}
}
