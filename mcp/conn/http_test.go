package conn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// serve returns a connection to a handler.
func serve(t *testing.T, h http.HandlerFunc, c conn.HTTPConfig) *conn.HTTP {
	t.Helper()
	s := httptest.NewServer(h)
	u, err := url.Parse(s.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	c.URL = u
	link := conn.NewHTTP(c)
	t.Cleanup(func() {
		link.Close()
		s.Close()
	})
	return link
}

// until receives until the exchange is over, and returns its frames.
func until(t *testing.T, c *conn.HTTP, exchange int64) (frames []conn.Frame) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		got, err := c.Recv(t.Context(), deadline, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got {
			if f.Exchange != exchange {
				continue
			}
			if frames = append(frames, f); f.Last {
				return frames
			}
		}
	}
	t.Fatalf("exchange %d is not over: %v", exchange, frames)
	return nil
}

func post(t *testing.T, c *conn.HTTP, m conn.Message) (frames []conn.Frame) {
	t.Helper()
	exchange := c.Send(m)
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	return until(t, c, exchange)
}

func texts(frames []conn.Frame) (out []string) {
	for _, f := range frames {
		out = append(out, fmt.Sprintf("%d %s", f.Status, f.Body))
	}
	return out
}

// TestHTTPResponses: what each kind of response comes to.
func TestHTTPResponses(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(body) {
		case "json":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "  {}\n")
		case "events":
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			io.WriteString(w, "id: 1\ndata:\n\n: a comment\n\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: "+strings.Repeat("x", 100_000)+"\n\ndata: the end")
		case "accepted":
			w.WriteHeader(http.StatusAccepted)
		case "error":
			http.Error(w, "no", http.StatusBadRequest)
		case "gone":
			panic(http.ErrAbortHandler)
		}
	}, conn.HTTPConfig{})
	for _, tt := range []struct {
		body string
		want []string
	}{
		{"json", []string{"200 {}"}},
		{"events", []string{"200 ", "200 {\"a\":\n1}", "200 " + strings.Repeat("x", 100_000), "200 "}},
		{"accepted", []string{"202 "}},
		{"error", []string{"400 no"}},
		{"gone", []string{"-2 "}},
		{"json", []string{"200 {}"}},
	} {
		if got := texts(post(t, c, conn.Message{Body: []byte(tt.body)})); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %.80q, want %.80q", tt.body, got, tt.want)
		}
	}
	if c.Unread() {
		t.Error("an exchange is said to go on")
	}
}

// TestHTTPTooLarge: a server that refuses a request before it has read all of it, and closes the connection, has answered.
func TestHTTPTooLarge(t *testing.T) {
	c := raw(t, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		time.Sleep(50 * time.Millisecond) // until the client waits for room
	})
	for range 2 {
		if got := texts(post(t, c, conn.Message{Body: make([]byte, 32<<20)})); !slices.Equal(got, []string{"413 no"}) {
			t.Errorf("%.80q, want a refusal", got)
		}
	}
}

// TestHTTPHead: what a message's head changes, and the session id.
func TestHTTPHead(t *testing.T) {
	heads := make(chan string, 1)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var lines []string
		for name, values := range r.Header {
			lines = append(lines, name+"="+strings.Join(values, ","))
		}
		slices.Sort(lines)
		heads <- r.Method + " " + r.URL.Path + " " + r.Host + " " + strings.Join(lines, " ")
		w.Header().Set("Mcp-Session-Id", "s1")
	}, conn.HTTPConfig{Header: []string{"Authorization: Bearer t"}})
	const rest = "Accept=application/json, text/event-stream Authorization=Bearer t Content-Length=2 Content-Type=application/json"
	for _, tt := range []struct{ head, want string }{
		{"", "POST /mcp HOST " + rest},
		{"", "POST /mcp HOST " + rest + " Mcp-Session-Id=s1"},
		{"Mcp-Session-Id:", "POST /mcp HOST " + rest},
		{"Host: other\nAccept:\n+X-A: 1\n+X-A: 2", "POST /mcp other " + strings.Replace(rest, "Accept=application/json, text/event-stream ", "", 1) + " Mcp-Session-Id=s1 X-A=1,2"},
		{"DELETE /else", "DELETE /else HOST " + rest + " Mcp-Session-Id=s1"},
	} {
		post(t, c, conn.Message{Body: []byte("{}"), Head: tt.head})
		got := <-heads
		want := tt.want
		if _, host, _ := strings.Cut(got, "127.0.0.1:"); host != "" {
			port, _, _ := strings.Cut(host, " ")
			got = strings.Replace(got, "127.0.0.1:"+port, "HOST", 1)
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.head, got, want)
		}
	}
}

// TestHTTPDrop: one exchange that never ends holds nobody up, and can be given up.
func TestHTTPDrop(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == "never" {
			<-r.Context().Done()
		}
	}, conn.HTTPConfig{Connections: 1})
	never, later := c.Send(conn.Message{Body: []byte("never")}), c.Send(conn.Message{Body: []byte("later")})
	if got := post(t, c, conn.Message{Body: []byte("apart"), Apart: true}); got[0].Status != 200 {
		t.Errorf("apart: %v", texts(got))
	}
	c.Drop(never)
	if got := until(t, c, later); got[0].Status != 200 {
		t.Errorf("later: %v", texts(got))
	}
}

