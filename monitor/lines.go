package monitor

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clock"
)

// Lines shows a campaign as lines of text: one every few seconds, and one for every finding and note.
type Lines struct {
	every  time.Duration
	known  func(*teasel.Finding) bool
	writer asyncWriter

	mu      sync.Mutex
	counts  counts
	started bool
	text    []byte
	dropped int // lines left out since the last one
	muted   bool
	closed  bool
}

var (
	_ teasel.Reporter = (*Lines)(nil)
	_ io.Closer       = (*Lines)(nil)
)

// maxPending is how many bytes may wait for a slow reader; lines beyond it are left out.
const maxPending = 1 << 16

// NewLines returns a monitor that writes lines to w.
func NewLines(w io.Writer, o Options) *Lines {
	l := &Lines{every: o.Every, known: o.known, counts: newCounts(o.Before)}
	if l.every == 0 {
		l.every = 10 * time.Second
	}
	l.writer.start(w, l.take)
	return l
}

// Report implements [teasel.Reporter]. It never fails and never waits.
func (l *Lines) Report(e teasel.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	switch e.Kind {
	case teasel.EventFound:
		if l.counts.found(&e.Finding) {
			label := "FOUND"
			if l.known(&e.Finding) {
				label = "known"
			}
			if e.Finding.Unsaved != "" {
				label = "NOT SAVED"
			}
			l.add(fmt.Sprintf("%s %v  %s", label, e.Finding.Severity, headline(&e.Finding)))
		}
	case teasel.EventUnconfirmed:
		why := fmt.Sprintf("seen, and not reproduced in %d tries: ", e.Finding.Tries)
		switch e.Finding.Tries {
		case 0:
			why = "seen, and there was no time to reproduce it: "
		case 1:
			why = "seen, and not reproduced in the only try: "
		}
		l.add(why + headline(&e.Finding))
	case teasel.EventNote:
		l.add("note: " + oneLine(e.Text))
	case teasel.EventProgress:
		l.counts.stats = e.Stats
		l.counts.seeding.Left(&e.Stats) // its clock begins with the first figures
		if l.muted {
			return nil
		}
		if !l.started || e.Stats.Elapsed-l.counts.before.Elapsed >= l.every {
			l.progress()
		}
	}
	return nil
}

// progress queues a line of figures.
func (l *Lines) progress() {
	s, from := &l.counts.stats, &l.counts.before
	if !l.started {
		from = &teasel.Stats{}
	}
	seeds := l.counts.begun()
	if seeds != "" {
		seeds = "  " + seeds
	}
	messages := ""
	if s.Messages > from.Messages && s.Elapsed > from.Elapsed {
		messages = fmt.Sprintf("  messages %.0f/s", float64(s.Messages-from.Messages)/(s.Elapsed-from.Elapsed).Seconds())
	}
	l.add(fmt.Sprintf("#%d  %s  %.0f/s%s%s  corpus %d  features %d  findings %s  memory %d MB", s.Executions, clock.Seconds(s.Elapsed), rate(from, s),
		messages, seeds, s.Corpus, s.Features, l.counts.findings(), s.Memory>>20))
	l.started, l.counts.before = true, *s
}

// Mute has no lines written, or has them written again, while something else shows the campaign. The figures go on.
func (l *Lines) Mute(muted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = muted
}

// add queues a line.
func (l *Lines) add(line string) {
	if l.muted {
		return
	}
	line += "\n"
	if l.dropped > 0 {
		line = fmt.Sprintf("%d lines left out\n%s", l.dropped, line)
	}
	if len(l.text)+len(line) > maxPending {
		l.dropped++
		return
	}
	l.dropped = 0
	l.text = append(l.text, line...)
	l.writer.wakeUp()
}

// take returns the lines that are queued.
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
	if l.counts.stats.Elapsed != l.counts.before.Elapsed || !l.started && l.counts.stats.Elapsed > 0 {
		l.progress()
	}
	if l.dropped > 0 { // no later line says so
		l.text = fmt.Appendf(l.text, "%d lines left out\n", l.dropped)
		l.dropped = 0
	}
	l.closed = true
	l.mu.Unlock()
	l.writer.stop()
	return nil
}
