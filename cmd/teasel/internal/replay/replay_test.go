package replay

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
)

// slow is a target that hangs with every input, which takes it a quarter of a minute.
type slow struct{}

func (slow) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return slow{}, nil }
func (slow) Close() error                                                       { return nil }
func (slow) Exec(_ context.Context, _ []byte, o *teasel.Observation) error {
	time.Sleep(15 * time.Second)
	o.Exit = teasel.ExitHang
	return nil
}

// TestProgress: whatever runs for longer than two seconds says what it does, also while one input takes long.
func TestProgress(t *testing.T) {
	hang := teasel.Finding{Rule: "native/hang", Severity: teasel.Low, Subject: "spin", Stable: 3, Tries: 3}
	for name, tt := range map[string]struct {
		run  func(*Runner[[]byte], io.Writer, *corpus.FindingFile) error
		want []string
	}{
		"repro": {func(r *Runner[[]byte], w io.Writer, f *corpus.FindingFile) error {
			r.Stderr, r.Detectors = w, nil
			return r.Repro(t.Context(), io.Discard, f, 3)
		}, []string{"0 of 3 tries, the next one takes 7s so far", "2 of 3 tries"}},
		"min": {func(r *Runner[[]byte], w io.Writer, f *corpus.FindingFile) error {
			_, err := r.Minimize(t.Context(), w, f, 4)
			return err
		}, []string{"0 of 4 executions at most", "the next one takes", "1 of 4 executions"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			r := &Runner[[]byte]{Target: slow{}, Codec: teasel.Bytes{}, Mutator: &mutate.Bytes{},
				Detectors: []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding { return []teasel.Finding{hang} })}}
			f := &corpus.FindingFile{Kind: "native", Finding: hang}
			f.Finding.Input = []byte("abcdefgh")
			if err := tt.run(r, &said, f); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%s: %q is not in\n%s", name, want, said.String())
				}
			}
		})
	}
}
