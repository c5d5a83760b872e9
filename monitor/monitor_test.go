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

func env(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if rest, ok := strings.CutPrefix(v, name+"="); ok {
				return rest
			}
		}
		return ""
	}
}

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
	tell(t, l, progress(1, 1000), progress(2, 2000), crash, crash, flaky, teasel.Event{Kind: teasel.EventFound, Finding: old},
		teasel.Event{Kind: teasel.EventNote, Text: "the server\nis slow"}, teasel.Event{Kind: teasel.EventAdded},
		teasel.Event{Kind: teasel.EventUnconfirmed, Finding: teasel.Finding{Rule: "mcp/y", Subject: "s", Message: "m", Tries: 3}},
		teasel.Event{Kind: teasel.EventUnconfirmed, Finding: teasel.Finding{Rule: "mcp/z", Subject: "s", Message: "m"}},
		progress(6, 7000), progress(9, 9000))
	if err := errors.Join(l.Close(), l.Close(), l.Report(crash)); err != nil {
		t.Error(err)
	}
	want := `#1000  1s  1000/s  corpus 57  features 321  findings 1 (1 low)  memory 50 MB
FOUND critical  mcp/server-crash  tools/call divide: ended with ?[31mstatus 1
FOUND high  mcp/x  s: m (flaky: 1 of 3)
note: the server is slow
seen, and not reproduced in 3 tries: mcp/y  s: m
seen, and there was no time to reproduce it: mcp/z  s: m
#7000  6s  1200/s  corpus 57  features 321  findings 3 (1 critical, 1 high, 1 low)  memory 50 MB
#9000  9s  667/s  corpus 57  features 321  findings 3 (1 critical, 1 high, 1 low)  memory 50 MB
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

// settled waits until the screen has drawn the events.
func settled(m *terminal, want string) {
	for range 10_000 {
		if strings.Contains(m.text(), want) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func clipped(s string, width int) string { return s[:min(len(s), width-1)] }

func TestScreen(t *testing.T) {
	m := newTerminal(t, 80, 24)
	fmt.Fprint(m, "$ teasel mcp -- node server.js\n")
	s := newScreen(m, Options{Title: "mcp: node server.js", Getenv: env("NO_COLOR=1")}, m.size)
	tell(t, s, progress(1, 1000))
	settled(m, "1000, ")
	first := `$ teasel mcp -- node server.js
teasel mcp: node server.js
  run time  1s           executions  1000, 1000/s
  corpus    57           features    321, last new 0s ago
  workers   2            memory      50 MB
  findings  none
  kept/run  havoc 4/800  splice 1/200
`
	if got := m.text(); got != first {
		t.Errorf("got\n%swant\n%s", got, first)
	}
	crash := found(teasel.Critical, "mcp/server-crash", "tools/call divide", "ended\r\nwith \x1b[2Jstatus 1")
	long := found(teasel.Low, "mcp/long", "s", strings.Repeat("long ", 30))
	tell(t, s, crash, crash, long, teasel.Event{Kind: teasel.EventNote, Text: "slow"}, progress(4, 7000))
	if err := errors.Join(s.Close(), s.Close(), s.Report(crash)); err != nil {
		t.Error(err)
	}
	last := `$ teasel mcp -- node server.js
