package run

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// unrequestedLine is what an unwanted line counts for beside its bytes: to read one costs something.
const unrequestedLine = 256

// maxUnrequested is how much a server may write in one conversation without being asked.
const maxUnrequested = 8 << 20

// receive takes what has come by then, or as soon as something has, and gives it to whom it belongs. The error says that nothing
// more comes, and why.
func (e *executor) receive(ctx context.Context, s *peer, until time.Time) (err error) {
	before := s.Received()
	s.frames, err = s.Recv(ctx, until, s.frames[:0])
	e.read += int(s.Received() - before)
	now := time.Now()
	for i := range s.frames {
		if f := &s.frames[i]; f.Status == 0 {
			e.dispatch(s, f.Body, now)
		} else {
			e.exchanged(s, f, now)
		}
	}
	if s.unrequested > maxUnrequested {
		return conn.ErrFlood
	}
	return err
}

func (e *executor) dispatch(s *peer, raw []byte, now time.Time) {
	s.reader.Reset()
	m := jsonrpc.ParseIn(s.reader, raw)
	switch {
	case m.Class == jsonrpc.ClassResponse:
		e.response(s, raw, &m, now)
		return
	case m.Class == jsonrpc.ClassRequest:
		e.asked(s, raw, &m)
		return
	case m.IsNoise():
		e.noise(s, raw, &m, now)
		return
	case m.Method == "notifications/progress":
		if k := e.progressOf(s, &m); k != nil {
			e.more(s, k, raw, m, -1, false, now)
			return
		}
	}
	e.unclaimed(s, raw, &m)
}

// nodeBytes is about what a node of a tree takes, with its place in an array or an object.
const nodeBytes = 160

// deliver gives a talk the line that was just read, and the memory of its tree with it. When a call has kept as much as it may, no
// more than whose answer a long line is. What counts is the memory of texts and trees; one of whatever size is kept.
func (e *executor) deliver(s *peer, k *talk, raw []byte, m jsonrpc.Message, sent int, loose bool, now time.Time) int {
	before, weight := e.kept, 2*len(raw)+s.reader.Nodes()*nodeBytes
	if e.kept += weight; before > 0 && e.kept > maxKeptBytes && (len(raw) > script.MaxNoiseLine || e.kept > 4*maxKeptBytes) {
		e.kept = before + 2*len(m.ID)
		k.t.Cut = true
		return k.receive(nil, jsonrpc.Message{Class: m.Class, ID: strings.Clone(m.ID)}, sent, loose, now)
	}
	i := k.receive(raw, m, sent, loose, now)
	if i >= 0 {
		s.reader = k.keep(s.reader)
	}
	return i
}

// more gives a talk a line that it can do without. A server may say many of them, but not without end: what is no longer kept
// counts as if nobody had asked for it.
func (e *executor) more(s *peer, k *talk, raw []byte, m jsonrpc.Message, sent int, loose bool, now time.Time) {
	if e.deliver(s, k, raw, m, sent, loose, now) < 0 {
		s.unrequested += len(raw) + unrequestedLine
	}
}

// response gives an answer to the talk that has asked.
func (e *executor) response(s *peer, raw []byte, m *jsonrpc.Message, now time.Time) {
	id, exact := jsonrpc.IntegerID(m.ID)
	f := s.flights[id]
	if !exact && m.ID != "null" && !(s.alone != nil && s.alone.t.Asking(m.ID) >= 0) {
		id, _ = jsonrpc.LooseID(m.ID)
		f = s.flights[id]
	}
	if s.alone != nil && (f == nil || f.answered && f.talk == s.alone) {
		if i, loose := s.alone.t.Answers(m.ID); i >= 0 {
			e.answer(s, s.alone, i, raw, *m, loose, now)
			if n, _ := jsonrpc.IntegerID(s.alone.t.Sent[i].Message.ID); s.flights[n] != nil && s.flights[n].talk == s.alone { // by another way than its number
				s.complete(s.flights[n], now)
			}
			return
		}
	}
	switch {
	case f == nil && s.Gave(id), f == nil && s.alone != nil && s.Unanswered.Free(m.ID):
		s.unrequested += unrequestedLine // late, of somebody who has given up waiting; of the same answer there is no end
	case f == nil:
		e.unclaimed(s, raw, m)
	case f.answered:
		e.more(s, f.talk, raw, *m, f.sent, !exact, now)
	default:
		if f.sent >= 0 {
			e.answer(s, f.talk, f.sent, raw, *m, !exact, now)
		} else if f.talk != nil {
			f.talk.runs++
		}
		s.complete(f, now)
	}
}

// complete notes that what was on its way was answered.
func (s *peer) complete(f *flight, now time.Time) {
	if f.answered {
		return
	}
	k := f.talk
	if f.answered = true; f.sent < 0 {
		delete(s.flights, f.id)
	} else if k.t.Sent[f.sent].Regular {
		k.unanswered--
	}
	if k == nil || s.alone == nil || s.alone == k {
		s.active = now
	}
	if f.exchange != 0 {
		s.Release(f.exchange) // its response may stay open
	}
	if k == nil {
		return
	}
	if k.last = now; f.awaited {
		k.open--
	}
}

