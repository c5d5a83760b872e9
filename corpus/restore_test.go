package corpus

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