// TestHTTPOnce: a request that the server has read is not sent again, whatever becomes of its connection. One that finds its connection
// closed goes on another.
func TestHTTPOnce(t *testing.T) {
	heard, closed := make(chan string, 9), make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- string(body)
		switch string(body) {
		case "vanish":
			panic(http.ErrAbortHandler)
		case "last":
			connection, buffer, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			buffer.WriteString("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
			buffer.Flush()
			connection.Close()
			close(closed)
		}
	}, conn.HTTPConfig{Connections: 1})
	for _, tt := range []struct {
		body   string
		fresh  bool
		status int
	}{{"a", false, 200}, {"vanish", false, conn.MaybeUnread}, {"b", false, 200}, {"vanish", true, conn.NoResponse}, {"last", false, 202}} {
		if got := post(t, c, conn.Message{Body: []byte(tt.body), Fresh: tt.fresh}); got[0].Status != tt.status {
			t.Errorf("%s: %v", tt.body, texts(got))
		}
	}
	<-closed
	if got := post(t, c, conn.Message{Body: []byte("c")}); got[0].Status != 200 {
		t.Errorf("on a connection that was closed: %v", texts(got))
	}
	var got []string
	for len(heard) > 0 {
		got = append(got, <-heard)
	}
	if want := []string{"a", "vanish", "b", "vanish", "last", "c"}; !slices.Equal(got, want) {
		t.Errorf("the server got %q, want %q", got, want)
	}
}

// TestHTTPCloses: a server that closes each connection after an answer, without saying so, is asked on a new one each time, as soon as that is
// known. Until then a request may find its connection closed, which says nothing of the request.
func TestHTTPCloses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ConnState: func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle {
			c.Close()
		}
	}}
	go s.Serve(l)
	defer s.Close()
	c := conn.NewHTTP(conn.HTTPConfig{URL: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/mcp"}, Connections: 1})
	defer c.Close()
	answered := 0
	for range 2000 {
		switch got := post(t, c, conn.Message{Body: []byte("{}")}); got[0].Status {
		case http.StatusOK:
			answered++
		case conn.MaybeUnread:
		default:
			t.Fatalf("%v after %d answers", texts(got), answered)
		}
	}
	if answered < 1900 {
		t.Errorf("%d of 2000 requests were answered", answered)
	}
}

// TestHTTPBye: the end of what is sent ends the session.
func TestHTTPBye(t *testing.T) {
	var heard []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, r.Method+" "+r.Header.Get("Mcp-Session-Id"))
		w.Header().Set("Mcp-Session-Id", "s1")
	}, conn.HTTPConfig{Connections: 1})
	c.CloseSend() // there is none yet
	post(t, c, conn.Message{Body: []byte("{}")})
	c.CloseSend()
	if want := []string{"POST ", "DELETE s1"}; !slices.Equal(heard, want) {
		t.Errorf("%q, want %q", heard, want)
	}
}

// Sessions that a server begins while the connection ends are ended too: that of the connection itself, and another one.
func TestHTTPLateSessions(t *testing.T) {
	var mu sync.Mutex
	begun, ended := 0, map[string]int{}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if id := r.Header.Get("Mcp-Session-Id"); r.Method == "DELETE" {
			ended[id]++
			return
		}
		begun++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session ", begun))
	}, conn.HTTPConfig{})
	mu.Lock()
	for range 3 {
		c.Send(conn.Message{Body: []byte("initialize"), Head: "Mcp-Session-Id:"})
	}
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	mu.Unlock() // the responses are on their way
	c.CloseSend()
	mu.Lock()
	defer mu.Unlock()
	if len(ended) != 3 || ended["session 1"] != 1 || ended["session 2"] != 1 || ended["session 3"] != 1 {
		t.Errorf("%d sessions were begun, and ended: %v", begun, ended)
	}
}

// TestHTTPEnds: nobody listens, before and after.
func TestHTTPEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
	l.Close()
	c := conn.NewHTTP(conn.HTTPConfig{URL: u})
	defer c.Close()
	c.Send(conn.Message{Body: []byte("{}")})
	if err := c.Flush(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil); !errors.Is(err, conn.ErrRefused) {
		t.Errorf("%v, want %v", err, conn.ErrRefused)
	}
	if err := c.Flush(t.Context(), time.Second); !errors.Is(err, conn.ErrBroken) {
		t.Errorf("%v, want %v", err, conn.ErrBroken)
	}
}

// TestHTTPEvents: HTTP+SSE, where answers come on one stream.
func TestHTTPEvents(t *testing.T) {
	lines := make(chan string, 8)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: endpoint\ndata: /post?id=7\n\n")
			for {
				w.(http.Flusher).Flush()
				select {
				case line := <-lines:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
				case <-r.Context().Done():
					return
				}
			}
		}
		body, _ := io.ReadAll(r.Body)
		if string(body) == "stuck" {
			<-r.Context().Done()
			return
		}
		if r.URL.RequestURI() != "/post?id=7" || string(body) == "bad" {
			http.Error(w, `{"refused":true}`, http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		lines <- "answer to " + string(body)
	}, conn.HTTPConfig{Events: true})
	var got []string
	for _, body := range []string{"1", "bad", "2"} {
		stuck := c.Send(conn.Message{Body: []byte("stuck")})
		c.Flush(t.Context(), time.Second)
		c.Send(conn.Message{Body: []byte(body)})
		c.Drop(stuck)
		if err := c.Flush(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		frames, err := c.Recv(t.Context(), time.Now().Add(time.Minute), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			got = append(got, string(f.Body))
		}
	}
	if want := []string{"answer to 1", `{"refused":true}`, "answer to 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func ExampleNewHTTP() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer s.Close()
	u, _ := url.Parse(s.URL)
	c := conn.NewHTTP(conn.HTTPConfig{URL: u})
	defer c.Close()
	c.Send(conn.Message{Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
	c.Flush(context.Background(), time.Second)
	frames, err := c.Recv(context.Background(), time.Now().Add(time.Minute), nil)
	fmt.Println(string(frames[0].Body), frames[0].Status, err)
	// Output: {"jsonrpc":"2.0","id":1,"result":{}} 200 <nil>
}
