package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrVersion is wrapped by the problem of a file that a later version of the program has written.
var ErrVersion = errors.New("unknown version")

// Problem is a fault in a file on disk. It is an error as well.
type Problem struct {
	File   string // its path
	Line   int    // from 1; 0: the whole file, or one without lines
	Offset int64  // in bytes
	Text   string // what was found and what was expected
	Err    error  // its cause; nil: none
}

// Error names the place and says what was expected there.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	} else if p.Offset > 0 {
		fmt.Fprintf(&b, ": byte %d", p.Offset)
	}
	b.WriteString(": ")
	b.WriteString(p.Text)
	return b.String()
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// line returns the number of the line that has data[offset].
func line(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}
