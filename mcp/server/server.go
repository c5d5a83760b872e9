package server

import (
	"context"
	"errors"
	"time"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// FirstID is where the ids of a server begin: far from the small numbers that scripts make up, and with as many digits as any
// id of a session will have.
const FirstID = 1_000_000

// stopTime is how long a server may take to end when its input or its output has ended, before it is killed.
const stopTime = 2 * time.Second

// A Server is one live server: a connection, and the process behind it where that is ours. One goroutine uses it.
type Server struct {
	conn.Conn
	IDs           int64 // the id that was given out last
	Uninitialized bool  // the session is not initialized
	Closed        bool  // nothing more is sent
	Unanswered    Unanswered
	Client        session.Client
	// Mirrors are those of the server's tools, by name; nil: there are none, or nobody has asked yet.
	Mirrors map[string][]session.Mirror
	tokens  map[string]int // progress tokens of requests that have no answer, as JSON, and how many have them

	frames       []conn.Frame
	http         *conn.HTTP      // nil: over standard input and output
	reached      conn.HTTPConfig // with http
	answered     int             // HTTP status of the answer to the last call; 0: there is none
	settled      bool            // how it is reached is known, so that no other transport is tried
	stateless    bool            // requests stand by themselves
	undiscovered bool            // with stateless: it has no server/discover
	ping         []byte          // the line that [Server.Ping] sends
	pinged       jsonrpc.Message // that line
	proc         *proc.Process   // nil: the process is not ours
	home         *isolation.Home // what the process has for itself
	quiet        *proc.Quiet     // nil with proc
	watch        watch
}

// start starts a process and sends it nothing.
func start(c proc.Command) (*Server, error) {
	p, err := proc.Start(c)
	if err != nil {
		return nil, err
	}
	link, err := conn.NewStdio(p.Stdin, p.Stdout, p.Running)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	q := proc.NewQuiet(p.PID())
	q.Horizon = WaitTime
	s := newServer()
	s.Conn, s.proc, s.quiet = link, p, q
	return s, nil
}

// newServer returns a server that was not reached yet.
func newServer() *Server {
	s := &Server{IDs: FirstID, Uninitialized: true, Unanswered: make(Unanswered)}
	s.setPing([]byte(session.PingLine))
	return s
}

// Gave reports whether the number is an id that was given out.
func (s *Server) Gave(id int64) bool { return id > FirstID && id <= s.IDs }

// The ways in which a call can fail that are the server's.
var (
	errEnded  = errors.New("the server has ended")
	errSilent = errors.New("the server does not answer")
)

// callError says what an error of the connection means.
func callError(err error) error {
	switch {
	case errors.Is(err, conn.ErrBlocked):
		return errSilent
	case errors.Is(err, conn.ErrBroken), errors.Is(err, conn.ErrRefused), errors.Is(err, conn.ErrFlood), errors.Is(err, conn.ErrLocal), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return errEnded
}

// declinedTries is how often a request is made that is declined with 401 or 403: behind one address there may be servers of which one does not
// know the credentials.
const declinedTries = 3

// call sends a request and waits for its answer. What else comes is answered or dropped; noise is the first line that was no
// message. It is for what happens before the campaign.
func (s *Server) call(ctx context.Context, line []byte, patience time.Duration) (answer jsonrpc.Message, noise []byte, err error) {
	for range declinedTries {
		if answer, noise, err = s.callOnce(ctx, line, patience); !isDeclined(err) {
			break
		}
	}
	return answer, noise, err
}

func (s *Server) callOnce(ctx context.Context, line []byte, patience time.Duration) (answer jsonrpc.Message, noise []byte, err error) {
	x := script.Expansion{Transcript: new(script.Transcript), IDs: &s.IDs}
	raw := x.Append(nil, line)
	if s.stateless {
		raw = session.Stamp(raw)
	}
	m := jsonrpc.Parse(raw)
	message := s.Message(raw, &m)
	message.Fresh = true // the server may be about to close what was used before
	exchange := s.Send(message)
	id := s.IDs
	if err := s.Flush(ctx, patience); err != nil {
		return answer, nil, callError(err)
	}
	deadline := time.Now().Add(patience)
	noisy := 0
	for time.Now().Before(deadline) {
		frames, end := s.Recv(ctx, deadline, s.frames[:0])
		s.frames = frames
		for _, f := range frames {
			m := jsonrpc.Parse(f.Body)
			echo := m.Class == jsonrpc.ClassRequest && m.Method == "initialize" // our own, from something like cat
			switch {
			case m.Class == jsonrpc.ClassRequest && !echo:
				s.Release(s.Send(conn.Message{Body: s.Client.Reply(&m), Apart: true}))
				if err := s.Flush(ctx, max(time.Until(deadline), 0)); ctx.Err() != nil || errors.Is(err, conn.ErrBlocked) {
					return answer, noise, callError(err)
				}
			case m.Class == jsonrpc.ClassResponse && jsonrpc.AnswersLoosely(m.ID, id):
				s.Release(exchange)
				s.answered = f.Status
				return m, noise, nil
			case m.IsNoise() || echo:
				if noisy += len(f.Body) + 1; noise == nil {
					noise = append([]byte{}, f.Body...)
					// A banner may come before the server is there; it need not be waited for so long.
					if early := time.Now().Add(max(patience/3, time.Second)); early.Before(deadline) {
						deadline = early
					}
				}
			}
			if f.Last && exchange != 0 && f.Exchange == exchange {
				return answer, noise, &statusError{status: f.Status, body: append([]byte{}, f.Body...), location: f.Header.Get("Location"), err: f.Err}
			}
		}
		switch {
		case noisy > 1<<20:
			return answer, noise, conn.ErrFlood
		case end != nil:
			return answer, noise, callError(end)
		}
	}
	return answer, noise, errSilent
}

// End ends the server and says how it ended. One that has closed its output by itself is given time to end by itself.
func (s *Server) End(itself bool) script.End {
	end := script.End{EOF: s.Closed}
	if s.proc == nil {
		s.Close()
		if end.Kind = script.EndKilled; itself {
			end.Kind = script.EndGone
		}
		return end
	}
	if itself {
		timer := time.NewTimer(stopTime)
		select {
		case <-s.proc.Ended():
		case <-timer.C:
			end.Closed = true
		}
		timer.Stop()
	}
	s.Close()
	end.Stderr, _ = s.proc.Stderr(0)
	switch st := s.proc.State(); {
	case st.Aborted:
		end.Kind = script.EndKilled
	case st.Signal != 0:
		end.Kind, end.Signal = script.EndSignalled, st.Signal.String()
	default:
		end.Kind, end.Code = script.EndExited, st.Code
	}
	return end
}

// Stop asks the server to end, waits for that, but not for long, and leaves nothing of it.
func (s *Server) Stop() error {
	if s.proc != nil && s.http == nil { // over HTTP nothing tells it to
		s.proc.Stop(stopTime)
	}
	return s.Close()
}

// Close leaves nothing of the server.
func (s *Server) Close() error {
	if s.quiet != nil {
		s.quiet.Close()
	}
	if s.proc == nil {
		return errors.Join(s.CloseSend(), s.Conn.Close())
	}
	var err error
	if s.http != nil {
		err = s.http.Close()
	}
	return errors.Join(err, s.proc.Close(), s.home.Close()) // and what is behind the connection with it
}
