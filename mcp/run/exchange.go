package run

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// noteExchange notes the exchange that a line has begun. A line that is no request with an answer due is awaited too,
// so that the next one does not overtake it on another connection, unless there is but one, and answers come on a stream.
func (k *talk) noteExchange(id int64, step *script.Step) {
	if id == 0 {
		return
	}
	s, sent, request := k.server, -1, k.server.IDs
	if n := len(k.t.Sent); n > 0 && k.t.Sent[n-1].Place == s.sent {
		sent = n - 1
		if n, ok := jsonrpc.IntegerID(k.t.Sent[sent].Message.ID); ok {
			request = n
		}
	}
	k.mem.exchanges = append(k.mem.exchanges, id)
	f := s.flights[request]
	own := f != nil && f.talk == k && f.sent == sent
	switch {
	case s.OverEvents() && own:
		f.exchange = id
		return
	case s.OverEvents():
		return
	case !own:
		if f = (&flight{talk: k, sent: sent, awaited: !step.NoWait}); f.awaited {
			k.open++
		}
	}
	s.exchanges[id], f.exchange = f, id
}

// exchanged takes what came over HTTP. A message is given to whom it belongs; the end of an exchange is the end of waiting for its
// answer.
func (e *executor) exchanged(s *peer, f *conn.Frame) {
	x := s.exchanges[f.Exchange]
	s.arrival.in = x
	if x != nil && x.sent >= 0 {
		a := &x.talk.t.Sent[x.sent]
		if a.Status == 0 || a.Answer < 0 && (!x.resumed || f.Status < 0) { // how the connection ends afterwards matters to nobody
			a.Status = f.Status
		}
		if f.Header != nil && !x.resumed {
			a.Header = f.Header
		}
		x.event = cmp.Or(f.EventID, x.event)
		if a.EventID == "" {
			a.EventID = f.EventID
		}
		x.talk.recheck = x.talk.recheck || f.Status == conn.MaybeUnread // alone it has new connections

		if !f.Wrote.IsZero() && !x.resumed { // it may have waited for a connection
			a.At = max(f.Wrote.Sub(x.talk.began), a.At)
		}
	}
	if f.Last && e.resumeStream(s, f, x) {
		delete(s.exchanges, f.Exchange)
		return
	}
	e.content(s, f, x)
	switch {
	case x == nil || !f.Last:
		return
	case x.talk == nil && !x.answered && f.Status > 0 && f.Status < http.StatusMultipleChoices && len(f.Body) == 0:
		s.ended = true
	case x.talk != nil:
		s.complete(x)
	case !x.answered: // it listens
		s.refused = true
		s.complete(x)
	}
	delete(s.exchanges, f.Exchange)
}

// resumeStream asks for the rest of a stream that has ended before the answer came, and reports whether it has: from 2025-11-25 on a server
// may close it after any event that has an id. One that ends again, or is refused, has no answer.
func (e *executor) resumeStream(s *peer, f *conn.Frame, x *flight) bool {
	switch {
	case x == nil || x.sent < 0:
		return false
	case x.resumed:
		if f.Status >= http.StatusMultipleChoices { // what is said of the GET is no answer to the request
			f.Status, f.Body = http.StatusNoContent, nil
		}
		return false
	}
	k := x.talk
	if a := &k.t.Sent[x.sent]; x.event == "" || !a.Regular || a.Answer >= 0 || len(f.Body) > 0 || k.t.Head(a) != "" || e.session.Stateless {
		return false
	}
	x.resumed = true
	exchange := s.Send(conn.Message{Head: "GET\nLast-Event-ID: " + x.event, Apart: true})
	s.exchanges[exchange], x.exchange = x, exchange
	k.mem.exchanges = append(k.mem.exchanges, exchange)
	return true
}

// expired reports whether a response says that the session of the request with an id is no more: 404, unless it has the answer to that
// request, which does not speak of sessions. Then it is the method that was not found, or what was asked for.
func expired(f *conn.Frame, m *jsonrpc.Message, id string) bool {
	answered := m.Class == jsonrpc.ClassResponse && m.ID == id && !bytes.Contains(bytes.ToLower(f.Body), []byte("session"))
	return f.Status == http.StatusNotFound && !answered
}

