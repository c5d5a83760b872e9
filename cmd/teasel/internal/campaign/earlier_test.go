package campaign

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
)

// TestEarlierFindings: a plain second run goes on with what the first had no time to reproduce, and with what the target had run before that.
// What was tried is a seed.
func TestEarlierFindings(t *testing.T) {
	m := corpus.Meta{Kind: "native", Name: "harness"}
	out := filepath.Join(t.TempDir(), "out")
	dir, err := corpus.Create(out, m)
	if err != nil {
		t.Fatal(err)
	}
	seen := teasel.Finding{Rule: "crash", Severity: teasel.High, Subject: "target", Input: []byte("b"), Original: []byte("b"), History: [][]byte{[]byte("a"), []byte("b")}}
	tried := teasel.Finding{Rule: "hang", Severity: teasel.Low, Subject: "target", Input: []byte("c"), Original: []byte("c"), Tries: 3}
	for _, f := range []teasel.Finding{seen, tried} {
		if err := dir.Report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	p := &Plan[[]byte]{Meta: m, Options: &flags.Options{Out: out}, Campaign: teasel.Campaign[[]byte]{Codec: teasel.Bytes{}}}
	if err := p.continueEarlier(io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(p.Seeds) != 1 || !bytes.Equal(p.Seeds[0].Input, tried.Input) {
		t.Errorf("seeds %q, want that of the hang", p.Seeds)
	}
	if r := p.Campaign.Resume; r == nil || len(r.Untried) != 1 || r.Untried[0].ID() != seen.ID() || len(r.Untried[0].History) != 2 {
		t.Errorf("to go on with: %+v, want the crash and two inputs of its history", r)
	}
}
