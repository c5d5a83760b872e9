package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// CheckCreate returns the error that Create would return, and creates nothing.
func TestCheckCreate(t *testing.T) {
	dir := t.TempDir()
	file, foreign, out := filepath.Join(dir, "file"), filepath.Join(dir, "letters"), filepath.Join(dir, "a", "b", "out")
	if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Mkdir(foreign, 0o755), os.WriteFile(filepath.Join(foreign, "mine"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{out: nil, dir + "/new": nil, foreign: ErrForeign, file: syscall.ENOTDIR, filepath.Join(file, "below"): syscall.ENOTDIR} {
		if err := CheckCreate(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("the check has made a directory")
	}
	d, err := Create(out, Meta{Kind: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckCreate(out); !errors.Is(err, ErrLocked) {
		t.Errorf("where a campaign runs: %v, want %v", err, ErrLocked)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckCreate(out); err != nil {
		t.Errorf("where a campaign has run: %v", err)
	}
}
