package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel/corpus"
)

// A disk that is full is nothing to report.
func TestFailureWithoutRoom(t *testing.T) {
	for cause, want := range map[error]string{syscall.ENOSPC: "--out", syscall.EDQUOT: "--out", syscall.EBADF: "please report it"} {
		var e *exit
		if err := failure(fmt.Errorf("writing: %w", cause)); !errors.As(err, &e) || e.status != exitFailure || !strings.Contains(e.hint, want) {
			t.Errorf("%v: hint %+v, want %q", cause, e, want)
		}
	}
}

// A folder in place of one of the campaign's files is named.
func TestNotOpenedFolder(t *testing.T) {
	for _, name := range []string{"journal", "stats.csv"} {
		path := filepath.Join(t.TempDir(), "campaign")
		d, err := corpus.Create(path, corpus.Meta{Kind: "net"})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(path, name)
		if err := errors.Join(d.Close(), os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Fatal(err)
		}
		_, err = corpus.Open(path)
		var e *exit
		if !errors.As(notOpened(err), &e) || !strings.Contains(e.hint, file+" has to be a file") {
			t.Errorf("%s: %v, hint %q", name, err, e.hint)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if d, err = corpus.Open(path); err != nil {
			t.Fatalf("%s was moved away: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
