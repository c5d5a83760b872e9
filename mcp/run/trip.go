package run

import (
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// depart notes the exchange that a line has begun. A line that is no request with an answer due is awaited too,
// so that the next one does not overtake it on another connection.
func (k *talk) depart(exchange int64, step *script.Step) {
	if exchange == 0 {
		return
	}
	s := k.server
	x := trip{talk: k, sent: -1}
	if n := len(k.t.Sent); n > 0 && k.t.Sent[n-1].Place == s.sent {
		x.sent = n - 1
	}
	if f, ok := s.flights[s.IDs]; ok && f.talk == k && f.sent == x.sent && !f.answered {
		x.id = s.IDs
	} else if x.sent >= 0 && k.t.Sent[x.sent].Regular {
		x.id, _ = jsonrpc.IntegerID(k.t.Sent[x.sent].Message.ID)
	}
	if x.awaited = x.id == 0 && !step.NoWait; x.awaited {
		k.open++
	}
	s.trips[exchange] = x
	k.mem.trips = append(k.mem.trips, exchange)
}

// exchanged takes what came over HTTP. A message is given to whom it belongs; the end of an exchange is the end of waiting for its
// answer.
func (e *executor) exchanged(s *peer, f *conn.Frame, now time.Time) {
	x, ours := s.trips[f.Exchange]
	if !f.Last || !ours {
		if len(f.Body) > 0 && (f.Status < 300 || !ours) {
			e.dispatch(s, f.Body, now)
		}
		return
	}
	delete(s.trips, f.Exchange)
	k := x.talk
	if x.sent >= 0 {
		k.t.Sent[x.sent].Status = f.Status
	}
	s.reader.Reset()
	m := jsonrpc.ParseIn(s.reader, f.Body)
	switch pending := x.sent >= 0 && k.t.Sent[x.sent].Answer < 0 && x.awaits(); {
	case pending && m.ID != k.t.Sent[x.sent].Message.ID: // it answers the line all the same
		e.answer(s, k, x.sent, f.Body, m, false, now)
	case len(f.Body) > 0 && (f.Status < 300 || x.awaits()):
		e.dispatch(s, f.Body, now)
	}
	if x.sent >= 0 {
		if a := k.t.Sent[x.sent].Answer; a >= 0 && a < len(k.t.Received) {
			k.t.Received[a].Status = f.Status
		}
	}
	if f, ok := s.flights[x.id]; x.id != 0 && ok && f.talk == k && !f.answered {
		e.land(s, x.id, now)
	}
	if !x.awaited {
		return
	}
	if k.last = now; s.alone == nil || s.alone == k {
		s.heard = now
	}
	if k.open--; k.half != nil {
		k.half.open--
	}
}

// awaits reports whether the end of the exchange without a message is an answer, if one that says little.
func (x *trip) awaits() bool {
	m := &x.talk.t.Sent[x.sent].Message
	return m.Class != jsonrpc.ClassNotification && m.Class != jsonrpc.ClassResponse
}
