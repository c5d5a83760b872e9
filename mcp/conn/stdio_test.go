package conn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// process is what a connection is with: the far ends of its pipes, and whether it goes on.
type process struct {
	conn   conn.Conn
	stdin  *os.File // to read what was sent
	stdout *os.File // to write what is to be received
	ended  atomic.Bool
}

func start(t *testing.T) *process {
	t.Helper()
	p := &process{}
	ourIn, ours := pipe(t)
	theirs, ourOut := pipe(t)
	p.stdin, p.stdout = theirs, ours
	c, err := conn.NewStdio(ourOut, ourIn, func() bool { return !p.ended.Load() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	p.conn = c
	return p
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// never is a time that no test waits for.
func never() time.Time { return time.Now().Add(time.Hour) }

// readAll returns all frames until nothing more comes, and why.
func readAll(t *testing.T, c conn.Conn) (lines []string, end error) {
	t.Helper()
	var frames []conn.Frame
	for end == nil {
		if frames, end = c.Recv(t.Context(), never(), frames[:0]); len(frames) == 0 && end == nil {
			t.Fatal("nothing has come, and nothing was said of the end")
		}
		for _, f := range frames {
			lines = append(lines, string(f.Body))
		}
	}
	return lines, end
}

// Lines are the same however the server's writes cut them.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	huge := strings.Repeat("y", 3<<20)
	for _, tt := range []struct {
		name, text string
		want       []string
		each       int // bytes of one write
	}{
		{"at once", "one\n\ntwo\r\nthree\n", []string{"one", "", "two\r", "three"}, 1 << 30},
		{"byte by byte", "one\n\ntwo\r\nthree\n", []string{"one", "", "two\r", "three"}, 1},
		{"unfinished", "one\ntwo", []string{"one", "two"}, 1 << 30},
		{"unfinished, byte by byte", "one\ntwo", []string{"one", "two"}, 1},
		{"nothing", "", nil, 1},
		{"long", long + "\nshort\n" + long, []string{long, "short", long}, 1000},
		{"longer than what is kept", huge + "\nshort\n" + huge + "\nend\n", []string{huge, "short", huge, "end"}, 100_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t)
			go func() {
				defer p.stdout.Close()
				for chunk := range slices.Chunk([]byte(tt.text), tt.each) {
					if _, err := p.stdout.Write(chunk); err != nil {
						return
					}
				}
			}()
			got, end := readAll(t, p.conn)
			if !slices.Equal(got, tt.want) || end != io.EOF {
				t.Errorf("%d lines, %.100q, and %v; want %d", len(got), got, end, len(tt.want))
			}
			if n := p.conn.Received(); n != int64(len(tt.text)) {
				t.Errorf("%d bytes have come, want %d", n, len(tt.text))
			}
			if got, end := readAll(t, p.conn); len(got) > 0 || end != io.EOF {
				t.Errorf("after the end %q and %v come", got, end)
			}
		})
	}
}

// A line that does not end is given up on, after what came before it.
func TestEndlessLine(t *testing.T) {
	p := start(t)
	go func() {
		defer p.stdout.Close()
		text := append([]byte("first\n"), bytes.Repeat([]byte("["), 1<<20)...)
		for {
			if _, err := p.stdout.Write(text); err != nil {
				return
			}
			text = text[max(0, len(text)-1<<20):]
		}
	}()
	got, end := readAll(t, p.conn)
	if !slices.Equal(got, []string{"first"}) || end != conn.ErrFlood {
		t.Errorf("got %.100q and %v", got, end)
	}
	p.conn.Close() // the writer ends
}

// A server that writes without end and does not read is given up on too.
func TestFloodWhileBlocked(t *testing.T) {
	p := start(t)
	go func() {
		defer p.stdout.Close()
		for lines := bytes.Repeat(append(bytes.Repeat([]byte("x"), 1<<16-1), '\n'), 16); ; {
			if _, err := p.stdout.Write(lines); err != nil {
				return
			}
		}
	}()
	message := bytes.Repeat([]byte("m"), 1<<20)
	p.conn.Send(conn.Message{Body: message})
	if err := p.conn.Flush(t.Context(), time.Hour); err != conn.ErrFlood {
		t.Fatalf("the error is %v", err)
	}
	if got, end := readAll(t, p.conn); len(got) < 1<<9 || len(got[0]) != 1<<16-1 || end != conn.ErrFlood {
		t.Errorf("%d lines and %v", len(got), end)
	}
}

