package run

import (
	"maps"
	"slices"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Questions of a server come as requests of its own, or, in the version without a handshake, as results that ask for input, whose request
// is then sent again with that. A script has steps for what it answers otherwise than every client does.

// asked answers a request of the server: as the script that has the server for itself says, or as every client does.
func (e *executor) asked(s *peer, r *script.Received) {
	m := &r.Message
	e.unclaimed(s, r)
	e.noteAsker(s, m)
	if k := s.alone; k != nil && k.state == talking {
		if i := k.answerTo(m.Method); i >= 0 {
			if !k.sendAnswer(i, &script.Question{ID: m.ID, Body: m.Params}) {
				k.expectNothing()
			}
			return
		}
	}
	s.Release(s.Send(conn.Message{Body: s.Client.Reply(m), Apart: true}))
}

// noteAsker has those of several scripts run again by themselves during which something was asked for the first time: one of them is why.
func (e *executor) noteAsker(s *peer, m *jsonrpc.Message) {
	if k := s.alone; k != nil && e.isAsker(s, k) {
		if i := k.t.Unanswered(); i >= 0 {
			e.record(k.plan[k.t.Sent[i].Step].topic).asks = true
		}
		return
	}
	if m.Method == session.AsksForRoots { // see unclaimed
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.flights)) {
		f := s.flights[id]
		if !f.answered && f.sent >= 0 && e.novelty.IsNew("asked", m.Method, f.talk.plan[f.talk.t.Sent[f.sent].Step].topic.Name) {
			f.talk.recheck = true
		}
	}
}

// isAsker reports whether a question comes of the script that has the server for itself. While others are suspended it may be one of them
// that the server asks for, unless this one is known to be asked for, or has a step that answers.
func (e *executor) isAsker(s *peer, k *talk) bool {
	i := k.t.Unanswered()
	answers := func(s script.Step) bool { return s.Asked != "" }
	return slices.ContainsFunc(k.in.Steps, answers) || i >= 0 && e.record(k.plan[k.t.Sent[i].Step].topic).asks ||
		!slices.ContainsFunc(e.in(suspended), func(p *talk) bool { return p.server == s && p != k && p.open > 0 })
}

// answerTo returns the next step that answers a question of a method; -1: the script has none left.
func (k *talk) answerTo(method string) int {
	for i := range k.in.Steps {
		if k.in.Steps[i].Asked == method && !slices.Contains(k.answered, i) {
			k.answered = append(k.answered, i)
			return i
		}
	}
	return -1
}

// sendAnswer sends a step that answers a question, and reports whether the line is a response to it, so that the server has to go on.
func (k *talk) sendAnswer(i int, q *script.Question) bool {
	step := &k.in.Steps[i]
	if len(step.Line) == 0 {
		return false
	}
	for range max(step.Times, 1) {
		if !k.transmit(i, nil, q) {
			return false
		}
	}
	m := &k.t.Sent[len(k.t.Sent)-1].Message
	return m.ID == q.ID && m.IsSoundResponse()
}

// expectNothing says that no answers are due to what the script has sent: the server waits for what it has asked.
func (k *talk) expectNothing() {
	k.t.AwaitsClient = true
	for i := range k.t.Sent {
		if s := &k.t.Sent[i]; s.Regular && s.Answer < 0 {
			k.release(s)
		}
	}
}

// release takes back that an answer to a line is due.
func (k *talk) release(s *script.Sent) {
	s.Regular = false
	k.unanswered--
	n, _ := jsonrpc.IntegerID(s.Message.ID)
	if f := k.server.flights[n]; f != nil && f.talk == k && f.awaited {
		f.awaited = false
		k.open--
	}
}

// maxRounds is how often a request is sent again because its result asks for input.
const maxRounds = 8

// carryOn sends the request of a step again, with the input that its result asks for, until there is a result that is complete. False
// means that the script must not go on.
func (k *talk) carryOn(i int) bool {
	for range maxRounds {
		s := &k.t.Sent[len(k.t.Sent)-1]
		if s.Step != i || s.Answer < 0 || s.Answer >= len(k.t.Received) {
			return true
		}
		line, ok := k.withInput(s, k.t.Received[s.Answer].Message.Result)
		if !ok {
			return true
		}
		if !k.transmit(i, line, nil) || !k.await() {
			return false
		}
	}
	return true
}

// withInput returns a request with the input that its result asks for; false: it asks for none, or the script gives none.
func (k *talk) withInput(s *script.Sent, result *mutate.JSON) ([]byte, bool) {
	if !session.AsksForInput(result) || s.Message.Root == nil || s.Message.Params == nil {
		return nil, false
	}
	state := result.Get("requestState")
	if i := k.answerTo(session.InputRequired); i >= 0 {
		line := k.in.Steps[i].Line
		if len(line) == 0 {
			return nil, false
		}
		x := script.Expansion{Transcript: &k.t, IDs: &k.server.IDs, Asked: &script.Question{Body: result}}
		state, _ = mutate.ParseJSON(x.Append(nil, line))
	}
	line, err := session.WithInput(s.Raw, result, state, k.input)
	return line, err == nil
}

// input returns the answer to one of the questions in a result; nil: there is none.
func (k *talk) input(question *mutate.JSON) *mutate.JSON {
	method, _ := question.Get("method").Str()
	i := k.answerTo(method)
	if i < 0 {
		return k.server.Client.Result(method, question.Get("params"))
	}
	x := script.Expansion{Transcript: &k.t, IDs: &k.server.IDs, Asked: &script.Question{ID: "0", Body: question.Get("params")}}
	m := jsonrpc.Parse(x.Append(nil, k.in.Steps[i].Line))
	return m.Result
}
