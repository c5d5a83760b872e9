package run

import (
	"bytes"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// say puts what a lane says next into the buffer, up to where it waits, and returns how many lines that were.
func (e *executor) say(r *round, l *lane) (said int) {
	now, from := time.Now(), len(r.server.out)
	if len(l.t.Sent) == 0 {
		l.began, l.last = now, now
	}
	for !l.done() {
		s := &l.in.Steps[l.step]
		if !e.sayOne(r, l, now) {
			l.step = len(l.in.Steps)
			break
		}
		said++
		if l.times++; l.times < s.Times && e.read < maxRepeatBytes && !l.meter.over {
			if said >= e.burst(l) || len(r.server.out)-from >= maxRepeated {
				break
			}
			continue
		}
		l.times = 0
		l.step++
		if s.Close { // nothing can follow
			l.step = len(l.in.Steps)
			break
		}
		if !s.NoWait && !s.NoNewline && l.t.Sent[len(l.t.Sent)-1].Message.Class != jsonrpc.ClassNotification {
			break
		}
	}
	if l.done() {
		e.waitForAll(r, l)
	}
	return said
}

// burst is how many times one step is sent without waiting.
func (e *executor) burst(l *lane) int {
	if l.in.Check != check.GrowthMemory {
		return maxKept
	}
	n := e.target.window()
	if each := e.read / max(l.times, 1); each > 0 {
		n = min(n, max(maxBatchBytes/each, 1))
	}
	return n
}

// sayOne puts one line into the buffer. False means that the script must not go on.
func (e *executor) sayOne(r *round, l *lane, now time.Time) bool {
	step := &l.in.Steps[l.step]
	p := &l.plan[l.step]
	s := r.server
	at, given := len(s.out), s.ids
	x := script.Expansion{Transcript: &l.t, Canary: e.target.Canary, Huge: l.in.Check == check.Large, IDs: &s.ids}
	s.out = x.Append(s.out, step.Line)
	raw := s.out[at:len(s.out):len(s.out)]
	if !p.plain && e.withholdsFilled(l.begun, raw) {
		s.out = s.out[:at]
		l.skip = l.skip || len(l.t.Sent) == 0
		return false
	}
	if r.open = step.NoNewline; !r.open {
		s.out = append(s.out, '\n')
	}
	for given < s.ids {
		given++
		l.given = append(l.given, given)
	}
	e.note(r, l, p, raw, x.Unresolved, now)
	if r.open {
		l.begun = append(l.begun, raw...)
	} else {
		l.begun = l.begun[:0]
	}
	if step.Close {
		s.closing = true
	}
	return true
}

// withholds reports whether a line must not be sent because of a tool that it names, and counts it.
func (e *executor) withholds(before, line []byte, m *jsonrpc.Message) bool {
	name := e.blocked.Mentions(before, line)
	if name == "" {
		name = e.blocked.Calls(m)
	}
	if name != "" {
		e.target.Withheld.Add(name)
	}
	return name != ""
}

// withholdsFilled is withholds for a line whose placeholders have just been filled in.
func (e *executor) withholdsFilled(before, line []byte) bool {
	var m jsonrpc.Message
	if len(e.blocked.Excluded) > 0 {
		m = jsonrpc.Parse(line)
	}
	return e.withholds(before, line, &m)
}

// note keeps what is being sent and whether an answer to it is due.
func (e *executor) note(r *round, l *lane, p *planned, raw []byte, unresolved bool, now time.Time) {
	step := &l.in.Steps[l.step]
	id := r.server.ids
	r.server.lines++
	regular := p.regular && p.message.Class == jsonrpc.ClassRequest && (p.plain || r.server.ours(id))
	if l.times > 0 && (len(l.t.Sent) >= maxKept || l.bytes >= maxRepeated) {
		if regular {
			l.group.open++
			r.server.flights[id] = flight{lane: l, sent: -1, blocking: true}
		}
		return
	}
	if l.obs == nil { // it goes on after the call that it came from, whose lines are overwritten by the next
		raw = bytes.Clone(raw)
	}
	l.bytes += len(raw)
	r.server.keep = len(r.server.out)
	m := l.message(p, raw, id)
	if !p.plain && regular { // the id need not be the last that was given out
		n, ok := jsonrpc.IntegerID(m.ID)
		regular = ok && r.server.ours(n) && m.Class == jsonrpc.ClassRequest && !m.Twice
		id = n
	}
	due := regular && (!r.mute || m.Method == "initialize" || m.Method == "ping")
	token, taken := r.server.takeToken(&m)
	again := m.Class == jsonrpc.ClassRequest && !regular && r.server.owed.take(m.ID)
	i := len(l.t.Sent)
	l.t.Sent = append(l.t.Sent, script.Sent{
		Step: l.step, Raw: raw, Message: m, Regular: due, Unresolved: unresolved, Answer: -1, At: now.Sub(l.began), Place: r.server.lines,
		Token: token, Taken: taken, Logged: r.logged(), Again: again,
	})
	switch {
	case regular:
		blocking := !step.NoWait
		r.server.flights[id] = flight{lane: l, sent: i, blocking: blocking}
		if due {
			l.owed++
		}
		if blocking {
			l.group.open++
		}
	case l.guest && p.custom != nil:
		e.board(r, l, p, i)
	default:
		e.withdraw(r, l, &l.t.Sent[i].Message)
	}
}

// message returns what a line that is sent is. Of one in several parts it is the last part that is the message.
func (l *lane) message(p *planned, raw []byte, id int64) jsonrpc.Message {
	step := &l.in.Steps[l.step]
	switch {
	case step.NoNewline && l.step+1 < len(l.in.Steps):
		return jsonrpc.Message{Class: jsonrpc.ClassInvalid, Why: script.WhyUnfinished}
	case len(l.begun) > 0:
		return jsonrpc.ParseIn(l.reader, slices.Concat(l.begun, raw))
	}
	return l.sent(p, raw, id, step.Times > 1)
}

// waitForAll makes the group wait for everything that the script has not waited for before.
func (e *executor) waitForAll(r *round, l *lane) {
	if l.owed == 0 {
		return
	}
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		if !s.Regular || s.Answer >= 0 {
			continue
		}
		n, _ := jsonrpc.IntegerID(s.Message.ID)
		if f := r.server.flights[n]; f.lane == l && !f.answered && !f.blocking {
			f.blocking = true
			r.server.flights[n] = f
			l.group.open++
		}
	}
}
