package corpus

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// damages are what may have happened to a file.
var damages = []struct {
	name string
	make func(path string) error // when the file has been removed
}{
	{"removed", func(string) error { return nil }},
	{"emptied", func(path string) error { return os.WriteFile(path, nil, 0o644) }},
	{"changed", func(path string) error { return os.WriteFile(path, []byte(`{"n":"other"}`), 0o644) }},
	{"directory", func(path string) error { return os.Mkdir(path, 0o755) }},
	{"full directory", func(path string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "mine"), nil, 0o644)
	}},
	{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
	{"link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
}

// damage replaces a file.
func damage(t *testing.T, path string, make func(path string) error) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := make(path); err != nil {
		t.Fatal(err)
	}
}

// A testcase whose file was lost or damaged is left out of a resumed campaign, and written again when it is found again.
func TestTestcaseIsRestored(t *testing.T) {
	for _, c := range damages {
		for _, afl := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				m := testMeta()
				m.AFL = afl
				d, err := Create(t.TempDir(), m)
				if err != nil {
					t.Fatal(err)
				}
				lost, other := added(`{"n":1}`, 1), added(`{"n":2}`, 2)
				report(t, d, lost, other)
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				path := d.entryPath(lost.Entry.Key)
				damage(t, path, c.make)
				if d, err = Open(d.Path()); err != nil {
					t.Fatal(err)
				}
				s, problems := snapshot(t, d)
				if len(s.Entries) != 1 || s.Entries[0].Key != other.Entry.Key || len(problems) != 1 || problems[0].File != path {
					t.Errorf("resumed with %d testcases and problems %v, want the other testcase and a problem of %s", len(s.Entries), problems, path)
				}
				report(t, d, lost)
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				if d, err = Open(d.Path()); err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				if s, problems := snapshot(t, d); len(s.Entries) != 2 || len(problems) != 0 {
					t.Errorf("resumed again with %d testcases and problems %v, want both and none", len(s.Entries), problems)
				}
			})
		}
	}
}

// A directory in place of a finding's file is named, and is moved aside when the finding is found again; so is one in place of
// its input, and of its file as long as it is unconfirmed.
func TestFindingIsRestored(t *testing.T) {
	d := create(t)
	crash := found("mcp/server-crash", "a", "{}")
	report(t, d, crash)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	id := crash.Finding.ID()
	file, input, pending := d.FindingPath(id), filepath.Join(d.Path(), Crashes, id+".json"), d.UnconfirmedPath(id)
	for round := range 2 {
		for _, path := range []string{file, input, pending} {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(path, "mine"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Open(d.Path())
		if err != nil {
			t.Fatal(err)
		}
		_, problems := snapshot(t, d)
		for i, path := range []string{file, pending} {
			if want := path + ": is a directory: expected a finding"; len(problems) != 2 || problems[i].Error() != want {
				t.Errorf("round %d: problems %v, want %s", round, problems, want)
			}
		}
		unconfirmed := teasel.Event{Kind: teasel.EventUnconfirmed, Finding: crash.Finding}
		unconfirmed.Finding.Stable, unconfirmed.Finding.Tries = 0, 0
		report(t, d, unconfirmed)
		if _, err := ReadFinding(pending); err != nil {
			t.Errorf("round %d: the unconfirmed finding: %v", round, err)
		}
		report(t, d, crash)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if f, err := ReadFinding(file); err != nil || f.Finding.ID() != id {
			t.Errorf("round %d: finding %s, %v, want %s", round, f.Finding.ID(), err, id)
		}
		if data, err := os.ReadFile(input); err != nil || string(data) != "{}" {
			t.Errorf("round %d: input %q, %v", round, data, err)
		}
		for _, path := range []string{file, input, pending} {
			if _, err := os.Stat(filepath.Join(path+[]string{".broken", ".broken2"}[round], "mine")); err != nil {
				t.Errorf("round %d: %v, want the directory as it was", round, err)
			}
		}
	}
}

// A finding is confirmed although a directory has the name of the file that it had as long as it was not.
func TestConfirmedBesideDirectory(t *testing.T) {
	d := create(t)
	crash := found("mcp/server-crash", "a", "{}")
	mine := filepath.Join(d.UnconfirmedPath(crash.Finding.ID()), "mine")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	report(t, d, crash)
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}