// A server may read nothing until all that it writes was read.
func TestReadsWhileItWrites(t *testing.T) {
	p := start(t)
	const lines = 20_000
	line := strings.Repeat("z", 200)
	sent := bytes.Repeat([]byte("m"), 1<<20)
	taken := make(chan []byte, 1)
	go func() {
		defer p.stdout.Close()
		for range lines {
			if _, err := io.WriteString(p.stdout, line+"\n"); err != nil {
				break
			}
		}
		all, _ := io.ReadAll(p.stdin) // what is missing is found below
		taken <- all
	}()
	p.conn.Send(conn.Message{Body: sent[:1000], More: true})
	p.conn.Send(conn.Message{Body: sent[1000:]})
	if err := p.conn.Flush(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := p.conn.CloseSend(); err != nil {
		t.Error(err)
	}
	if got, end := readAll(t, p.conn); len(got) != lines || got[lines-1] != line || end != io.EOF {
		t.Errorf("%d lines and %v, want %d", len(got), end, lines)
	}
	if got := <-taken; !bytes.Equal(got, append(sent, '\n')) {
		t.Errorf("the server has read %d bytes, want %d", len(got), len(sent)+1)
	}
	p.conn.Send(conn.Message{Body: []byte("too late")})
	if err := p.conn.Flush(t.Context(), time.Hour); err != nil {
		t.Errorf("after CloseSend: %v", err)
	}
}

func TestFlushErrors(t *testing.T) {
	t.Run("the server does not read", func(t *testing.T) {
		p := start(t)
		if p.conn.Unread() {
			t.Error("something is unread before anything was sent")
		}
		p.conn.Send(conn.Message{Body: make([]byte, 1<<20)})
		if err := p.conn.Flush(t.Context(), time.Millisecond); err != conn.ErrBlocked {
			t.Errorf("the error is %v", err)
		}
		if !p.conn.Unread() {
			t.Error("all was read by nobody")
		}
		if err := p.conn.Flush(t.Context(), time.Millisecond); err != conn.ErrBlocked {
			t.Errorf("the rest is not queued any more: %v", err)
		}
		// What it has written is read all the same.
		if _, err := io.WriteString(p.stdout, "still here\n"); err != nil {
			t.Fatal(err)
		}
		if frames, err := p.conn.Recv(t.Context(), never(), nil); err != nil || len(frames) != 1 || string(frames[0].Body) != "still here" {
			t.Errorf("got %v and %v", frames, err)
		}
	})
	t.Run("the context ends", func(t *testing.T) {
		p := start(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p.conn.Send(conn.Message{Body: make([]byte, 1<<20)})
		if err := p.conn.Flush(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the server has closed its input", func(t *testing.T) {
		p := start(t)
		p.stdin.Close()
		p.conn.Send(conn.Message{Body: []byte("message")})
		if err := p.conn.Flush(t.Context(), time.Hour); err != conn.ErrBroken {
			t.Errorf("the error is %v", err)
		}
		if _, err := io.WriteString(p.stdout, "goodbye\n"); err != nil {
			t.Fatal(err)
		}
		p.stdout.Close()
		if got, end := readAll(t, p.conn); !slices.Equal(got, []string{"goodbye"}) || end != io.EOF {
			t.Errorf("its last words are %q and %v", got, end)
		}
	})
	t.Run("slowly", func(t *testing.T) { // it takes little at a time, but something
		p := start(t)
		go func() {
			buffer := make([]byte, 4096)
			for {
				if _, err := p.stdin.Read(buffer); err != nil {
					return
				}
			}
		}()
		p.conn.Send(conn.Message{Body: make([]byte, 1<<20)})
		if err := p.conn.Flush(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
	})
}

// A process that has ended may have left its end of the pipe to a child.
func TestChildHoldsThePipe(t *testing.T) {
	p := start(t)
	if _, err := io.WriteString(p.stdout, "one\ntwo\nhalf"); err != nil {
		t.Fatal(err)
	}
	p.ended.Store(true)
	if got, end := readAll(t, p.conn); !slices.Equal(got, []string{"one", "two", "half"}) || end != io.EOF {
		t.Errorf("got %q and %v", got, end)
	}
}

// The end is noticed too when it comes while nothing is to be read.
func TestEndWhileWaiting(t *testing.T) {
	_, stdin := pipe(t)
	stdout, _ := pipe(t)
	const looks = 3
	n := 0
	c, err := conn.NewStdio(stdin, stdout, func() bool { n++; return n < looks })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, end := readAll(t, c); len(got) > 0 || end != io.EOF || n != looks {
		t.Errorf("got %q and %v after %d looks", got, end, n)
	}
}

func TestRecvReturns(t *testing.T) {
	p := start(t)
	for _, until := range []time.Time{{}, time.Now(), time.Now().Add(100 * time.Microsecond), time.Now().Add(5 * time.Millisecond)} {
		if frames, err := p.conn.Recv(t.Context(), until, nil); len(frames) > 0 || err != nil {
			t.Errorf("%d frames and %v come of a silent server", len(frames), err)
		}
		if time.Now().Before(until) {
			t.Error("it has returned before its time, with nothing")
		}
	}
	if _, err := io.WriteString(p.stdout, "a\nb\nc"); err != nil {
		t.Fatal(err)
	}
	frames, err := p.conn.Recv(t.Context(), time.Time{}, nil)
	if err != nil || len(frames) != 2 || string(frames[0].Body) != "a" || string(frames[1].Body) != "b" {
		t.Errorf("got %v and %v", frames, err)
	}
	if frames, err := p.conn.Recv(t.Context(), time.Time{}, nil); err != nil || len(frames) > 0 {
		t.Errorf("half a line counts as one: %v and %v", frames, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.conn.Recv(ctx, never(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := io.WriteString(p.stdout, "!\n"); err != nil {
		t.Fatal(err)
	}
	if frames, err := p.conn.Recv(ctx, never(), nil); err != nil || len(frames) != 1 || string(frames[0].Body) != "c!" {
		t.Errorf("what is there is not returned: %v and %v", frames, err)
	}
}
