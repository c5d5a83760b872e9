package server

import (
	"context"
	"slices"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// discover does for a server of [session.StatelessVersion] what the handshake does for others: it asks what the server is.
func (c *Command) discover(ctx context.Context, s *Server) (jsonrpc.Message, error) {
	const during = "server/discover"
	s.stateless = true
	answer, noise, err := s.call(ctx, []byte(session.DiscoverLine), c.startTimeout())
	if err != nil {
		return answer, c.trouble(s, err, noise, during)
	}
	if answer.Error != nil {
		return answer, &StartError{Command: c.name(), declined: true, Running: len(c.Args) == 0, What: "refused server/discover: " + shorten(answer.Error.String()),
			Hint: "does it speak " + session.StatelessVersion + "? --era handshake asks in the versions before that"}
	}
	if versions := answer.Result.Get("supportedVersions"); versions != nil && !slices.ContainsFunc(versions.Items, func(v *mutate.JSON) bool {
		text, _ := v.Str()
		return text == session.StatelessVersion
	}) {
		return answer, &StartError{Command: c.name(), Running: len(c.Args) == 0, declined: true,
			What: "does not support " + session.StatelessVersion + ", but " + shorten(versions.String()), Hint: "--era handshake asks in the versions before that"}
	}
	s.Uninitialized = false
	return answer, nil
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
