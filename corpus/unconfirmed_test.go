package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// reopen closes a directory and opens it again.
func reopen(t *testing.T, d *Dir) *Dir {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// A finding that was seen is in the summary, also after a new start, until it is confirmed, whether it was tried or there was no time to.
func TestUnconfirmedResume(t *testing.T) {
	d := create(t)
	seenOf := func(rule, subject string, tries int) teasel.Event {
		e := found(rule, subject, "{}")
		e.Kind, e.Finding.Stable, e.Finding.Tries = teasel.EventUnconfirmed, 0, tries
		return e
	}
	seen := func(subject string, tries int) teasel.Event { return seenOf("mcp/no-reply", subject, tries) }
	check := func(when string, untried int, want ...string) {
		t.Helper()
		var got []string
		for _, f := range d.Summary().Unconfirmed {
			got = append(got, f.Subject)
		}
		if s, _ := snapshot(t, d); len(s.Untried) != untried {
			t.Errorf("%s: the snapshot has %v to try, want %d", when, s.Untried, untried)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: unconfirmed %q, want %q", when, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: unconfirmed %q, want %q", when, got, want)
			}
		}
	}
	report(t, d, seen("c", 0), seen("b", 0), seen("a", 0), seen("tried at once", 3), seenOf("mcp/server-crash", "d", 3))
	check("before", 3, "a", "b", "c", "tried at once", "d")
	d = reopen(t, d)
	check("resumed", 3, "a", "b", "c", "tried at once", "d")

	report(t, d, found("mcp/no-reply", "a", "{}"), seen("b", 3))
	check("one confirmed, one tried", 1, "b", "c", "tried at once", "d")
	d = reopen(t, d)
	check("resumed again", 1, "b", "c", "tried at once", "d")
	tried := seen("b", 3)
	f, err := ReadFinding(d.UnconfirmedPath(tried.Finding.ID()))
	if err != nil || f.Finding.Tries != 3 || string(f.Finding.Input) != "{}" {
		t.Errorf("the file of what was tried: %+v, %v", f.Finding, err)
	}
	r, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Summary().Unconfirmed; len(got) != 4 {
		t.Errorf("opened for reading: unconfirmed %v, want four", got)
	}

	report(t, d, seen("b", 0))
	check("seen again", 2, "b", "c", "tried at once", "d")
}

// A file in unconfirmed/ that cannot be read is a problem.
func TestUnconfirmedBroken(t *testing.T) {
	d := create(t)
	dir := filepath.Join(d.Path(), Unconfirmed)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "0123456789abcdef.json")
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	d = reopen(t, d)
	if _, problems := snapshot(t, d); len(problems) != 1 || problems[0].File != path {
		t.Errorf("problems %v, want one of %s", problems, path)
	}
}
