package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Saver is a reporter that saves findings to the package's testdata, where plain go test runs them from then on.
// A finding that is made simpler replaces what was saved of it before. The zero value of all fields but Dir and Test
// is fine; fields are set before the first report.
type Saver struct {
	Dir  string // the package's directory
	Test string // the fuzz test's name

	Seeds [][]byte // of F.Add, encoded: plain go test runs them, and they are not saved

	mu     sync.Mutex
	saved  map[string]string // files by the finding's id
	mine   map[string]bool   // files that were not there before
	failed map[string]error  // by the finding's id
}

var _ teasel.Reporter = (*Saver)(nil)

// Report implements [teasel.Reporter]. It returns no error: a finding that cannot be saved there is still in the campaign's
// directory, and the campaign goes on. See [Saver.Failed].
func (s *Saver) Report(e teasel.Event) error {
	if e.Kind != teasel.EventFound {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		s.saved, s.mine, s.failed = map[string]string{}, map[string]bool{}, map[string]error{}
	}
	id := e.Finding.ID()
	delete(s.failed, id)
	if err := s.save(id, e.Finding.Input); err != nil {
		s.failed[id] = err
	}
	return nil
}

// save saves the input of a finding and removes what was saved of it before.
func (s *Saver) save(id string, input []byte) error {
	var file string
	var isNew bool
	if s.Seed(input) < 0 {
		var err error
		if file, isNew, err = s.write(input); err != nil {
			return err
		}
	}
	before := s.saved[id]
	s.saved[id] = file
	if isNew {
		s.mine[file] = true
	}
	if !s.mine[before] || s.holds(before) {
		return nil
	}
	delete(s.mine, before)
	if err := os.Remove(before); err != nil && !errors.Is(err, fs.ErrNotExist) { // the user may have removed it
		return fmt.Errorf("removing what a simpler input replaces: %w", err)
	}
	return nil
}

// holds reports whether a file has the input of a finding. Several findings may have the same one.
func (s *Saver) holds(file string) bool {
	for _, f := range s.saved {
		if f == file {
			return true
		}
	}
	return false
}

// File returns where a finding was saved; "": it was not.
func (s *Saver) File(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[id]
}

// Seed returns which seed of F.Add an encoded input is; -1: none.
func (s *Saver) Seed(input []byte) int {
	return slices.IndexFunc(s.Seeds, func(seed []byte) bool { return bytes.Equal(seed, input) })
}

// Failed returns why the simplest input of a finding could not be saved; nil: it was. What was saved of it before is still there.
func (s *Saver) Failed(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[id]
}

// write saves an input under the name that go test -fuzz gives it, in place of a file of other contents, which is a damaged one.
// An input that is there under another name is left there.
func (s *Saver) write(data []byte) (file string, isNew bool, err error) {
	dir := filepath.Join(s.Dir, "testdata", "fuzz", s.Test)
	file = filepath.Join(dir, teasel.Key(data))
	if has(file, data) {
		return file, false, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	for _, e := range entries {
		if old := filepath.Join(dir, e.Name()); has(old, data) {
			return old, false, nil
		}
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("saving %s: expected a file, not a %v", file, info.Mode().Type())
	}
	return file, true, corpus.WriteFile(file, data)
}

// has reports whether a file has these contents. Whatever else may be in a directory, such as a named pipe, is not opened.
func has(file string, data []byte) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	old, err := os.ReadFile(file)
	return err == nil && bytes.Equal(old, data)
}