// endSessions ends the sessions that a script has begun and not ended: a server keeps what belongs to a session until the client ends it.
func (s *peer) endSessions(k *talk) {
	if !s.OverHTTP() || k.in.Start == script.Fresh && len(k.e.target.Args) > 0 { // the process is ended
		return
	}
	for i := range k.t.Sent {
		begun := &k.t.Sent[i]
		if begun.Message.Method != "initialize" || begun.Status/100 != 2 {
			continue
		}
		head, id := conn.ParseHead(k.t.Head(begun)), begun.Header.Get("Mcp-Session-Id")
		if said, _ := head.Get("Mcp-Session-Id"); id == said || k.hasEnded(begun) { // the former may be anybody's, whose id was guessed
			continue
		}
		s.asleep = false
		s.EndSession(id)
	}
}

// hasEnded reports whether the script has ended the session that a line has begun.
func (k *talk) hasEnded(begun *script.Sent) bool {
	id := fmt.Sprintf("@{%d:Mcp-Session-Id}", begun.Step)
	return slices.ContainsFunc(k.t.Sent, func(s script.Sent) bool {
		head := conn.ParseHead(k.t.Head(&s))
		of, _ := head.Get("Mcp-Session-Id")
		return head.Method == "DELETE" && of == id && s.Status/100 == 2
	})
}

// retract takes back that a response without a message, or with a part of one, is an answer: it was the server's end.
func (k *talk) retract() {
	for i := range k.t.Sent {
		s := &k.t.Sent[i]
		if !s.Broken {
			continue
		}
		if s.Answer >= 0 && s.Status < http.StatusMultipleChoices { // it was cut, and is not what the server meant to say
			r := &k.t.Received[s.Answer]
			r.Raw, r.Message = nil, jsonrpc.Parse(nil)
		}
		s.Answer = -1
	}
}

// isBroken reports whether the last frame of an exchange casts doubt on the server: there is no message in it, though one is due, or not all
// of one. A head of its own may lead to many a status.
func (k *talk) isBroken(f *conn.Frame, m *jsonrpc.Message, s *script.Sent) bool {
	switch cut := k.in.Steps[s.Step].Close; {
	case f.Err != nil:
		return !cut
	case !f.Last || s.Answer >= 0 || m.Class == jsonrpc.ClassResponse:
		return false
	case f.Status < http.StatusInternalServerError:
		return s.Regular && k.t.Head(s) == ""
	}
	return true
}

// content gives what a frame has to whom it belongs. The exchange says it where a message does not; one that ends without a message is
// answered all the same. What a server says to a message that needs no answer, and that it does not accept, is nobody's.
func (e *executor) content(s *peer, f *conn.Frame, x *flight) {
	r := s.read(f.Body)
	m := &r.Message
	if x != nil && x.sent >= 0 {
		a := &x.talk.t.Sent[x.sent]
		s.ended = s.ended || a.Regular && e.session.HasID && expired(f, m, a.Message.ID)
		a.Broken = a.Broken || x.talk.isBroken(f, m, a)
		s.maybeGone = s.maybeGone || s.ended || a.Broken
		needless := a.Message.Class == jsonrpc.ClassNotification || a.Message.Class == jsonrpc.ClassResponse
		switch direct := f.Last || m.Class == jsonrpc.ClassResponse || m.Class == jsonrpc.ClassBatch; {
		case direct && !needless && a.Answer < 0 && (x.id == 0 || m.ID != a.Message.ID):
			r.Sent = x.sent
			e.answer(s, x.talk, &r)
			return
		case needless && f.Status >= 300:
			return
		}
	}
	if x != nil && x.talk == nil && m.IsNoise() { // what a ping is refused with is no script's doing
		return
	}
	if len(f.Body) > 0 && (x != nil || !f.Last) { // else nobody waits for it any more
		e.dispatch(s, f.Body)
	}
}
