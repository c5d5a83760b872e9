package conn_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// raw returns a connection to a server that answers whatever comes on a connection with what a function writes.
func raw(t *testing.T, answer func(c net.Conn)) *conn.HTTP {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.Read(make([]byte, 1000))
				answer(c)
			}()
		}
	}()
	c := conn.NewHTTP(conn.HTTPConfig{URL: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/mcp"}})
	t.Cleanup(func() {
		c.Close()
		l.Close()
	})
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
			for deadline := time.Now().Add(20 * time.Second); err == nil && time.Now().Before(deadline); {
				_, err = c.Recv(t.Context(), deadline, nil)
			}
			if !errors.Is(err, conn.ErrFlood) {
				t.Errorf("%v, want %v", err, conn.ErrFlood)
			}
		})
	}
}