// noise is for a line that is no message. One in which the number of a request can be made out is an answer, if a bad one.
func (e *executor) noise(s *peer, raw []byte, m *jsonrpc.Message, now time.Time) {
	s.unrequested += len(raw) + unrequestedLine
	if id, ok := jsonrpc.SalvageID(raw); ok {
		if f := s.flights[id]; f != nil && f.sent >= 0 && !f.answered {
			m.ID = strconv.FormatInt(id, 10)
			e.response(s, raw, m, now)
			return
		}
	}
	if s.alone != nil {
		s.alone.t.AddNoise(raw)
		return
	}
	s.unattributed = e.novelty.IsNew("noise", string(raw[:min(len(raw), 64)])) || s.unattributed
}

// answer notes an answer to a line that a script has sent.
func (e *executor) answer(s *peer, k *talk, sent int, raw []byte, m jsonrpc.Message, loose bool, now time.Time) {
	a := &k.t.Sent[sent]
	if a.Answer >= 0 {
		if a.Again {
			s.Unanswered.Free(a.Message.ID)
		}
		e.more(s, k, raw, m, sent, loose, now)
		return
	}
	if a.Message.Class == jsonrpc.ClassRequest && !a.Regular {
		s.Unanswered.Free(a.Message.ID)
	}
	if a.Token != "" && !script.IsTask(a, &m) {
		s.FreeToken(a.Token)
	}
	if a.Answer = e.deliver(s, k, raw, m, sent, loose, now); a.Answer >= 0 && k == s.alone {
		k.t.Received[a.Answer].Starved = s.Heard()
		s.active, k.last = now, now
	}
	if s.Uninitialized && a.Message.Method == "initialize" && m.Result != nil {
		s.Uninitialized = false
	}
}

// unclaimed is for what belongs to no request. A script that has the server for itself must have caused it; of several one has,
// and it takes another look to know which.
func (e *executor) unclaimed(s *peer, raw []byte, m *jsonrpc.Message) {
	s.unrequested += len(raw) + unrequestedLine
	if s.alone == nil {
		if m.Method == session.AsksForRoots || m.Method == "notifications/message" { // servers do so by themselves, some time after they were started
			return
		}
		s.unattributed = e.novelty.IsNew("line", m.Method, m.Why, m.ID) || s.unattributed
		if m.Class == jsonrpc.ClassResponse {
			s.recheckOptional()
		}
		return
	}
	if (m.Class == jsonrpc.ClassRequest || m.Method == "notifications/message") && s.alone.isIdle() {
		return // what a server asks and logs by itself, some time after it was started, is not the script's doing
	}
	if m.Class == jsonrpc.ClassRequest && !e.isAsker(s, s.alone) {
		return
	}
	sent := -1
	if m.Class == jsonrpc.ClassBatch {
		sent = s.alone.t.UnansweredBatch()
	}
	if i := e.deliver(s, s.alone, raw, *m, sent, false, time.Now()); sent >= 0 {
		s.alone.t.Sent[sent].Answer = i
	}
}

// recheckOptional has those scripts run again by themselves that may have been answered by another id.
func (s *peer) recheckOptional() {
	for _, f := range s.flights {
		if f.sent >= 0 && !f.answered && !f.talk.t.Sent[f.sent].Regular {
			f.talk.recheck = true
		}
	}
}

// isIdle reports whether a script in a session that was there before waits for nothing: all that it has sent is answered.
func (k *talk) isIdle() bool {
	return k.in.Start == script.Shared && k.open <= 0 && k.unanswered <= 0 && k.expects() < 0
}

// progressOf returns whose progress a notification reports: the token is an id of ours where a script has "@id" for it.
func (e *executor) progressOf(s *peer, m *jsonrpc.Message) *talk {
	token := m.Params.Get("progressToken")
	if token == nil {
		return nil
	}
	id, ours := s.OurID(token)
	if !ours {
		return nil
	}
	if f, ok := s.flights[id]; ok {
		return f.talk
	}
	for _, talks := range [][]*talk{e.talks, e.in(suspended)} { // an id that is no request's
		for _, k := range talks {
			if k.server == s && slices.Contains(k.mem.given, id) {
				return k
			}
		}
	}
	return nil
}

// expects returns the first line other than a regular request that an answer may come to; -1: there is none.
func (k *talk) expects() int {
	for i := range k.t.Sent {
		s := &k.t.Sent[i]
		request := s.Message.Class == jsonrpc.ClassRequest
		if !s.Regular && s.Answer < 0 && (request && !(k.ownID(s) && k.plan[s.Step].regular) || !request && s.WantsAnswer()) {
			return i
		}
	}
	return -1
}

// ownID reports whether the request carries a number of ours: it was cancelled, or the session is not initialized.
func (k *talk) ownID(s *script.Sent) bool {
	n, ok := jsonrpc.IntegerID(s.Message.ID)
	return ok && n > server.FirstID
}

// withdraw takes back that answers are due to the requests which a message takes back: none may come.
func (k *talk) withdraw(m *jsonrpc.Message) {
	for _, id := range m.Withdrawn() {
		for i := range k.t.Sent {
			s := &k.t.Sent[i]
			if s.Answer >= 0 || !s.Message.Root.Get("id").Equal(id) { // as a string it is another id
				continue
			}
			if s.Withdrawn = true; s.Regular {
				k.release(s)
				k.unsure = !k.alone
			}
		}
	}
}
