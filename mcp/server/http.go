package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
)

// PortWord stands for a free port in the URL of a server that is started, in its arguments and in its environment.
const PortWord = "{port}"

// startHTTP starts a process that listens, or connects to one that runs already, and sends it nothing.
func (c *Command) startHTTP(p proc.Command, r *isolation.Home) (*Server, error) {
	address := c.URL
	if len(c.Args) > 0 && c.usesPort(&p) {
		n, err := proc.FreePort()
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		port := strconv.Itoa(n)
		address = strings.ReplaceAll(address, PortWord, port)
		p.Args, p.Env = withPort(p.Args, port), withPort(p.Env, port)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	s := newServer()
	s.home = r
	config := conn.HTTPConfig{URL: u, Header: c.Header, TLS: c.TLS, Events: c.Events, Dial: r.On()}
	if c.Serial {
		config.Connections = 1
	}
	if len(c.Args) > 0 {
		p.Merge = true
		if s.proc, err = proc.Start(p); err != nil {
			return nil, c.launchError(err)
		}
		s.proc.Stdin.Close()
		s.quiet = proc.NewQuiet(s.proc.PID())
		s.quiet.Horizon = WaitTime
		config.Ended, config.Start = s.proc.Ended(), c.startTimeout()
	}
	s.reach(config)
	return s, nil
}

// reach has the server be reached this way.
func (s *Server) reach(c conn.HTTPConfig) {
	s.http, s.reached = conn.NewHTTP(c), c
	s.Conn = s.http
}

// tryEvents turns to HTTP+SSE when the server does not take a POST at its address, as the specification says, and reports whether it
// has.
func (s *Server) tryEvents(ctx context.Context, err error) bool {
	var status *statusError
	if !errors.As(err, &status) || s.reached.Events || s.settled {
		return false
	}
	switch status.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return false
	}
	old, before := s.http, s.reached
	c := before
	c.Events = true
	s.reach(c)
	if !s.http.Opens(ctx, eventsTime) {
		s.http.Close()
		s.http, s.reached, s.Conn = old, before, old
		return false
	}
	old.Close()
	return true
}

// eventsTime is how long a server may take to name where to post, after it has refused a POST.
const eventsTime = 2 * time.Second

// usesPort reports whether a free port is wanted.
func (c *Command) usesPort(p *proc.Command) bool {
	for _, words := range [][]string{{c.URL}, p.Args, p.Env} {
		for _, w := range words {
			if strings.Contains(w, PortWord) {
				return true
			}
		}
	}
	return false
}

func withPort(words []string, port string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, PortWord, port)
	}
	return out
}

// OverHTTP reports whether a message is an HTTP request.
func (s *Server) OverHTTP() bool { return s.http != nil }

// OverEvents reports whether the server says all on one stream, so that the end of an exchange says nothing about an answer.
func (s *Server) OverEvents() bool { return s.reached.Events }

// listen asks for what the server has to say by itself, and reports whether it can.
func (s *Server) listen() bool {
	if s.http == nil || s.reached.Events {
		return false
	}
	s.Send(conn.Message{Head: "GET", Apart: true})
	return true
}

// headerValue returns a text as it may stand in a head.
func headerValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// errStatus is matched by a [statusError].
var errStatus = errors.New("no message in the HTTP response")

// statusError is what came in the place of an answer.
type statusError struct {
	status   int
	body     []byte
	location string // to which the server redirects
	err      error  // why there was no response
}

func (e *statusError) Error() string {
	if e.status < 0 {
		return fmt.Sprintf("the connection ended without a response: %v", e.err)
	}
	return fmt.Sprintf("HTTP status %d %s", e.status, http.StatusText(e.status))
}

func (e *statusError) Is(target error) bool { return target == errStatus }

// isDeclined reports whether a request lacks what its client has to show, or that does not do.
func isDeclined(err error) bool {
	var status *statusError
	return errors.As(err, &status) && conn.Unauthorized(status.status)
}

// refusedError is for an address at which nobody listens.
func (c *Command) refusedError(s *Server) *StartError {
	e := c.failed("nobody listens at " + c.URL)
	e.silent, e.Hint = true, "start the server first, or give its command behind --"
	if len(c.Args) > 0 {
		e.Stderr = lastLines(s.End(false).Stderr)
		e.What = fmt.Sprintf("it did not listen at %s within %v", c.URL, c.startTimeout())
		e.Hint = "tell the server which port to use: " + PortWord + " in its arguments, or --env PORT=" + PortWord
	}
	return e
}

// tlsHint says what to do about a TLS handshake that failed; "": it is none.
func tlsHint(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &name):
		return "its certificate is for another name: give that one in --url, or take any with --insecure"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet: renew it, or take any with --insecure"
	case errors.As(err, &plain):
		return "it does not speak https: begin the URL with http://"
	case err != nil && (strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "x509")):
		return "trust its certificate with --ca FILE, or take any with --insecure"
	}
	return ""
}

// statusError is for a server that did not answer its first request with a message.
func (c *Command) statusError(s *Server, err error, during string) *StartError {
	e, status := c.failed("did not answer "+during+": "+err.Error()), (*statusError)(nil)
	errors.As(err, &status)
	e.refused = true
	e.status, e.declined = status.status, conn.Declined(status.status)
	text := strings.ToLower(string(status.body))
	switch {
	case conn.Unauthorized(status.status):
		e.Hint = "pass what it wants to see, for example --header 'Authorization: Bearer ${TOKEN}'"
	case status.status == http.StatusNotFound || status.status == http.StatusMethodNotAllowed:
		e.Hint = "is the path right? POST and GET were tried; most servers listen at /mcp, some at / or /sse"
	case status.location != "":
		e.Hint = "it is moved to " + status.location + ": redirects are not followed; give that address if it is yours"
	case strings.Contains(text, "http request to an https server"):
		e.Hint = "it speaks https: begin the URL with https://"
	case strings.Contains(text, "version"):
		e.Hint = "ask for another protocol version, for example --protocol-version 2025-03-26"
	case strings.Contains(text, "<html"), strings.Contains(text, "<!doctype"):
		e.Hint = "it answered with a web page: is the path right? Most servers listen at /mcp"
	default:
		e.Hint = tlsHint(status.err)
	}
	if len(status.body) > 0 {
		e.What += ", " + quoteLine(status.body)
	}
	if s.proc != nil {
		e.Stderr = lastLines(s.End(false).Stderr)
	}
	return e
}
