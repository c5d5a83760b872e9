package corpus

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A lock whose holder is gone is waited for: what it was just starting has it until it has become another program.
func TestOrphanedLock(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		holder int
		want   error
	}{{"gone", gone.Process.Pid, nil}, {"alive", os.Getpid(), ErrLocked}, {"unknown", 0, ErrLocked}} {
		path := filepath.Join(t.TempDir(), lockName)
		if err := os.WriteFile(path, []byte(strconv.Itoa(tt.holder)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		held, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(5*lockPause, func() { held.Close() })
		f, err := acquire(filepath.Dir(path))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err == nil {
			f.Close()
		}
		if timer.Stop() {
			held.Close()
		}
	}
}

// A campaign is running while its lock is held, whoever is named in it.
func TestHeld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if Held(dir) {
		t.Error("a directory that is not there is held")
	}
	d, err := Create(dir, Meta{Kind: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if !Held(dir) {
		t.Error("a campaign that is running is not held")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if Held(dir) {
		t.Error("a campaign that has ended is held")
	}
	if err := os.WriteFile(filepath.Join(dir, lockName), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if Held(dir) {
		t.Error("a campaign whose number another process has is held")
	}
}
