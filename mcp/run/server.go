package run

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// firstID is where the ids of a process begin: far from the small numbers that scripts make up, and with as many
// digits as any id of a session will have.
const firstID = 1_000_000

// flight is a request on its way.
type flight struct {
	lane     *lane // nil: nobody's any more
	sent     int   // index in its transcript
	answered bool
	blocking bool // its group waits for it
}

// server is one process with what belongs to its life.
type server struct {
	*conn.Transport
	got     conn.Lines // taken out of the inbox last
	ids     int64      // the last that was given out
	lines   int64      // that it was sent in scripts
	flights map[int64]flight
	past    script.History
	tokens  map[string]int // progress tokens of requests that have no answer, as JSON, and how many have them
	owed    owed
	stderr  int64           // how much of it has been looked at
	topics  []topic         // of what it was asked as good as fresh
	stuck   map[*record]int // requests that it has never answered
	born    time.Time
	looked  time.Time // when it was last looked at whether it was at rest
	rests   int       // times in a row that it was

	out     []byte // what is said to it: since the call began, or it did
	before  []byte // what was said to it in the call before
	written int    // how much of it was written
	keep    int    // how much of it is looked at later
	closing bool   // standard input is to be closed behind it
}

// maxKeptOut is how large a buffer is kept for the next call.
const maxKeptOut = 4 << 20

// rewind begins a new call: what was written in the one before is kept, in the one before that forgotten. Answers to requests
// of the server that were not written yet are taken along.
func (s *server) rewind() {
	if cap(s.before) > maxKeptOut {
		s.before = nil
	}
	s.out, s.before, s.written, s.keep = append(s.before[:0], s.out[s.written:]...), s.out, 0, 0
}

func launch(c proc.Command) (*server, error) {
	t, err := conn.Dial(c)
	if err != nil {
		return nil, err
	}
	return &server{Transport: t, ids: firstID, flights: make(map[int64]flight), owed: make(owed), born: time.Now()}, nil
}

// ours reports whether the number is an id that we have given out.
func (s *server) ours(id int64) bool { return id > firstID && id <= s.ids }

// The ways in which a call can fail that are the server's.
var (
	errEnded  = errors.New("the server has ended")
	errSilent = errors.New("the server does not answer")
	errBroken = errors.New("the server has closed its standard input")
)

// busy reports whether the server has work to do, with a processor to do it on or without.
func (s *server) busy() bool {
	running, _ := s.Proc.Threads()
	return running > 0
}

// call sends a request of ours and waits for its answer. What else comes is answered or dropped; noise is the first
// line that was no message. It is for what happens before and beside the campaign.
func (s *server) call(ctx context.Context, line []byte, patience time.Duration) (answer jsonrpc.Message, noise []byte, err error) {
	x := script.Expansion{Transcript: new(script.Transcript), IDs: &s.ids}
	out := append(x.Append(nil, line), '\n')
	id := s.ids
	if _, err := s.Write(ctx, out, patience); err != nil {
		return answer, nil, s.writeError(err)
	}
	deadline := time.Now().Add(patience)
	noisy := 0
	for {
		end := s.Inbox.Take(&s.got)
		for i := range s.got.Len() {
			raw := s.got.At(i)
			m := jsonrpc.Parse(raw)
			echo := m.Class == jsonrpc.ClassRequest && m.Method == "initialize" // our own, from something like cat
			switch {
			case m.Class == jsonrpc.ClassRequest && !echo:
				if err := s.reply(ctx, &m, deadline); err != nil {
					return answer, noise, err
				}
			case m.Class == jsonrpc.ClassResponse && jsonrpc.AnswersLoosely(m.ID, id):
				return m, noise, nil
			case isNoise(&m) || echo:
				if noisy += len(raw) + 1; noise == nil {
					noise = append([]byte{}, raw...)
					// A banner may come before the server is there; it need not be waited for so long.
					if early := time.Now().Add(max(patience/3, time.Second)); early.Before(deadline) {
						deadline = early
					}
				}
			}
		}
		switch {
		case errors.Is(end, conn.ErrFlood) || noisy > 1<<20:
			return answer, noise, conn.ErrFlood
		case end != nil:
			return answer, noise, errEnded
		}
		left := time.Until(deadline)
		if left <= 0 {
			return answer, noise, errSilent
		}
		s.Inbox.Expect(1)
		if err := s.Wait(ctx, left); err != nil {
			return answer, noise, s.writeError(err)
		}
	}
}

// reply answers a request of the server's. One that does not read may go on asking for ever. One that has closed its input
// may have said before what we wait for.
func (s *server) reply(ctx context.Context, m *jsonrpc.Message, deadline time.Time) error {
	_, err := s.Write(ctx, jsonrpc.AppendReply(nil, m), max(time.Until(deadline), 0))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, conn.ErrBlocked) {
		return errSilent
	}
	return nil
}

// writeError says what an error of the pipes means.
func (s *server) writeError(err error) error {
	switch {
	case errors.Is(err, conn.ErrBlocked):
		return errSilent
	case errors.Is(err, syscall.EPIPE):
		return errBroken
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return errEnded
}

// isNoise reports whether a line is no message at all. An object or an array that is none is judged as a message.
func isNoise(m *jsonrpc.Message) bool {
	return m.Class == jsonrpc.ClassInvalid && (m.Root == nil || m.Root.Kind != mutate.Object)
}
