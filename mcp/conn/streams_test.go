package conn_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// TestHTTPRelease: an exchange that nobody waits for gives its place to the next one, and is no reason to wait for the server.
func TestHTTPRelease(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == "stays" {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: answer\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}, conn.HTTPConfig{Connections: 1})
	stays := c.Send(conn.Message{Body: []byte("stays")})
	later := c.Send(conn.Message{Body: []byte("later")})
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if frames, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil); err != nil || len(frames) != 1 || frames[0].Exchange != stays {
		t.Fatalf("%v, %v", frames, err)
	}
	if !c.Unread() || c.Queued(stays) || !c.Queued(later) {
		t.Error("one waits for its answer, and the other for its place")
	}
	c.Release(stays)
	if got := until(t, c, later); got[0].Status != 200 {
		t.Errorf("later: %v", texts(got))
	}
	c.Release(stays)
	if c.Unread() || c.Queued(later) {
		t.Error("an exchange is said to go on")
	}
}

// TestHTTPOnItsWay: an exchange with a connection of its own goes on until its request has arrived, and no longer where no response is due.
func TestHTTPOnItsWay(t *testing.T) {
	for name, tt := range map[string]struct {
		size    int
		arrives bool // the system takes it, though the server never reads
	}{"small": {0, true}, "large": {64 << 20, false}} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c := conn.NewHTTP(conn.HTTPConfig{URL: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}})
			defer c.Close()
			c.Send(conn.Message{Body: make([]byte, tt.size), Apart: true})
			if err := c.Flush(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			arrived := false
			for range 200 {
				if arrived = !c.Unread(); arrived {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if arrived != tt.arrives {
				t.Errorf("arrived: %t, want %t", arrived, tt.arrives)
			}
		})
	}
}

// TestHTTPApart: messages apart have connections of their own, those that nobody waits for 64, in which they make room for each other.
func TestHTTPApart(t *testing.T) {
	const all, most = 100, 64
	var came atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		came.Add(1)
		<-r.Context().Done()
	}, conn.HTTPConfig{})
	var exchanges []int64
	for range all {
		exchanges = append(exchanges, c.Send(conn.Message{Body: []byte("{}"), Apart: true}))
		c.Release(exchanges[len(exchanges)-1])
	}
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if queued := slices.DeleteFunc(exchanges, func(x int64) bool { return !c.Queued(x) }); len(queued) != all-most {
		t.Errorf("%d are queued, want %d", len(queued), all-most)
	}
	ping := c.Send(conn.Message{Body: []byte("ping"), Apart: true})
	if err := c.Flush(t.Context(), time.Second); err != nil || c.Queued(ping) {
		t.Errorf("%v; one that is waited for is queued: %v", err, c.Queued(ping))
	}
	for deadline := time.Now().Add(time.Minute); came.Load() <= all && time.Now().Before(deadline); {
		if _, err := c.Recv(t.Context(), time.Now().Add(conn.Slice), nil); err != nil {
			t.Fatal(err)
		}
	}
	if came.Load() != all+1 {
		t.Errorf("%d have come, want %d", came.Load(), all+1)
	}
}

// TestHTTPLocal: that this machine can make no connection is not the server's doing.
func TestHTTPLocal(t *testing.T) {
	for _, errno := range []error{syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		c := serve(t, nil, conn.HTTPConfig{Dial: func(func() error) error { return os.NewSyscallError("socket", errno) }})
		c.Send(conn.Message{Body: []byte("{}")})
		if err := c.Flush(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if frames, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil); !errors.Is(err, conn.ErrLocal) || !errors.Is(err, errno) {
			t.Errorf("%v, %v", texts(frames), err)
		}
	}
}

// TestHTTPEventStandard: events are what the HTML standard makes of them.
func TestHTTPEventStandard(t *testing.T) {
	for _, tt := range []struct {
		stream string
		want   []string
	}{
		{"data: a\n\ndata:b\r\n\r\ndata: c\r\rdata: d\r\n\ndata\r\ndata: e\n\n", []string{"a", "b", "c", "d", "\ne"}},
		{"\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"a"}},
		{"data: a\n\ndata: b", []string{"a"}},
		{"data: a\n\ndata: b\n", []string{"a"}},
		{"event: message\ndata: a\n\nevent: other\ndata: b\n\nevent: endpoint\ndata: c\n\nevent: other\n\ndata: d\n\n", []string{"a", "d"}},
		{": a\n\n:\ndatas: a\nretry: 1\ndata:  b:c\n\n", []string{" b:c"}},
	} {
		for _, whole := range []bool{true, false} {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if whole {
					io.WriteString(w, tt.stream)
					return
				}
				for _, b := range []byte(tt.stream) { // no line end is in one piece
					w.Write([]byte{b})
					w.(http.Flusher).Flush()
				}
			}, conn.HTTPConfig{})
			var got []string
			for _, f := range post(t, c, conn.Message{Body: []byte("{}")}) {
				if !f.Last {
					got = append(got, string(f.Body))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q: %q, want %q", tt.stream, got, tt.want)
			}
		}
	}
}
