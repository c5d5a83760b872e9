package run

import (
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// pull takes what has come, gives it to whom it belongs and says how many lines it was. The error says that nothing
// more will come, and why.
func (e *executor) pull(r *round) (n int, end error) {
	s := r.server
	end = s.Inbox.Take(&s.got)
	if n = s.got.Len(); n == 0 {
		return 0, end
	}
	e.read += len(s.got.Text)
	now := time.Now()
	for i := range n {
		e.receive(r, s.got.At(i), now)
		if r.excess > maxExcess {
			return n, conn.ErrFlood
		}
	}
	return n, end
}

func (e *executor) receive(r *round, raw []byte, now time.Time) {
	e.reader.Reset()
	m := jsonrpc.ParseIn(e.reader, raw)
	switch {
	case m.Class == jsonrpc.ClassResponse:
		e.response(r, raw, &m, now)
		return
	case m.Class == jsonrpc.ClassRequest:
		r.server.out = jsonrpc.AppendReply(r.server.out, &m)
	case isNoise(&m):
		e.noise(r, raw, &m, now)
		return
	case m.Method == "notifications/progress":
		if l, i := e.progressOf(r, &m); l != nil {
			e.more(r, l, raw, m, i, false, now)
			return
		}
	}
	e.unclaimed(r, raw, &m, now)
}

// hear gives a lane the line that was just read, and the memory of its tree with it. When a call has kept as much as it
// may, no more than whose answer a long line is.
func (e *executor) hear(l *lane, raw []byte, m jsonrpc.Message, sent int, loose bool, now time.Time) int {
	if e.kept += len(raw); e.kept > maxKeptBytes && (len(raw) > script.MaxNoiseLine || e.kept > 4*maxKeptBytes) {
		l.t.Cut = true
		return l.hear(nil, jsonrpc.Message{Class: m.Class, ID: strings.Clone(m.ID)}, sent, loose, now)
	}
	i := l.hear(raw, m, sent, loose, now)
	if i >= 0 {
		e.reader = l.keep(e.reader)
	}
	return i
}

// more gives a lane a line that it can do without. A server may say many of them, but not without end: what is no longer kept
// counts as if nobody had asked for it.
func (e *executor) more(r *round, l *lane, raw []byte, m jsonrpc.Message, sent int, loose bool, now time.Time) {
	if e.hear(l, raw, m, sent, loose, now) < 0 {
		r.excess += len(raw) + excessLine
	}
}

// response gives an answer to the script that has asked.
func (e *executor) response(r *round, raw []byte, m *jsonrpc.Message, now time.Time) {
	s := r.server
	id, exact := jsonrpc.IntegerID(m.ID)
	if exact && id == r.ping {
		r.heard, r.asked = true, now
		return
	}
	f, ok := s.flights[id]
	if !exact && m.ID != "null" && !(r.alone != nil && r.alone.t.Asking(m.ID) >= 0) {
		if id, ok = jsonrpc.LooseID(m.ID); ok {
			f, ok = s.flights[id]
		}
	}
	if r.alone != nil && (!ok || f.answered && f.lane == r.alone) {
		if i, loose := r.alone.t.Answers(m.ID); i >= 0 {
			e.answer(r, r.alone, i, raw, *m, loose, now)
			e.land(r, r.alone, i, now)
			return
		}
	}
	switch {
	case !ok && s.ours(id): // of somebody who has given up waiting, or to a line that hides its id
		r.excess += excessLine // all that was asked for may come late; of the same answer there is no end
		l := e.holder(s, id)
		r.loose = r.loose || l != nil && l.guest
	case !ok && r.alone != nil && s.owed.free(m.ID): // late, to a script that has ended
		r.excess += excessLine
	case !ok:
		e.unclaimed(r, raw, m, now)
	case f.answered || f.sent < 0:
		if f.sent >= 0 {
			e.more(r, f.lane, raw, *m, f.sent, !exact, now)
			return
		}
		delete(s.flights, id)
		f.lane.answered++
		e.settle(r, f.lane, f.blocking, now)
	default:
		f.answered = true
		s.flights[id] = f
		e.answer(r, f.lane, f.sent, raw, *m, !exact, now)
		if f.lane.t.Sent[f.sent].Regular {
			f.lane.owed--
		} else if f.blocking && f.lane.group != nil {
			f.lane.group.odd--
		}
		e.settle(r, f.lane, f.blocking, now)
	}
}

// land is for an answer that came to a request by another way than by its number.
func (e *executor) land(r *round, l *lane, sent int, now time.Time) {
	id, _ := jsonrpc.IntegerID(l.t.Sent[sent].Message.ID)
	f, ok := r.server.flights[id]
	if !ok || f.lane != l || f.answered {
		return
	}
	f.answered = true
	r.server.flights[id] = f
	if l.t.Sent[sent].Regular {
		l.owed--
	}
	e.settle(r, l, f.blocking, now)
}

// noise is for a line that is no message. One in which the number of a request can be made out is an answer, if a
// bad one.
func (e *executor) noise(r *round, raw []byte, m *jsonrpc.Message, now time.Time) {
	r.excess += len(raw) + excessLine
	if id, ok := jsonrpc.SalvageID(raw); ok {
		if f, ok := r.server.flights[id]; ok && f.sent >= 0 && !f.answered {
			m.ID = strconv.FormatInt(id, 10)
			e.response(r, raw, m, now)
			return
		}
	}
	if r.alone != nil {
		r.alone.t.HearNoise(raw)
		return
	}
	r.loose = true
	r.stray = e.strange("noise", string(raw[:min(len(raw), 64)])) || r.stray
}

// excessLine is what an unwanted line counts for beside its bytes: to read one costs something.
const excessLine = 256

// answer notes an answer to a line that a script has sent.
func (e *executor) answer(r *round, l *lane, sent int, raw []byte, m jsonrpc.Message, loose bool, now time.Time) {
	s := &l.t.Sent[sent]
	if s.Answer >= 0 {
		if s.Again {
			r.server.owed.free(s.Message.ID)
		}
		e.more(r, l, raw, m, sent, loose, now)
		return
	}
	if s.Message.Class == jsonrpc.ClassRequest && !s.Regular {
		r.server.owed.free(s.Message.ID)
	}
	if s.Token != "" && !script.IsTask(s, &m) {
		r.server.freeToken(s.Token)
	}
	if s.Answer = e.hear(l, raw, m, sent, loose, now); s.Answer >= 0 && l == r.alone {
		l.t.Received[s.Answer].Starved = r.starvation(now)
	}
	r.arrived(l, now)
	if r.mute && s.Message.Method == "initialize" && m.Result != nil {
		r.mute = false
	}
}

// arrived notes that an answer has come. One to a script that was set aside says nothing about the one that has the server
// for itself.
func (r *round) arrived(l *lane, now time.Time) {
	l.last = now
	if r.alone == nil || r.alone == l {
		r.late = now
	}
}

// settle tells the group that something it waits for has come.
func (e *executor) settle(r *round, l *lane, blocking bool, now time.Time) {
	r.arrived(l, now)
	switch {
	case l.parked:
		e.returned(l)
	case blocking && l.group != nil:
		l.group.open--
	}
}

// unclaimed is for what belongs to no request. A script that has the server for itself must have caused it; of
// several one has, and it takes another look to know which.
func (e *executor) unclaimed(r *round, raw []byte, m *jsonrpc.Message, now time.Time) {
	r.excess += len(raw) + excessLine
	if r.alone == nil {
		r.loose = r.loose || m.Class != jsonrpc.ClassNotification
		r.stray = e.strange("line", m.Method, m.Why, m.ID) || r.stray
		return
	}
	sent := -1
	if m.Class == jsonrpc.ClassBatch {
		sent = r.alone.batch()
	}
	if i := e.hear(r.alone, raw, *m, sent, false, now); sent >= 0 {
		r.alone.t.Sent[sent].Answer = i
	}
}

// progressOf returns whose progress a notification tells, and of which line: the token is an id of ours where a
// script has "@id" for it.
func (e *executor) progressOf(r *round, m *jsonrpc.Message) (*lane, int) {
	token := m.Params.Get("progressToken")
	if token == nil {
		return nil, -1
	}
	id, ours := r.server.ourID(token)
	if !ours {
		return nil, -1
	}
	if f, ok := r.server.flights[id]; ok {
		return f.lane, -1
	}
	return e.holder(r.server, id), -1
}

// batch returns the first unanswered batch; -1: there is none.
func (l *lane) batch() int {
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Answer < 0 && s.Message.Class == jsonrpc.ClassBatch {
			return i
		}
	}
	return -1
}

// expects returns the first line other than a regular request that an answer may come to; -1: there is none.
func (l *lane) expects() int {
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; !s.Regular && s.Answer < 0 && s.WantsAnswer() && s.Message.Class != jsonrpc.ClassRequest {
			return i
		}
		if s := &l.t.Sent[i]; !s.Regular && s.Answer < 0 && s.Message.Class == jsonrpc.ClassRequest && (!l.ownID(s) || !l.plan[s.Step].regular) {
			return i
		}
	}
	return -1
}

// ownID reports whether the request carries a number of ours: it was cancelled, or the session is not initialized.
func (l *lane) ownID(s *script.Sent) bool {
	n, ok := jsonrpc.IntegerID(s.Message.ID)
	return ok && n > firstID
}
