package run

import (
	"time"

	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mutate"
)

// A peer is a live server with what is known of the conversations with it.
type peer struct {
	*server.Server
	frames    []conn.Frame
	arrival                      // of the frame that is dealt with
	reader    *mutate.JSONParser // of the frame that was received last
	flights   map[int64]*flight  // by our ids
	exchanges map[int64]*flight  // over HTTP, by their numbers
	sent      int64              // lines of scripts
	beside    int64              // requests that are no lines of scripts: pings, and those of other clients of ours
	paced     int64              // of those, and of the handshake's, how many the limit of requests has counted
	aging     aging
	past      history.Ring // what was sent in scripts
	packed    []byte       // what was added to it last

	alone        *talk // that has the server for itself; nil: several have it
	unattributed bool  // something came that belongs to one of several, and nobody knows which

	open bool // the last thing that was sent has no newline
	condition
	active      time.Time // when the last line was sent or the last answer came that somebody waited for
	unrequested int       // bytes of what nobody has asked for, and something for each line, since the conversation began
	stderr      int64     // how much of it has been looked at
}

// arrival is when a frame came, and with what.
type arrival struct {
	at    time.Time
	in    *flight // whose exchange it belongs to; nil: nobody's
	event string  // the EventID
}

// condition is how a server fares.
type condition struct {
	broken    bool      // it does not take what is sent
	asleep    bool      // it was when it was looked at last, and nothing was sent since
	ended     bool      // the session is at its end, and the server is not
	maybeGone bool      // a response had no message, or did not come: the session, or the server, may be at its end
	refused   bool      // a ping was answered with a status, or its connection closed, and with no message
	noticed   time.Time // when it was seen to answer nothing, or to refuse everything
	refusal   string    // why a new client is refused, of one that refuses everything
}

// A flight is what is on its way and will be answered: a request or, over HTTP, any line, whose answer is the end of its exchange.
type flight struct {
	talk     *talk  // nil: it is a ping
	sent     int    // index in its transcript; -1: its transcript does not have it
	exchange int64  // over HTTP, that ends with its answer
	id       int64  // 0: it is no request with an id of ours
	event    string // the EventID that came last
	resumed  bool   // its stream ended before the answer came, and was asked for again
	answered bool
	awaited  bool // its talk does not go on without the answer
}

func newPeer(s *server.Server) *peer {
	return &peer{Server: s, reader: new(mutate.JSONParser), flights: make(map[int64]*flight), exchanges: make(map[int64]*flight)}
}

// Send queues a message, which wakes the server.
func (s *peer) Send(m conn.Message) (exchange int64) {
	s.asleep = false
	return s.Server.Send(m)
}

// lines returns how many lines the server was sent.
func (s *peer) lines() int { return int(s.sent + s.beside) }

// handshakeRequests is how many requests begin a session.
const handshakeRequests = 2

// uncounted returns how many requests that are no lines of scripts the server was sent since the last call.
func (s *peer) uncounted() int64 {
	n := handshakeRequests + s.beside - s.paced
	s.paced += n
	return n
}

// logged returns how much was written to standard error since the mark.
func (s *peer) logged() int {
	_, written := s.Stderr(s.Written())
	return max(0, int(written-s.stderr))
}

// sendPing sends a ping. An answer to it says that everything before it was read.
func (s *peer) sendPing() *flight {
	exchange := s.writePing()
	f := &flight{sent: -1, exchange: exchange, id: s.IDs}
	if s.flights[f.id] = f; exchange != 0 && !s.OverEvents() {
		s.exchanges[exchange] = f
	}
	return f
}

// endLine ends what was sent last, and reports whether that had no end.
func (s *peer) endLine() bool {
	open := s.open && !s.Closed
	if open {
		s.Send(conn.Message{})
		s.open = false
	}
	return open
}

// writePing queues a ping, whose id is the last that was given out.
func (s *peer) writePing() (exchange int64) {
	s.endLine()
	s.IDs++
	s.beside++
	return s.Send(s.Ping())
}

// canPing reports whether a ping may be sent: not before the session is initialized, nor after the end of the input.
func (s *peer) canPing() bool { return !s.Uninitialized && !s.Closed && !s.broken }
