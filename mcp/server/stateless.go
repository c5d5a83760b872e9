package server

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// discover does for a server of [session.StatelessVersion] what the handshake does for others: it asks what the server is.
func (c *Command) discover(ctx context.Context, s *Server) (jsonrpc.Message, error) {
	const during = "server/discover"
	s.stateless = true
	s.setPing([]byte(session.DiscoverLine))
	answer, noise, err := s.call(ctx, []byte(session.DiscoverLine), c.startTimeout())
	if answer.Error != nil || errors.Is(err, errStatus) {
		if instead, ok := c.inferred(ctx, s); ok {
			s.Uninitialized = false
			return instead, nil
		}
	}
	if err != nil {
		return answer, c.trouble(s, err, noise, during)
	}
	if answer.Error != nil {
		e := c.failed("refused server/discover: " + shorten(answer.Error.String()))
		e.declined, e.status = true, s.answered
		e.Hint = "does it speak " + session.StatelessVersion + "? --era handshake asks in the versions before that"
		return answer, e
	}
	if versions := answer.Result.Get("supportedVersions"); versions != nil && !slices.ContainsFunc(versions.Items, func(v *mutate.JSON) bool {
		text, _ := v.Str()
		return text == session.StatelessVersion
	}) {
		e := c.failed("does not support " + session.StatelessVersion + ", but " + shorten(versions.String()))
		e.declined, e.status, e.Hint = true, s.answered, "--era handshake asks in the versions before that"
		return answer, e
	}
	s.Uninitialized = false
	return answer, nil
}

// inferred returns what a server that has no server/discover would have answered, as far as its lists show that: it has the capabilities
// whose lists it answers. False: it answers none of them.
func (c *Command) inferred(ctx context.Context, s *Server) (answer jsonrpc.Message, ok bool) {
	s.undiscovered = true
	capabilities, kind := mutate.NewObject(), (*mutate.JSON)(nil)
	for _, l := range lists {
		line := jsonrpc.RequestLine(l.method, nil)
		a, _, err := s.call(ctx, line, c.timeout())
		switch {
		case err != nil && !errors.Is(err, errStatus):
			return answer, false
		case a.Result.Get(l.key) == nil, capabilities.Get(l.capability) != nil:
			continue
		case len(capabilities.Members) == 0:
			s.setPing(session.Stamp(line))
			kind = a.Result.Get("resultType")
		}
		capabilities.Set(l.capability, mutate.NewObject())
	}
	answer.Result = mutate.NewObject(jsonrpc.Member("capabilities", capabilities))
	if kind != nil {
		answer.Result.Set("resultType", kind.Clone())
	}
	return answer, len(capabilities.Members) > 0
}

// Stateless reports whether requests stand by themselves.
func (s *Server) Stateless() bool { return s.stateless }

// Message returns a line as it is sent, with the lines that the head of each request has over HTTP.
func (s *Server) Message(line []byte, m *jsonrpc.Message) conn.Message {
	out := conn.Message{Body: line}
	if s.stateless && s.http != nil {
		out.Fields = session.RequestHead(m, s.Mirrors)
		out.Apart = m.Method == session.ListenMethod // its response has no end
	}
	return out
}

// setPing sets what is asked to see whether the server answers: a line with a placeholder for its id.
func (s *Server) setPing(line []byte) { s.ping, s.pinged = line, jsonrpc.Parse(line) }

// Ping returns a request that says nothing but whether the server answers, with the id that was given out last. It has a connection of
// its own over HTTP.
func (s *Server) Ping() conn.Message {
	m := s.Message(bytes.Replace(s.ping, []byte(`"@id"`), strconv.AppendInt(nil, s.IDs, 10), 1), &s.pinged)
	m.Apart = true
	return m
}
