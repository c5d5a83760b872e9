package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

func found(s teasel.Severity, rule, subject, message string) teasel.Event {
	return teasel.Event{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: rule, Severity: s, Subject: subject, Message: message,
		Stable: 3, Tries: 3}}
}

func progress(seconds int, executions uint64) teasel.Event {
	return teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: time.Duration(seconds) * time.Second,
		Executions: executions, Corpus: 57, Features: 321, Workers: 2, LastKept: time.Second, LastFound: 2 * time.Second, Memory: 50 << 20,
		Stages: []teasel.StageStats{{Name: "havoc", Executions: 800, Kept: 4}, {Name: "splice", Executions: 200, Kept: 1}}}}
}

func tell(t *testing.T, m teasel.Reporter, events ...teasel.Event) {
	t.Helper()
	for _, e := range events {
		if err := m.Report(e); err != nil {
			t.Fatalf("%v: %v", e.Kind, err)
		}
	}
}

func TestLines(t *testing.T) {
	var b bytes.Buffer // read after Close only
	old := found(teasel.Low, "r", "old", "m").Finding
	l := NewLines(&b, Options{Every: 5 * time.Second, Before: []teasel.Finding{old}})
	crash, flaky := found(teasel.Critical, "mcp/server-crash", "tools/call divide", "ended\nwith \x1b[31mstatus 1"), found(teasel.High, "mcp/x", "s", "m")
	flaky.Finding.Stable = 1
	unsaved := found(teasel.High, "mcp/u", "s", "m")
	unsaved.Finding.Unsaved = "no space left on device"
	tell(t, l, progress(1, 1000), progress(2, 2000), crash, crash, flaky, teasel.Event{Kind: teasel.EventFound, Finding: old},
		teasel.Event{Kind: teasel.EventNote, Text: "the server\nis slow"}, teasel.Event{Kind: teasel.EventAdded},
		teasel.Event{Kind: teasel.EventUnconfirmed, Finding: teasel.Finding{Rule: "mcp/y", Subject: "s", Message: "m", Tries: 3}},
		teasel.Event{Kind: teasel.EventUnconfirmed, Finding: teasel.Finding{Rule: "mcp/z", Subject: "s", Message: "m"}},
		progress(6, 7000), progress(9, 9000), unsaved)
	if err := errors.Join(l.Close(), l.Close(), l.Report(crash)); err != nil {
		t.Error(err)
	}
	want := `#1000  1s  1000/s  corpus 57  features 321  findings 1 (1 low)  memory 50 MB
FOUND critical  mcp/server-crash  tools/call divide: ended with \x1b[31mstatus 1
FOUND high  mcp/x  s: m (flaky: 1 of 3)
note: the server is slow
seen, and not reproduced in 3 tries: mcp/y  s: m
seen, and there was no time to reproduce it: mcp/z  s: m
#7000  6s  1200/s  corpus 57  features 321  findings 3 (1 critical, 1 high, 1 low)  memory 50 MB
NOT SAVED high  mcp/u  s: m
#9000  9s  667/s  corpus 57  features 321  findings 4 (1 critical, 2 high, 1 low)  memory 50 MB
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

// What has an end says how far it is, and what speaks in messages how many are sent.
func TestLinesOfABeginning(t *testing.T) {
	var b bytes.Buffer
	l := NewLines(&b, Options{Every: time.Second})
	at := func(seconds int, set func(s *teasel.Stats)) teasel.Event {
		e := progress(seconds, uint64(100*seconds))
		set(&e.Stats)
		return e
	}
	tell(t, l,
		at(1, func(s *teasel.Stats) { s.Seeds, s.SeedsRun = 300, 0 }),
		at(3, func(s *teasel.Stats) { s.Seeds, s.SeedsRun = 300, 100 }),
		at(4, func(s *teasel.Stats) {
			s.Seeds, s.SeedsRun, s.Messages = 300, 300, 4000
			s.Stages = append(s.Stages, teasel.StageStats{Name: "first-pass", Executions: 12, Planned: 400})
		}),
		at(6, func(s *teasel.Stats) { s.Messages = 10000 }),
		teasel.Event{Kind: teasel.EventUnconfirmed, Finding: teasel.Finding{Rule: "mcp/y", Subject: "s", Message: "m", Tries: 1}})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	want := `#100  1s  100/s  seeds 0 of 300  corpus 57  features 321  findings 0  memory 50 MB
#300  3s  100/s  seeds 100 of 300, about 4s left  corpus 57  features 321  findings 0  memory 50 MB
#400  4s  100/s  messages 4000/s  first-pass 12 of 400  corpus 57  features 321  findings 0  memory 50 MB
#600  6s  100/s  messages 3000/s  corpus 57  features 321  findings 0  memory 50 MB
seen, and not reproduced in the only try: mcp/y  s: m
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

type stuck struct{ release chan struct{} }

func (w stuck) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

// A reader that has stopped holds up nobody, and the output that waits for it is bounded.
func TestNeverWaits(t *testing.T) {
	w := stuck{make(chan struct{})}
	defer close(w.release)
	l := NewLines(w, Options{Every: time.Nanosecond})
	note := teasel.Event{Kind: teasel.EventNote, Text: strings.Repeat("x", 1000)}
	for i := range 5000 {
		tell(t, l, progress(i, uint64(i)), note)
	}
	if len(l.text) > maxPending || l.dropped == 0 {
		t.Errorf("%d bytes wait, %d lines left out", len(l.text), l.dropped)
	}
	closed := make(chan struct{})
	go func() { l.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * closeTimeout):
		t.Error("Close waits for ever")
	}
}

