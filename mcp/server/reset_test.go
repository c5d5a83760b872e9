package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

// initializeOnce answers what comes on a connection, and resets the connection at the second initialize.
func initializeOnce(c net.Conn) {
	in := bufio.NewReader(c)
	for initialized := false; ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		switch {
		case !strings.Contains(string(body), `"initialize"`):
			fmt.Fprint(c, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
		case initialized:
			c.(*net.TCPConn).SetLinger(0)
			return
		default:
			answer := `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"one","version":"1"}}}`
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
			initialized = true
		}
	}
}

// TestResetConnection: a session is begun on a connection of its own, since the server may be about to close one that was used before.
func TestResetConnection(t *testing.T) {
	c := &Command{URL: "http://" + mcptest.Listen(t, initializeOnce), StartTimeout: 5 * time.Second}
	s, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 20 {
		if _, err := c.Initialize(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}
