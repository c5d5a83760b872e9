package main

import (
	"bytes"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// failing is a handler that serves until a certain request, from which on the whole server fails in one way.
type failing struct {
	http.Handler
	how    string // "": it does not
	after  int64  // requests; 0: any number
	on     string // what a call of read_text has to have in it; "": nothing has
	served atomic.Int64
	begun  chan struct{} // closed when it fails
	once   sync.Once
}

func newFailing() *failing {
	f := &failing{begun: make(chan struct{})}
	flag.StringVar(&f.how, "fails", "", "how the server fails, from a request on: with the status 500, 429, 404 or 307, or silent, unlistening, cut, exit")
	flag.Int64Var(&f.after, "after", 0, "fail after so many requests")
	flag.StringVar(&f.on, "on", "", "fail from the first call of read_text on that has this in its arguments")
	return f
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.how == "" {
		f.Handler.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot be read", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	n := f.served.Add(1)
	if f.after > 0 && n > f.after || f.on != "" && r.Method == "POST" && f.isCause(body) {
		f.once.Do(func() { close(f.begun) })
	}
	select {
	case <-f.begun:
		f.fail(w, r)
	default:
		f.Handler.ServeHTTP(w, r)
	}
}

// isCause reports whether a request is the one to fail on.
func (f *failing) isCause(body []byte) bool {
	m, _ := read(body)
	return m != nil && m.Method == "tools/call" && m.text("name") == "read_text" && bytes.Contains(m.Params["arguments"], []byte(f.on))
}

func (f *failing) fail(w http.ResponseWriter, r *http.Request) {
	switch f.how {
	case "500":
		http.Error(w, "database is locked", http.StatusInternalServerError)
	case "429":
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case "404":
		http.NotFound(w, r)
	case "307":
		http.Redirect(w, r, "/login", http.StatusTemporaryRedirect)
	case "silent", "unlistening":
		<-r.Context().Done()
	case "cut":
		panic(http.ErrAbortHandler)
	case "exit":
		os.Exit(0)
	}
}

// A listener takes no connections any more when the server has failed.
type listener struct {
	net.Listener
	from *failing
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	select {
	case <-l.from.begun:
		if strings.HasPrefix(l.from.how, "unlistening") {
			select {}
		}
	default:
	}
	return c, err
}
