package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/loopback"
)

// ErrNeedsToken is what [Listen] returns, wrapped, for an address that others can reach, without a token.
var ErrNeedsToken = errors.New("it is not a loopback address, so that whoever reaches it could read the campaign")

// Server serves the page of a campaign.
type Server struct {
	URL string // to open, with the token if there is one

	listener net.Listener
	token    string
	server   *http.Server
	done     chan struct{}
}

// Listen takes an address, such as 127.0.0.1:8080. An address that is not the loopback interface's needs a token. Nothing is answered
// before [Server.Start].
func Listen(address, token string) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q: expected an address and a port, such as 127.0.0.1:8080", address)
	}
	if !loopback.Host(host) && token == "" {
		return nil, fmt.Errorf("%s: %w", address, ErrNeedsToken)
	}
	if token != "" && strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return nil, errors.New("the token: expected letters, digits, - and _")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, token: token, done: make(chan struct{})}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	if token != "" {
		u.RawQuery = "token=" + token
	}
	s.URL = u.String()
	return s, nil
}

// Start serves a campaign until Close.
func (s *Server) Start(src Source) error {
	h, err := Handler(src, s.token)
	if err != nil {
		return err
	}
	s.server = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(s.listener) // until Close
	}()
	return nil
}

// Close ends the server; requests that are being answered have a moment to end.
func (s *Server) Close() {
	if s.server == nil {
		_ = s.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	<-s.done
}
