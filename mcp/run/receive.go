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
	"github.com/teaselfuzz/teasel/mutate"
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
		f := &s.frames[i]
		s.arrival = arrival{at: now, event: f.EventID}
		if f.Status == 0 {
			e.dispatch(s, f.Body)
		} else {
			e.exchanged(s, f)
		}
	}
	if s.unrequested > maxUnrequested {
		return conn.ErrFlood
	}
	return err
}

// read reads a line, whose tree is in the memory of s.reader.
func (s *peer) read(line []byte) script.Received {
	s.reader.Reset()
	return script.Received{Raw: line, Message: jsonrpc.ParseIn(s.reader, line), Sent: -1}
}

func (e *executor) dispatch(s *peer, line []byte) {
	r := s.read(line)
	switch m := &r.Message; {
	case m.Class == jsonrpc.ClassResponse:
		e.response(s, &r)
		return
	case m.Class == jsonrpc.ClassRequest:
		e.asked(s, &r)
		return
	case m.IsNoise():
		e.noise(s, &r)
		return
	case m.Method == "notifications/progress":
		if k := e.progressOf(s, m); k != nil {
			e.more(s, k, &r)
			return
		}
	}
	e.unclaimed(s, &r)
}

// nodeBytes is about what a node of a tree takes, with its place in an array or an object.
const nodeBytes = 160

// deliver gives a talk the line that was just read, and the memory of its tree with it. When a call has kept as much as it may, no
// more than whose answer a long line is. What counts is the memory of texts and trees; one of whatever size is kept.
func (e *executor) deliver(s *peer, k *talk, r *script.Received) int {
	before, weight := e.kept, 2*len(r.Raw)+s.reader.Nodes()*nodeBytes
	if e.kept += weight; before > 0 && e.kept > maxKeptBytes && (len(r.Raw) > script.MaxNoiseLine || e.kept > 4*maxKeptBytes) {
		e.kept = before + 2*len(r.Message.ID)
		k.t.Cut = true
		return k.receive(script.Received{Message: jsonrpc.Message{Class: r.Message.Class, ID: strings.Clone(r.Message.ID)}, Sent: r.Sent, Loose: r.Loose})
	}
	i := k.receive(*r)
	if i >= 0 {
		s.reader = k.keep(s.reader)
	}
	return i
}

// receive adds a line that belongs to the talk, and returns its place. Of very many only the first are kept, and first answers: -1
// is for the rest.
func (k *talk) receive(r script.Received) int {
	if first := r.Sent >= 0 && k.t.Sent[r.Sent].Answer < 0; !first && len(k.t.Received) >= 4*maxKept {
		return -1
	}
	at, came := len(k.mem.received), &k.server.arrival
	k.mem.received = append(k.mem.received, r.Raw...)
	r.Raw, r.At = k.mem.received[at:len(k.mem.received):len(k.mem.received)], came.at.Sub(k.began)
	if x := came.in; x != nil && x.talk == k && x.sent >= 0 {
		r.Via, r.EventID = x.sent+1, came.event
	}
	k.t.Received = append(k.t.Received, r)
	return len(k.t.Received) - 1
}

// keep gives the talk the memory of what has just been read, for some that it has no more use for.
func (k *talk) keep(read *mutate.JSONParser) (idle *mutate.JSONParser) {
	if k.mem.used == len(k.mem.readers) {
		k.mem.readers = append(k.mem.readers, new(mutate.JSONParser))
	}
	idle, k.mem.readers[k.mem.used] = k.mem.readers[k.mem.used], read
	k.mem.used++
	return idle
}

// more gives a talk a line that it can do without. A server may say many of them, but not without end: what is no longer kept
// counts as if nobody had asked for it.
func (e *executor) more(s *peer, k *talk, r *script.Received) {
	if e.deliver(s, k, r) < 0 {
		s.unrequested += len(r.Raw) + unrequestedLine
	}
}

