package libfuzzer

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
)

const (
	maxReload     = 1024     // inputs that are read at a time
	maxReloadSize = 64 << 20 // bytes of an input
)

// reloader reads the inputs that others, such as other jobs, put into the first directory while a harness is fuzzed. Files that this
// run has read or written are known by the names that libFuzzer gives them, and are not read.
type reloader struct {
	dir   string
	every time.Duration
	cut   func(in []byte) []byte // makes an input no longer than the flags say
	known *nameSet

	last time.Time
	seen map[string]stamp // by path: files with other names, and files that could not be read
}

var _ teasel.Source = (*reloader)(nil)

// stamp changes when a file does: it may have been read before it was complete.
type stamp struct {
	size     int64
	modified time.Time
}

// Pull implements [teasel.Source]. Others add and remove files at any time, so a file that cannot be read is skipped.
func (r *reloader) Pull(ctx context.Context) (s teasel.Supply, err error) {
	if time.Since(r.last) < r.every-time.Second/2 { // Pull is called about once a second
		return s, nil
	}
	r.last = time.Now()
	if root, err := filepath.EvalSymlinks(r.dir); err == nil {
		r.dir = root // a walk does not follow the link it begins with
	}
	filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		hidden := strings.HasPrefix(name, ".") && path != r.dir
		switch {
		case ctx.Err() != nil || len(s.Inputs) == maxReload:
			return fs.SkipAll
		case err != nil:
			return nil
		case e.IsDir() && hidden:
			return fs.SkipDir
		case hidden || e.IsDir() || r.known.has(name):
			return nil
		}
		if data := r.read(path); data != nil {
			s.Inputs = append(s.Inputs, data)
		}
		return nil
	})
	return s, nil
}

// read returns the content of a file; nil: it is known.
func (r *reloader) read(path string) []byte {
	info, err := os.Stat(path) // follows a link to a file
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxReloadSize {
		return nil
	}
	now := stamp{info.Size(), info.ModTime()}
	if r.seen[path] == now {
		return nil
	}
	r.seen[path] = now
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return nil
	}
	data = r.cut(data)
	if !r.known.add(sha1Name(data)) {
		return nil
	}
	return data
}

// nameSet is a set of names that the reporter and the reloader share.
type nameSet struct {
	mu    sync.Mutex
	names map[string]bool
}

func (s *nameSet) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[name]
}

// add reports whether the name is new.
func (s *nameSet) add(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[name] {
		return false
	}
	s.names[name] = true
	return true
}

func (s *nameSet) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, name)
}
