package conn_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/conn"
)

// raw returns a connection to a server that answers whatever comes on a connection with what a function writes.
func raw(t *testing.T, answer func(c net.Conn)) *conn.HTTP {
	t.Helper()
	address := mcptest.Listen(t, func(c net.Conn) {
		c.Read(make([]byte, 1000))
		answer(c)
	})
	c := conn.NewHTTP(conn.HTTPConfig{URL: &url.URL{Scheme: "http", Host: address, Path: "/mcp"}})
	t.Cleanup(func() { c.Close() })
	return c
}

// TestHTTPFlood: a response without end is noticed, whatever it says of its length.
func TestHTTPFlood(t *testing.T) {
	part := strings.Repeat("x", 1<<16)
	for _, tt := range []struct{ name, head, part string }{
		{"till the connection ends", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", part},
		{"in chunks", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n" + part + "\r\n"},
		{"of a terabyte", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1099511627776\r\n\r\n", part},
		{"an event", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n", "10000\r\n" + part + "\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := raw(t, func(c net.Conn) {
				for _, err := io.WriteString(c, tt.head); err == nil; {
					_, err = io.WriteString(c, tt.part)
				}
			})
			c.Send(conn.Message{Body: []byte("{}")})
			if err := c.Flush(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			var err error
			for deadline := time.Now().Add(time.Minute); err == nil && time.Now().Before(deadline); {
				_, err = c.Recv(t.Context(), deadline, nil)
			}
			if !errors.Is(err, conn.ErrFlood) {
				t.Errorf("%v, want %v", err, conn.ErrFlood)
			}
		})
	}
}

// TestHTTPBrokenOff: a body that is not whole is said to be so, and no other request follows on its connection.
func TestHTTPBrokenOff(t *testing.T) {
	for _, head := range []string{"Content-Length: 100\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nno size\r\n"} {
		var connections atomic.Int32
		c := raw(t, func(c net.Conn) {
			connections.Add(1)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+head)
			if strings.HasPrefix(head, "Transfer") {
				c.Read(make([]byte, 1000)) // the connection stays open
				io.WriteString(c, "HTTP/1.1 500 Wrong\r\nContent-Length: 0\r\n\r\n")
			}
		})
		for n := range int32(2) {
			got := post(t, c, conn.Message{Body: []byte("{}")})
			if texts(got)[0] != "200 hello" || got[0].Err == nil || connections.Load() != n+1 {
				t.Errorf("%q, %v, on %d connections", texts(got), got[0].Err, connections.Load())
			}
		}
	}
}

// TestHTTPDropDialling: a request whose connection does not come about can be given up.
func TestHTTPDropDialling(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody answers the TLS handshake
	c := conn.NewHTTP(conn.HTTPConfig{URL: &url.URL{Scheme: "https", Host: l.Addr().String(), Path: "/mcp"}, Connections: 1, Ended: make(chan struct{})})
	defer c.Close()
	for range 2 {
		exchange := c.Send(conn.Message{Body: []byte("{}")})
		if err := c.Flush(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		c.Drop(exchange)
		if got := until(t, c, exchange); got[0].Status != conn.NoResponse {
			t.Errorf("%v", texts(got))
		}
	}
}

// TestHTTPFloodOfHeads: a head without end, and heads without end before that of the response, are noticed as a body is.
func TestHTTPFloodOfHeads(t *testing.T) {
	for _, part := range []string{"X-Teasel: " + strings.Repeat("x", 1000) + "\r\n", "\r\nHTTP/1.1 103 Early Hints\r\n"} {
		c := raw(t, func(c net.Conn) {
			for _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n"); err == nil; {
				_, err = io.WriteString(c, strings.Repeat(part, 100))
			}
		})
		c.Send(conn.Message{Body: []byte("{}")})
		if err := c.Flush(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if frames, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil); !errors.Is(err, conn.ErrFlood) {
			t.Errorf("%d frames, %v, want %v", len(frames), err, conn.ErrFlood)
		}
	}
}

// TestHTTPLarge: few large messages are in memory at a time, and all come.
func TestHTTPLarge(t *testing.T) {
	const all, most = 12, 4
	var sent atomic.Int32
	large := "data: " + strings.Repeat("x", 20<<20) + "\n\n"
	c := raw(t, func(c net.Conn) {
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
		if n := sent.Add(1); n%2 == 0 {
			head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
		}
		io.WriteString(c, head+large)
	})
	for range all {
		c.Send(conn.Message{Body: []byte("{}")})
	}
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	came := 0
	for deadline := time.Now().Add(5 * time.Minute); came < all && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // so that more would have come
		frames, err := c.Recv(t.Context(), deadline, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range frames {
			if len(f.Body) >= 20<<20 {
				n++
			}
		}
		if came += n; n > most {
			t.Errorf("%d large messages at once, want %d at most", n, most)
		}
	}
	if came != all {
		t.Errorf("%d have come, want %d", came, all)
	}
}

// TestHTTPManyEvents: events without end do not keep Recv from returning.
func TestHTTPManyEvents(t *testing.T) {
	events := strings.Repeat("data: x\n\n", 1000)
	c := raw(t, func(c net.Conn) {
		for _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"); err == nil; {
			_, err = io.WriteString(c, events)
		}
	})
	for range 8 {
		c.Send(conn.Message{Body: []byte("{}")})
	}
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if frames, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil); err != nil || len(frames) == 0 || len(frames) > 2*256 {
			t.Fatalf("%d frames, %v", len(frames), err)
		}
	}
}
