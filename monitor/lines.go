package monitor

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Lines shows a campaign as lines of text: one every few seconds, and one for every finding and note.
type Lines struct {
	every time.Duration
	known func(*teasel.Finding) bool
	pump  pump

	mu      sync.Mutex
	tally   tally
	started bool
	text    []byte
	dropped int // lines that nobody took
	closed  bool
}

var _ Monitor = (*Lines)(nil)

// lineRoom is how many bytes wait for a slow reader before lines are left out.
const lineRoom = 1 << 16

// NewLines returns a monitor that writes lines to w.
func NewLines(w io.Writer, o Options) *Lines {
	l := &Lines{every: o.Every, known: o.known, tally: newTally(o.Before)}
	if l.every == 0 {
		l.every = 10 * time.Second
	}
	l.pump.start(w, l.take)
	return l
}

// Report shows an event, if it is one for people. It never fails and never waits.
func (l *Lines) Report(e teasel.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	switch e.Kind {
	case teasel.EventFound:
		if l.tally.found(&e.Finding) {
			label := "FOUND"
			if l.known(&e.Finding) {
				label = "known"
			}
			l.add(fmt.Sprintf("%s %v  %s", label, e.Finding.Severity, headline(&e.Finding)))
		}
	case teasel.EventUnconfirmed:
		why := fmt.Sprintf("seen, and not reproduced in %d tries: ", e.Finding.Tries)
		if e.Finding.Tries == 0 {
			why = "seen, and there was no time to reproduce it: "
		}
		l.add(why + headline(&e.Finding))
	case teasel.EventNote:
		l.add("note: " + oneLine(e.Text))
	case teasel.EventProgress:
		l.tally.stats = e.Stats
		if !l.started || e.Stats.Elapsed-l.tally.before.Elapsed >= l.every {
			l.progress()
		}
	}
	return nil
}

func (l *Lines) progress() {
	s, from := &l.tally.stats, &l.tally.before
	if !l.started {
		from = &teasel.Stats{}
	}
	found := "findings 0"
	if len(l.tally.severity) > 0 {
		found = fmt.Sprintf("findings %d (%s)", len(l.tally.severity), l.tally.counts())
	}
	l.add(fmt.Sprintf("#%d  %s  %.0f/s  corpus %d  features %d  %s  memory %d MB", s.Executions, clock(s.Elapsed), rate(from, s),
		s.Corpus, s.Features, found, s.Memory>>20))
	l.started, l.tally.before = true, *s
}

func (l *Lines) add(line string) {
	line += "\n"
	if l.dropped > 0 {
		line = fmt.Sprintf("%d lines left out\n%s", l.dropped, line)
	}
	if len(l.text)+len(line) > lineRoom {
		l.dropped++
		return
	}
	l.dropped = 0
	l.text = append(l.text, line...)
	l.pump.news()
}

func (l *Lines) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	l.text = nil
	return text
}

// Close writes a last line of figures.
func (l *Lines) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	if l.tally.stats.Elapsed != l.tally.before.Elapsed || !l.started && l.tally.stats.Elapsed > 0 {
		l.progress()
	}
	if l.dropped > 0 { // there was no later line that could have said so
		l.text = fmt.Appendf(l.text, "%d lines left out\n", l.dropped)
		l.dropped = 0
	}
	l.closed = true
	l.mu.Unlock()
	l.pump.stop()
	return nil
}
