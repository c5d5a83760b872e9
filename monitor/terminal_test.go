package monitor

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// terminal shows what is written to it as a real one would, as far as the screen uses it, and complains about the rest.
type terminal struct {
	t      *testing.T
	mu     sync.Mutex
	width  int
	height int
	lines  [][]rune // all of them, also those that have scrolled away
	row    int      // of the cursor, in lines
	col    int
	writes int
	colors int
}

func newTerminal(t *testing.T, width, height int) *terminal {
	return &terminal{t: t, width: width, height: height, lines: [][]rune{nil}}
}

func (m *terminal) size() (int, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.width, m.height
}

func (m *terminal) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	for s := string(p); s != ""; {
		if strings.HasPrefix(s, "\x1b[") {
			end := strings.IndexAny(s, "ABCDEFGHJKmhl")
			if end < 0 {
				m.t.Fatalf("a sequence is cut off: %q", s)
			}
			m.control(s[2:end], s[end])
			s = s[end+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		m.put(r)
	}
	return len(p), nil
}

func (m *terminal) control(arg string, verb byte) {
	switch verb {
	case 'A':
		var n int
		if _, err := fmt.Sscan(arg, &n); err != nil || n < 1 {
			m.t.Fatalf("moving up by %q", arg)
		}
		m.row = max(m.row-n, len(m.lines)-m.height, 0)
	case 'K':
		m.lines[m.row] = m.lines[m.row][:min(m.col, len(m.lines[m.row]))]
	case 'J':
		m.lines[m.row] = m.lines[m.row][:min(m.col, len(m.lines[m.row]))]
		for i := m.row + 1; i < len(m.lines); i++ {
			m.lines[i] = nil
		}
	case 'm':
		m.colors++
	default:
		m.t.Fatalf("sequence %q %c", arg, verb)
	}
}

func (m *terminal) put(r rune) {
	switch {
	case r == '\r':
		m.col = 0
	case r == '\n':
		m.row, m.col = m.row+1, 0
	case r < ' ' || r == 0x7f:
		m.t.Fatalf("control character %q", r)
	default:
		if m.col == m.width {
			m.row, m.col = m.row+1, 0
		}
		for len(m.lines) <= m.row {
			m.lines = append(m.lines, nil)
		}
		l := m.lines[m.row]
		if m.col < len(l) {
			l[m.col] = r
		} else {
			l = append(l, r)
		}
		m.lines[m.row] = l
		m.col++
	}
	for len(m.lines) <= m.row {
		m.lines = append(m.lines, nil)
	}
}

// resize makes the terminal narrower or wider and, like most, lays its lines out anew.
func (m *terminal) resize(width int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines [][]rune
	row := m.row
	for i, l := range m.lines {
		if i == m.row {
			row = len(lines)
		}
		if i > m.row && len(l) == 0 {
			break // nothing below the cursor
		}
		for len(l) > width {
			lines, l = append(lines, l[:width:width]), l[width:]
		}
		lines = append(lines, l)
	}
	m.lines, m.row, m.width = lines, row, width
}

// text is all that has been shown and not overwritten.
func (m *terminal) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, l := range m.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
