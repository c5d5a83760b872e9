package conn

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// What a server may write before it counts as a flood. The line is longer than the longest that common servers accept.
const (
	maxLine    = 32 << 20
	maxPending = 64 << 20
)

// ErrFlood ends a reader whose server has written too much.
var ErrFlood = errors.New("the server floods its standard output")

// Lines is a number of lines in one piece of memory.
type Lines struct {
	Text []byte
	ends []int // line i ends here; its newline is left out
}

// Len returns how many lines there are.
func (l *Lines) Len() int { return len(l.ends) }

// At returns line i, without its newline.
func (l *Lines) At(i int) []byte {
	from := 0
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.Text[from:l.ends[i]:l.ends[i]]
}

func (l *Lines) add(parts ...[]byte) {
	for _, p := range parts {
		l.Text = append(l.Text, p...)
	}
	l.ends = append(l.ends, len(l.Text))
}

// reset forgets the lines and, if one of them was huge, their memory.
func (l *Lines) reset() {
	l.ends = l.ends[:0]
	if l.Text = l.Text[:0]; cap(l.Text) > 1<<20 {
		l.Text = nil
	}
}

// Inbox is where one goroutine puts the lines it reads and another one takes them out, many at a time.
type Inbox struct {
	more chan struct{} // has room for one: there is something new
	gone chan struct{} // closed when the reader has ended

	limit, pending int          // bytes of a line, of all that nobody has taken
	Total          atomic.Int64 // bytes that were read

	mu   sync.Mutex
	got  Lines
	want int   // lines that have to be there before somebody is woken for them: see expect
	err  error // why the reader has ended; nil: it has not
}

func newInbox() *Inbox {
	return &Inbox{more: make(chan struct{}, 1), gone: make(chan struct{}), limit: maxLine, pending: maxPending}
}

// Take moves all lines that are there into l, whose own are lost, and says whether these were the last and why.
func (b *Inbox) Take(l *Lines) error {
	l.reset()
	b.mu.Lock()
	defer b.mu.Unlock()
	*l, b.got = b.got, *l
	return b.err
}

// read takes lines out of r until it ends or has written too much. What stands behind the last newline is a line too.
func (b *Inbox) read(r io.Reader) {
	defer close(b.gone)
	var begun []byte // of a line whose end has not come
	chunk := make([]byte, 64<<10)
	for {
		n, err := r.Read(chunk)
		b.Total.Add(int64(n))
		urgent := bytes.Contains(chunk[:n], methodKey)
		begun = b.split(begun, chunk[:n])
		flood := len(begun) > b.limit || b.size() > b.pending
		switch {
		case flood:
			err = ErrFlood
		case err != nil && len(begun) > 0:
			b.mu.Lock()
			b.got.add(begun)
			b.mu.Unlock()
		}
		if err != nil {
			b.mu.Lock()
			b.err = err
			b.mu.Unlock()
		}
		if err != nil || b.ready(urgent) {
			b.signal()
		}
		if err != nil {
			return
		}
	}
}

// split puts the lines of a chunk into the inbox and returns what is left behind the last.
func (b *Inbox) split(begun, chunk []byte) []byte {
	last := bytes.LastIndexByte(chunk, '\n')
	if last < 0 {
		return append(begun, chunk...)
	}
	whole, rest := chunk[:last+1], chunk[last+1:]
	b.mu.Lock()
	for len(whole) > 0 {
		i := bytes.IndexByte(whole, '\n')
		b.got.add(begun, whole[:i])
		begun, whole = begun[:0], whole[i+1:]
	}
	b.mu.Unlock()
	if cap(begun) > 1<<20 {
		begun = nil
	}
	return append(begun, rest...)
}

// size is what the lines that nobody has taken cost us. Empty ones cost something too.
func (b *Inbox) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got.Text) + 16*len(b.got.ends)
}

// methodKey is in everything that is no answer.
var methodKey = []byte(`"method"`)

// ready reports whether there is enough to wake somebody.
func (b *Inbox) ready(urgent bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.got.ends)
	return n > 0 && (urgent || n >= b.want)
}

// Expect says that nobody need be woken before there are n lines, if they are answers: to wake up for each costs more
// than to read it.
func (b *Inbox) Expect(n int) {
	b.mu.Lock()
	b.want = n
	there := len(b.got.ends)
	b.mu.Unlock()
	if there > 0 && there >= n {
		b.signal()
	}
}

func (b *Inbox) signal() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}
