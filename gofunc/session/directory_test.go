package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/session"
)

// full is a directory without room for findings.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Report(e teasel.Event) error {
	if e.Kind == teasel.EventFound {
		return errFull
	}
	return nil
}

// What is found when the campaign's directory is full is saved to testdata and in the summary, and the campaign ends.
func TestDirectoryThatIsFull(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &session.Directory{To: full{}, Stop: stop}
	saver := &session.Saver{Dir: t.TempDir(), Test: "FuzzX"}
	h := &teasel.Hub{Pool: teasel.NewPool(), Reporters: []teasel.Reporter{d, saver}}
	f := teasel.Finding{Rule: "go/panic", Severity: teasel.High, Subject: "m.F", Input: []byte("input"), Stable: 3, Tries: 3}
	if _, err := h.Join().Sync(ctx, teasel.News{Findings: []teasel.Finding{f}}); err != nil {
		t.Fatal(err)
	}
	if fs := h.Summary().Findings; len(fs) != 1 || filepath.Base(saver.File(f.ID())) != teasel.Key(f.Input) {
		t.Errorf("findings %v, saved as %q", fs, saver.File(f.ID()))
	}
	if !errors.Is(d.Failed(), errFull) || ctx.Err() == nil {
		t.Errorf("the directory failed with %v; the campaign was ended: %v", d.Failed(), ctx.Err())
	}
}
