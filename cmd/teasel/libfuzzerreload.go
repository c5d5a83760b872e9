package main

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
	reloadMost    = 1024     // inputs that are brought at a time
	reloadLargest = 64 << 20 // bytes of a file that is taken for an input
)

// reloader brings the inputs that others put into the first directory while a harness is fuzzed, such as the other jobs. Files
// that this run has read or written are known by the names that libFuzzer gives them, and are not read.
type reloader struct {
	dir   string
	every time.Duration
	cut   func(in []byte) []byte // makes an input no longer than the flags say
	known *nameSet

	last time.Time
	seen map[string]stamp // files with other names, and such as could not be read
}

var _ teasel.Source = (*reloader)(nil)

// stamp tells whether a file has changed: it may have been read before its writer was done.
type stamp struct {
	size     int64
	modified time.Time
}

// Pull implements [teasel.Source]. Files come and go as others like, so what cannot be read is passed over.
func (r *reloader) Pull(ctx context.Context) (ins [][]byte, err error) {
	if time.Since(r.last) < r.every-time.Second/2 { // it is called about once a second
		return nil, nil
	}
	r.last = time.Now()
	if root, err := filepath.EvalSymlinks(r.dir); err == nil {
		r.dir = root // a walk does not follow the link it begins with
	}
	filepath.WalkDir(r.dir, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		hidden := strings.HasPrefix(name, ".") && path != r.dir
		switch {
		case ctx.Err() != nil || len(ins) == reloadMost:
			return fs.SkipAll
		case err != nil:
			return nil
		case e.IsDir() && hidden:
			return fs.SkipDir
		case hidden || e.IsDir() || r.known.has(name):
			return nil
		}
		if data := r.read(path); data != nil {
			ins = append(ins, data)
		}
		return nil
	})
	return ins, nil
}

// read returns the content of a file, nil if that is known.
func (r *reloader) read(path string) []byte {
	info, err := os.Stat(path) // follows a link to a file
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > reloadLargest {
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
