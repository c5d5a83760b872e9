// Package desk is what the two test servers offer, free of any SDK: the same
// behaviour behind two implementations of the protocol, so that a difference
// between them is the SDK's.
package desk

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Limits on the store: a test server must not grow with the length of the run.
const (
	MaxOpen  = 256
	MaxBytes = 64 << 10
)

// What a Notes method refuses with.
var (
	ErrNoNote = errors.New("no open note with this handle")
	ErrFull   = errors.New("too many open notes")
	ErrTooBig = errors.New("the note would exceed 65536 bytes")
)

// Notes is a store of open notes, each known by the handle that Open returned.
// The zero value is empty. All methods may be called at once.
type Notes struct {
	mu   sync.Mutex
	last int
	open map[string]*strings.Builder
}

// Open starts a note with a first line and returns its handle.
func (n *Notes) Open(title string) (handle string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.open) >= MaxOpen {
		return "", ErrFull
	}
	if len(title) > MaxBytes {
		return "", ErrTooBig
	}
	if n.open == nil {
		n.open = make(map[string]*strings.Builder)
	}
	n.last++
	handle = fmt.Sprintf("note-%d", n.last)
	b := new(strings.Builder)
	b.WriteString(title)
	n.open[handle] = b
	return handle, nil
}

// Append adds a line to an open note and returns the note's size in bytes.
func (n *Notes) Append(handle, line string) (size int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, ok := n.open[handle]
	if !ok {
		return 0, ErrNoNote
	}
	if b.Len()+1+len(line) > MaxBytes {
		return 0, ErrTooBig
	}
	b.WriteByte('\n')
	b.WriteString(line)
	return b.Len(), nil
}

// Close forgets a note and returns its text.
func (n *Notes) Close(handle string) (text string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, ok := n.open[handle]
	if !ok {
		return "", ErrNoNote
	}
	delete(n.open, handle)
	return b.String(), nil
}

// Text returns the text of an open note.
func (n *Notes) Text(handle string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, ok := n.open[handle]
	if !ok {
		return "", ErrNoNote
	}
	return b.String(), nil
}
