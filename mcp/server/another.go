package server

import (
	"context"
	"errors"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// ClientRequests is how many requests [Command.Refuses] makes: initialize, its notification, a GET and a DELETE.
const ClientRequests = 4

// EndSession ends a session other than that of the connection, and waits for nothing. Over standard input and output there is none.
func (s *Server) EndSession(id string) {
	if s.http != nil && id != "" && id != s.http.Session() {
		s.Release(s.Send(conn.Message{Head: "DELETE\nMcp-Session-Id: " + headerValue(id), Apart: true}))
	}
}

// Refuses asks a server over HTTP for another session, on connections of its own, and returns why it gets none; nil: it gets one, or
// is declined with a message or a status that says that it should come later, or with other credentials.
// The server is as it was afterwards, but for what it keeps of sessions that have ended.
func (c *Command) Refuses(ctx context.Context, s *Server) (why *StartError, err error) {
	quick, reached := *c, s.reached
	quick.StartTimeout, reached.Start = c.timeout(), 0
	other := newServer()
	other.settled = true
	other.reach(reached)
	defer other.Close()
	_, err = quick.Initialize(ctx, other)
	if !errors.As(err, &why) {
		return nil, err
	}
	if why.Declined() {
		return nil, nil
	}
	return why, nil
}
