package monitor

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sync"

	"golang.org/x/term"

	"github.com/teaselfuzz/teasel/internal/plain"
)

// Stream is the terminal behind a program's standard error, which can be lent to a full screen: what others write meanwhile is kept, and
// written when the terminal is given back. Its methods may be called concurrently.
type Stream struct {
	file *os.File

	mu   sync.Mutex
	lent bool
	dead bool // nobody reads it
	text []byte
}

// NewStream returns a stream for a file that is a terminal, and the file itself if it is none.
func NewStream(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &Stream{file: f}
}

// Write implements [io.Writer]. Whatever is written, by a target or a hub for example, controls the terminal in no other way than by
// new lines, and by returning to the beginning of the line at its own beginning and end.
func (s *Stream) Write(p []byte) (int, error) {
	text := bytes.Trim(p, "\r")
	at := bytes.Index(p, text)
	written := slices.Concat(p[:at], []byte(plain.Text(string(text))), p[at+len(text):])
	s.mu.Lock()
	if s.lent || s.dead {
		if s.lent && len(s.text) < maxPending {
			s.text = append(s.text, written...)
		}
		s.mu.Unlock()
		return len(p), nil
	}
	s.mu.Unlock()
	if _, err := s.file.Write(written); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Lend returns the terminal, to which nobody else writes until GiveBack.
func (s *Stream) Lend() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent = true
	return s.file
}

// GiveBack writes what was written meanwhile. A terminal that nobody reads gets nothing any more, since each write would wait for ever.
func (s *Stream) GiveBack(read bool) {
	s.mu.Lock()
	text := s.text
	s.lent, s.dead, s.text = false, !read, nil
	s.mu.Unlock()
	if read && len(text) > 0 {
		_, _ = s.file.Write(text)
	}
}

// Terminal returns the terminal that a program reads or writes by f; nil: it is none.
func Terminal(f any) *os.File {
	switch f := f.(type) {
	case *Stream:
		return f.file
	case *os.File:
		if term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}
