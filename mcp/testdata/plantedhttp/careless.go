package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
)

// isLocal reports whether a Host is this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || host == "127.0.0.1"
}

// careless accepts connections whose requests may have lengths that disagree, and forgets to close those that the client has closed.
type careless struct {
	net.Listener
	mu   sync.Mutex
	kept []net.Conn
}

func (l *careless) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &reader{Conn: c, from: l}, nil
}

// A reader does not see chunks where there is a length.
type reader struct {
	net.Conn
	from *careless
	some bool // of a request that is not at its end
	kept bool
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	if bytes.Contains(b[:n], []byte("\r\nContent-Length: ")) {
		n = copy(b, bytes.ReplaceAll(b[:n], []byte("\r\nTransfer-Encoding: chunked\r\n"), []byte("\r\n"))) // bug
	}
	if errors.Is(err, io.EOF) && r.some && !r.kept { // bug: it is never closed
		r.kept = true
		r.from.mu.Lock()
		r.from.kept = append(r.from.kept, r.Conn)
		r.from.mu.Unlock()
	}
	r.some = r.some || n > 0
	return n, err
}

func (r *reader) Close() error {
	if r.kept {
		return nil
	}
	return r.Conn.Close()
}
