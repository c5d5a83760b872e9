package process

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// outputLimit is how many bytes of the output are kept: half of them from the beginning, half from the end.
const outputLimit = 1 << 18

// output keeps what a process has written since the input that runs now began: the beginning, which has the goroutine that
// failed, and the end, which has the failure after a long log. What earlier inputs have logged says nothing of this one.
type output struct {
	phase func() uint64 // a number that changes when an input begins or ends; nil: everything is kept

	mu     sync.Mutex
	last   uint64 // the phase when the process wrote
	first  []byte
	end    []byte // a ring once it is full
	at     int    // where the ring begins
	beyond int    // bytes behind first
}

var _ io.Writer = (*output)(nil)

// Write implements io.Writer. What is read in one phase was written in it or before; what was read in an earlier one belongs
// to an earlier input.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase != nil {
		if now := o.phase(); now != o.last {
			o.last, o.first, o.end, o.at, o.beyond = now, o.first[:0], o.end[:0], 0, 0
		}
	}
	size := len(b)
	n := min(outputLimit/2-len(o.first), len(b))
	o.first, b = append(o.first, b[:n]...), b[n:]
	o.beyond += len(b)
	b = b[max(0, len(b)-outputLimit/2):]
	n = min(outputLimit/2-len(o.end), len(b))
	o.end, b = append(o.end, b[:n]...), b[n:]
	for len(b) > 0 {
		n := copy(o.end[o.at:], b)
		o.at, b = (o.at+n)%len(o.end), b[n:]
	}
	return size, nil
}

// String returns what is kept, with a line that says how much is missing.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var s strings.Builder
	s.Write(o.first)
	if missing := o.beyond - len(o.end); missing > 0 {
		fmt.Fprintf(&s, "\n... %d bytes left out ...\n", missing)
	}
	s.Write(o.end[o.at:])
	s.Write(o.end[:o.at])
	return strings.TrimSpace(s.String())
}