// The line that says how many were left out counts too.
func TestLinesLeftOut(t *testing.T) {
	needs := len("10000 lines left out\nx\n")
	for size := maxPending - 2*needs; size <= maxPending; size++ {
		l := Lines{text: make([]byte, size), dropped: 10000}
		l.writer.start(io.Discard, func() []byte { return nil })
		l.add("x")
		l.writer.stop()
		wantText, wantDropped := size+needs, 0
		if wantText > maxPending {
			wantText, wantDropped = size, 10001
		}
		if len(l.text) != wantText || l.dropped != wantDropped {
			t.Errorf("after %d bytes: %d wait, %d lines left out; want %d, %d", size, len(l.text), l.dropped, wantText, wantDropped)
		}
	}
}

// Lines that were left out last are reported at the end, even if nothing more may wait.
func TestLinesLeftOutLast(t *testing.T) {
	var out bytes.Buffer
	l := &Lines{text: make([]byte, maxPending)}
	l.writer.start(&out, l.take)
	l.add("x")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "1 lines left out\n") {
		t.Errorf("the end of it: %q", out.String()[max(0, out.Len()-40):])
	}
}

type brokenPipe struct {
	mu     sync.Mutex
	writes int
}

func (w *brokenPipe) Write([]byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	return 0, errors.New("broken pipe")
}

func TestWriteError(t *testing.T) {
	w := &brokenPipe{}
	l := NewLines(w, Options{Every: time.Nanosecond})
	for i := range 100 {
		tell(t, l, progress(i, 1))
		time.Sleep(10 * time.Microsecond)
	}
	if err := l.Close(); err != nil || w.writes != 1 {
		t.Errorf("%d writes, %v", w.writes, err)
	}
}

// While something else shows the campaign no lines are written, and the figures go on.
func TestMute(t *testing.T) {
	var b bytes.Buffer
	l := NewLines(&b, Options{})
	l.Mute(true)
	tell(t, l, progress(1, 1000), found(teasel.High, "r", "s", "m"), progress(20, 2000))
	l.Mute(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "#2000  20s") || !strings.Contains(got, "findings 1 (1 high)") {
		t.Errorf("got %q", got)
	}
}

// What is written while the terminal is lent is written afterwards, or never if nobody reads it.
func TestStream(t *testing.T) {
	out, tty := openTerminal(t)
	w := NewStream(tty)
	s, ok := w.(*Stream)
	if !ok || Terminal(w) != tty || Terminal(tty) != tty || Terminal(&bytes.Buffer{}) != nil {
		t.Fatalf("the stream of a terminal is a %T", w)
	}
	if s.Lend() != tty {
		t.Error("another terminal is lent")
	}
	fmt.Fprint(w, "later ")
	fmt.Fprint(tty, "first ")
	s.GiveBack(true)
	fmt.Fprint(w, "last \x1b]0;mine\a\rover")
	const want = `first later last \x1b]0;mine\x07\x0dover`
	got := make([]byte, len(want))
	if _, err := io.ReadFull(out, got); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
	s.Lend()
	s.GiveBack(false)
	if n, err := fmt.Fprint(w, strings.Repeat("x", 1<<20)); n != 1<<20 || err != nil { // more than a terminal takes that is not read
		t.Errorf("%d bytes, %v", n, err)
	}
	r, file, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer file.Close()
	if NewStream(file) != io.Writer(file) || Terminal(file) != nil {
		t.Error("a pipe is taken for a terminal")
	}
}
