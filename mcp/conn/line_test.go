package conn

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readAll reads lines until there are no more and checks that somebody is told each time.
func readAll(t *testing.T, b *Inbox, r io.Reader) (got []string, end error) {
	t.Helper()
	go b.read(r)
	var l Lines
	for end == nil {
		select {
		case <-b.more:
		case <-time.After(10 * time.Second):
			t.Fatal("nobody was told")
		}
		end = b.Take(&l)
		for i := range l.Len() {
			got = append(got, string(l.At(i)))
		}
	}
	<-b.gone
	return got, end
}

func TestInbox(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	text := "one\n\ntwo\r\n" + long + "\nthree"
	want := []string{"one", "", "two\r", long, "three"}
	for name, r := range map[string]io.Reader{
		"at once":        strings.NewReader(text),
		"byte by byte":   iotest.OneByteReader(strings.NewReader(text)),
		"half by half":   iotest.HalfReader(strings.NewReader(text)),
		"data and error": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, end := readAll(t, newInbox(), r)
		if !slices.Equal(got, want) || !errors.Is(end, io.EOF) {
			t.Errorf("%s: read %.100q, %v", name, got, end)
		}
	}
}

// endless writes the same for ever.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func TestInboxFlood(t *testing.T) {
	for _, text := range []string{"no end of line", "line\n", "\n"} {
		b := newInbox()
		b.limit, b.pending = 1<<20, 1<<20
		b.read(endless(text)) // returns though nobody takes anything
		var l Lines
		if end := b.Take(&l); !errors.Is(end, ErrFlood) || len(l.Text) > 2<<20 || len(l.ends) > 1<<20 {
			t.Errorf("%q: %d bytes in %d lines, %v", text, len(l.Text), len(l.ends), end)
		}
	}
}

// TestInboxWakes: who waits for several answers is woken when they are all there, whatever comes first, and at once
// for what is no answer.
func TestInboxWakes(t *testing.T) {
	b := newInbox()
	r, w := io.Pipe()
	go b.read(r)
	woken := func(within time.Duration) bool {
		select {
		case <-b.more:
			return true
		case <-time.After(within):
			return false
		}
	}
	b.Expect(3)
	io.WriteString(w, "a\nb\n")
	if woken(20 * time.Millisecond) {
		t.Error("woken for two lines of three")
	}
	io.WriteString(w, "c\n")
	if !woken(10 * time.Second) {
		t.Error("not woken for three lines")
	}
	b.Expect(2)
	if !woken(10 * time.Second) {
		t.Error("not woken for lines that are there already")
	}
	var l Lines
	b.Take(&l)
	b.Expect(5)
	io.WriteString(w, `{"method":"ping","id":1}`+"\n")
	if !woken(10 * time.Second) {
		t.Error("not woken for a request")
	}
	w.Close()
	<-b.gone
}
