package monitor

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/teaselfuzz/teasel"
)

// Screen shows a campaign as a block of a few lines at the bottom of a terminal, drawn over itself about once a second.
// Findings and notes are printed above it and stay. A picture is a single write that moves the cursor up and overwrites the block, so
// that nothing flickers; only the rest of a line that has become shorter is erased.
type Screen struct {
	title  string
	color  bool
	known  func(*teasel.Finding) bool
	size   func() (width, height int)
	writer asyncWriter

	mu      sync.Mutex
	counts  counts
	rate    float64
	above   []string // to be shown above the block
	dropped int
	drawn   []int // widths of the lines of the block, as they are on the terminal
	closed  bool
}

var _ Monitor = (*Screen)(nil)

// maxAbove is how many lines may wait for a stopped terminal; lines beyond it are left out.
const maxAbove = 500

// NewScreen returns a monitor that draws on w. It has colour unless NO_COLOR is set.
func NewScreen(w io.Writer, o Options) *Screen { return newScreen(w, o, sizeOf(w)) }

func newScreen(w io.Writer, o Options, size func() (width, height int)) *Screen {
	s := &Screen{title: oneLine(o.Title), counts: newCounts(o.Before), color: o.getenv("NO_COLOR") == "", known: o.known, size: size}
	s.writer.start(w, s.picture)
	return s
}

func sizeOf(w io.Writer) func() (int, int) {
	return func() (int, int) {
		if f, ok := w.(*os.File); ok {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
				return width, height
			}
		}
		return 80, 24
	}
}

// Report implements [teasel.Reporter]. It never fails and never waits.
func (s *Screen) Report(e teasel.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	switch e.Kind {
	case teasel.EventFound:
		if !s.counts.found(&e.Finding) {
			return nil
		}
		label, colour := strings.ToUpper(e.Finding.Severity.String()), severityColor[e.Finding.Severity]
		if s.known(&e.Finding) {
			label, colour = "known "+e.Finding.Severity.String(), faint
		}
		s.put(s.paint(fmt.Sprintf("%-8s", label), colour) + "  " + headline(&e.Finding))
	case teasel.EventNote:
		s.put(s.paint("note: ", faint) + oneLine(e.Text))
	case teasel.EventProgress:
		s.counts.before, s.counts.stats = s.counts.stats, e.Stats
		// The average with the old figure changes slowly enough to be read.
		if now := rate(&s.counts.before, &s.counts.stats); s.rate == 0 || s.counts.before.Elapsed == 0 {
			s.rate = rate(&teasel.Stats{}, &s.counts.stats)
		} else {
			s.rate = (s.rate + now) / 2
		}
	default:
		return nil
	}
	s.writer.wakeUp()
	return nil
}

// put queues a line above the block.
func (s *Screen) put(line string) {
	if len(s.above) == maxAbove {
		s.dropped++
		return
	}
	s.above = append(s.above, line)
}

// Close draws the block a last time and leaves it there, with the cursor below.
func (s *Screen) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.writer.stop()
	return nil
}

// These are SGR attributes. The colours are those of the terminal's theme, which are readable on its background.
const (
	bold  = "1"
	faint = "2"
)

var severityColor = map[teasel.Severity]string{teasel.Info: "2", teasel.Low: "36", teasel.Medium: "33", teasel.High: "31", teasel.Critical: "1;31"}

func (s *Screen) paint(text, sgr string) string {
	if !s.color || sgr == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// picture returns the text and control sequences that bring the terminal up to date.
func (s *Screen) picture() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	width, height := s.size()
	var b strings.Builder
	if up := rows(s.drawn, width); up > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", min(up, height-1))
	}
	for _, l := range s.above {
		b.WriteString(l + "\x1b[K\n")
	}
	if s.dropped > 0 {
		fmt.Fprintf(&b, "%d more lines left out\x1b[K\n", s.dropped)
	}
	s.above, s.dropped, s.drawn = nil, 0, nil
	block := s.block()
	for _, l := range block[:max(0, min(len(block), height-1))] {
		text, cells := cut(l, width-1)
		if len(s.drawn) == 0 {
			text = s.paint(text, bold)
		}
		s.drawn = append(s.drawn, cells)
		b.WriteString(text + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	return []byte(b.String())
}

// rows returns how many rows lines take on a terminal that may have become narrower since they were written.
func rows(cells []int, width int) (n int) {
	for _, c := range cells {
		n += max(1, (c+width-1)/max(1, width))
	}
	return n
}

// block returns the lines of the block, not yet cut to the terminal.
func (s *Screen) block() []string {
	st := &s.counts.stats
	ago := func(at time.Duration) string {
		if at == 0 {
			return "none yet"
		}
		return clock(st.Elapsed-at) + " ago"
	}
	found := "none"
	if n := len(s.counts.severity); n > 0 {
		found = fmt.Sprintf("%d: %s, last %s", n, s.counts.bySeverity(), ago(st.LastFound))
	}
	var stages []string
	for _, g := range st.Stages {
		stages = append(stages, fmt.Sprintf("%s %d/%d", oneLine(g.Name), g.Kept, g.Executions))
	}
	if stages == nil {
		stages = []string{"none yet"}
	}
	return []string{
		strings.TrimSuffix("teasel "+s.title, " "),
		fmt.Sprintf("  run time  %-12s executions  %d, %.0f/s", clock(st.Elapsed), st.Executions, s.rate),
		fmt.Sprintf("  corpus    %-12d features    %d, last new %s", st.Corpus, st.Features, ago(st.LastKept)),
		fmt.Sprintf("  workers   %-12d memory      %d MB", st.Workers, st.Memory>>20),
		"  findings  " + found,
		"  kept/run  " + strings.Join(stages, "  "),
	}
}

// cut returns as much of a text as fits into a number of cells, and how many it takes. Characters that may be wide count
// as wide: a line that is too short does no harm, one that wraps does.
func cut(text string, most int) (string, int) {
	cells := 0
	for i, r := range text {
		w := 1
		if r >= 0x1100 {
			w = 2
		}
		if cells+w > most {
			return text[:i], cells
		}
		cells += w
	}
	return text, cells
}