// response gives an answer to the talk that has asked.
func (e *executor) response(s *peer, r *script.Received) {
	m := &r.Message
	id, exact := jsonrpc.IntegerID(m.ID)
	f := s.flights[id]
	if !exact && m.ID != "null" && !(s.alone != nil && s.alone.t.Asking(m.ID) >= 0) {
		id, _ = jsonrpc.LooseID(m.ID)
		f = s.flights[id]
	}
	if s.alone != nil && (f == nil || f.answered && f.talk == s.alone) {
		if i, loose := s.alone.t.Answers(m.ID); i >= 0 {
			r.Sent, r.Loose = i, loose
			e.answer(s, s.alone, r)
			if n, _ := jsonrpc.IntegerID(s.alone.t.Sent[i].Message.ID); s.flights[n] != nil && s.flights[n].talk == s.alone { // by another way than its number
				s.complete(s.flights[n])
			}
			return
		}
	}
	switch {
	case f == nil && s.Gave(id), f == nil && s.alone != nil && s.Unanswered.Free(m.ID):
		s.unrequested += unrequestedLine // late, of somebody who has given up waiting; of the same answer there is no end
	case f == nil:
		e.unclaimed(s, r)
	case f.answered:
		r.Sent, r.Loose = f.sent, !exact
		e.more(s, f.talk, r)
	default:
		if f.sent >= 0 {
			r.Sent, r.Loose = f.sent, !exact
			e.answer(s, f.talk, r)
		} else if f.talk != nil {
			f.talk.runs++
		}
		s.complete(f)
	}
}

// complete notes that what was on its way was answered.
func (s *peer) complete(f *flight) {
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
		s.active = s.arrival.at
	}
	if f.exchange != 0 {
		s.Release(f.exchange) // its response may stay open
	}
	if k == nil {
		return
	}
	if k.last = s.arrival.at; f.awaited {
		k.open--
	}
}

// noise is for a line that is no message. One in which the number of a request can be made out is an answer, if a bad one.
func (e *executor) noise(s *peer, r *script.Received) {
	s.unrequested += len(r.Raw) + unrequestedLine
	if id, ok := jsonrpc.SalvageID(r.Raw); ok {
		if f := s.flights[id]; f != nil && f.sent >= 0 && !f.answered {
			r.Message.ID = strconv.FormatInt(id, 10)
			e.response(s, r)
			return
		}
	}
	if s.alone != nil {
		s.alone.t.AddNoise(r.Raw)
		return
	}
	s.unattributed = e.novelty.IsNew("noise", string(r.Raw[:min(len(r.Raw), 64)])) || s.unattributed
}

// answer notes an answer to a line that a script has sent.
func (e *executor) answer(s *peer, k *talk, r *script.Received) {
	a := &k.t.Sent[r.Sent]
	if a.Answer >= 0 {
		if a.Again {
			s.Unanswered.Free(a.Message.ID)
		}
		e.more(s, k, r)
		return
	}
	if a.Message.Class == jsonrpc.ClassRequest && !a.Regular {
		s.Unanswered.Free(a.Message.ID)
	}
	if a.Token != "" && !script.IsTask(a, &r.Message) {
		s.FreeToken(a.Token)
	}
	if a.Answer = e.deliver(s, k, r); a.Answer >= 0 && k == s.alone {
		k.t.Received[a.Answer].Starved = s.Heard()
		s.active, k.last = s.arrival.at, s.arrival.at
	}
	if s.Uninitialized && a.Message.Method == "initialize" && r.Message.Result != nil {
		s.Uninitialized = false
	}
}

// unclaimed is for what belongs to no request. A script that has the server for itself must have caused it; of several one has,
// and it takes another look to know which.
func (e *executor) unclaimed(s *peer, r *script.Received) {
	m := &r.Message
	s.unrequested += len(r.Raw) + unrequestedLine
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
	if m.Class == jsonrpc.ClassBatch {
		r.Sent = s.alone.t.UnansweredBatch()
	}
	if i := e.deliver(s, s.alone, r); r.Sent >= 0 {
		s.alone.t.Sent[r.Sent].Answer = i
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