CRITICAL  mcp/server-crash  tools/call divide: ended with ?[2Jstatus 1
LOW       mcp/long  s: long long long long long long long long long long long lo
ng long long long long long long long long long long long long long long long lo
ng long long
note: slow
teasel mcp: node server.js
  run time  4s           executions  7000, 1500/s
  corpus    57           features    321, last new 3s ago
  workers   2            memory      50 MB
  findings  2: 1 critical, 1 low, last 2s ago
  kept/run  havoc 4/800  splice 1/200
`
	if got := m.text(); got != last {
		t.Errorf("got\n%swant\n%s", got, last)
	}
	if m.colors > 0 {
		t.Error("colour in spite of NO_COLOR")
	}
}

// Whatever the size and however it changes, each finding and the block are there once.
func TestScreenSizes(t *testing.T) {
	for _, width := range []int{200, 80, 40, 21, 10} {
		for _, height := range []int{50, 7, 4} {
			m := newTerminal(t, width, height)
			s := newScreen(m, Options{Title: "mcp: node " + strings.Repeat("ÄÖÜ 漢字 ", 20)}, m.size)
			for i := range 30 {
				if i%5 == 3 {
					tell(t, s, found(teasel.Low, "r", fmt.Sprint("s", i), "m"))
				}
				tell(t, s, progress(i+1, uint64(i*1000)))
				settled(m, clipped(fmt.Sprintf("  run time  %ds", i+1), width))
			}
			s.Close()
			got := m.text()
			if n := strings.Count(got, "teasel"); n != 1 {
				t.Errorf("%dx%d: the block is there %d times:\n%s", width, height, n, got)
			}
			for _, i := range []int{3, 8, 13, 18, 23, 28} {
				if n := strings.Count(strings.ReplaceAll(got, "\n", ""), fmt.Sprintf("s%d: m", i)); n != 1 {
					t.Errorf("%dx%d: finding %d is there %d times:\n%s", width, height, i, n, got)
				}
			}
			if m.colors == 0 {
				t.Errorf("%dx%d: no colour", width, height)
			}
		}
	}
}

func TestScreenResized(t *testing.T) {
	m := newTerminal(t, 80, 24)
	fmt.Fprint(m, "before\n")
	s := newScreen(m, Options{Title: strings.Repeat("a long title ", 10), Getenv: env("NO_COLOR=1")}, m.size)
	for i, width := range []int{80, 50, 33, 120, 20, 90} {
		m.resize(width)
		tell(t, s, progress(i+1, uint64(1000*(i+1))))
		settled(m, clipped(fmt.Sprintf("  run time  %ds", i+1), width))
	}
	s.Close()
	got := m.text()
	if !strings.HasPrefix(got, "before\nteasel a long") || strings.Count(got, "teasel") != 1 || strings.Count(got, "\n") != 7 {
		t.Errorf("got\n%s", got)
	}
}

type stuck struct{ release chan struct{} }

func (w stuck) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

// A stopped terminal holds up nobody, and the output that waits for it is bounded.
func TestNeverWaits(t *testing.T) {
	for _, kind := range []string{"lines", "screen"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := stuck{make(chan struct{})}
			defer close(w.release)
			var m Monitor
			if kind == "lines" {
				m = NewLines(w, Options{Every: time.Nanosecond})
			} else {
				m = newScreen(w, Options{}, func() (int, int) { return 80, 24 })
			}
			note := teasel.Event{Kind: teasel.EventNote, Text: strings.Repeat("x", 1000)}
			for i := range 5000 {
				tell(t, m, progress(i, uint64(i)), note)
			}
			switch m := m.(type) {
			case *Lines:
				if len(m.text) > maxPending || m.dropped == 0 {
					t.Errorf("%d bytes wait, %d lines left out", len(m.text), m.dropped)
				}
			case *Screen:
				if len(m.above) > maxAbove || m.dropped == 0 {
					t.Errorf("%d lines wait, %d left out", len(m.above), m.dropped)
				}
			}
			closed := make(chan struct{})
			go func() { m.Close(); close(closed) }()
			select {
			case <-closed:
			case <-time.After(10 * closeTimeout):
				t.Error("Close waits for ever")
			}
		})
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
	for _, make := range []func(w *brokenPipe) Monitor{
		func(w *brokenPipe) Monitor { return NewLines(w, Options{Every: time.Nanosecond}) },
		func(w *brokenPipe) Monitor { return newScreen(w, Options{}, func() (int, int) { return 80, 24 }) },
	} {
		w := &brokenPipe{}
		m := make(w)
		for i := range 100 {
			tell(t, m, progress(i, 1))
			time.Sleep(10 * time.Microsecond)
		}
		if err := m.Close(); err != nil || w.writes != 1 {
			t.Errorf("%T: %d writes, %v", m, w.writes, err)
		}
	}
}

func TestNew(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	check := func(name string, m Monitor, screen bool) {
		t.Helper()
		if _, ok := m.(*Screen); ok != screen {
			t.Errorf("%s: a %T", name, m)
		}
		m.Close()
	}
	check("a pipe", New(w, Options{Getenv: env("TERM=xterm")}), false)
	check("a buffer", New(&bytes.Buffer{}, Options{Getenv: env("TERM=xterm")}), false)
	tty := openTerminal(t)
	check("a terminal", New(tty, Options{Getenv: env("TERM=xterm")}), true)
	check("CI=false", New(tty, Options{Getenv: env("TERM=xterm", "CI=false")}), true)
	check("plain", New(tty, Options{Plain: true, Getenv: env("TERM=xterm")}), false)
	check("a dumb terminal", New(tty, Options{Getenv: env("TERM=dumb")}), false)
	check("CI", New(tty, Options{Getenv: env("TERM=xterm", "CI=true")}), false)
	if width, height := sizeOf(tty)(); width != 80 || height != 24 {
		t.Errorf("a terminal that does not know its size: %dx%d", width, height)
	}
}
