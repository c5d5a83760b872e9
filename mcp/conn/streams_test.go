package conn_test

import (
	"io"
	"net/http"
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
	if frames, err := c.Recv(t.Context(), time.Now().Add(10*time.Second), nil); err != nil || len(frames) != 1 || frames[0].Exchange != stays {
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
