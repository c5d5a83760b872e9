package run

import (
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// maxRepeatBytes is how much a server may have answered in one call before a line is no longer repeated.
const maxRepeatBytes = 16 << 20

// burst is how many times one step is sent without waiting.
func (k *talk) burst() int {
	n := k.meter.Burst(k.in.Steps[k.step].Times, maxKept)
	if k.meter.Memory {
		n = k.e.target.window()
		if each := k.e.read / max(k.times, 1); each > 0 {
			n = min(n, max(maxBatchBytes/each, 1))
		}
	}
	if size := len(k.in.Steps[k.step].Line); size > 0 {
		n = min(n, max(maxRepeated/size, 1))
	}
	return n
}

// transmit sends the line of a step, or another one in its place. asked is what it answers; nil: it is sent in its turn. False means that
// it must not be sent, and the script not go on.
func (k *talk) transmit(i int, instead []byte, asked *script.Question) bool {
	if asked == nil && !k.slot() {
		return false
	}
	step, s := &k.in.Steps[i], k.server
	p, line := &k.plan[i], step.Line
	if instead != nil {
		p, line = &planned{message: jsonrpc.Parse(instead), topic: p.topic, regular: p.regular}, instead
	}
	at, given := len(k.mem.sent), s.IDs
	x := script.Expansion{Transcript: &k.t, Canary: k.e.target.Canary, Huge: k.meter.Huge, IDs: &s.IDs, Asked: asked, Began: k.began}
	k.mem.sent = x.Append(k.mem.sent, line)
	raw := k.mem.sent[at:len(k.mem.sent):len(k.mem.sent)]
	if !p.plain {
		var m jsonrpc.Message
		if len(k.e.names.Blocked.Excluded) > 0 {
			m = jsonrpc.Parse(raw)
		}
		if name := k.e.names.Withholds(k.mem.begun, raw, &m); name != "" {
			k.e.target.Withheld.Add(name)
			if len(k.t.Sent) == 0 {
				k.state = skipped
			}
			return false
		}
	}
	said := &p.message
	if !p.plain && s.OverHTTP() && s.Stateless() { // the head repeats what placeholders have become
		parsed := jsonrpc.Parse(raw)
		said = &parsed
	}
	m := s.Message(raw, said)
	m.More, m.Head, m.Cut = step.NoNewline, x.Head(step.Head), step.Close
	m.Fresh = k.alone && step.Times <= 1
	exchange := s.Send(m)
	if n := k.e.target.Called; n != nil && p.topic.Method == "tools/call" && p.topic.Name != "" {
		n.Add(1)
	}
	s.open, s.active = step.NoNewline, time.Now()
	for given < s.IDs {
		given++
		k.mem.given = append(k.mem.given, given)
	}
	k.note(i, p, raw, x.Unresolved)
	k.noteExchange(exchange, step)
	if s.open {
		k.mem.begun = append(k.mem.begun, raw...)
	} else {
		k.mem.begun = k.mem.begun[:0]
	}
	s.Closed = s.Closed || step.Close && !s.OverHTTP()
	if last := i == len(k.in.Steps)-1; !k.alone && instead == nil && (!k.refers || last) {
		piece := k.in
		if !k.refers {
			piece = &script.Script{Start: k.in.Start, Steps: k.in.Steps[i : i+1]}
		}
		k.remember(piece)
	}
	return true
}

// remember adds what was sent to the server's history: step by step in the order on the wire, but for a script that refers to
// earlier steps, which is one piece.
func (k *talk) remember(piece *script.Script) {
	s := k.server
	s.packed = script.AppendPacked(s.packed[:0], piece)
	k.t.Past, k.t.Place = &s.past, s.past.Add(s.packed)+1
}

// keepPast keeps what the server was sent until now for a talk that is not answered: until its time is over, the server's history may have
// forgotten all that. Those that come after it leave its last line out, which takes long.
func (k *talk) keepPast() {
	s := k.server
	if k.t.Past != &s.past { // it was kept before
		return
	}
	if k.t.Place == 0 { // only the last line of a script that refers to earlier steps adds it
		k.remember(k.in)
	}
	place := k.t.Place
	k.copyPast()
	s.past.MarkSlow(place - 1)
}

// copyPast gives a talk a history of its own.
func (k *talk) copyPast() {
	k.t.Past = k.t.Past.Snapshot(k.t.Place)
	k.t.Place = k.t.Past.Added()
}

// note keeps what is being sent for a step and whether an answer to it is due.
func (k *talk) note(i int, p *planned, raw []byte, unresolved bool) {
	s, step := k.server, &k.in.Steps[i]
	id := s.IDs
	s.sent++
	regular := p.regular && p.message.Class == jsonrpc.ClassRequest && (p.plain || s.Gave(id))
	if k.times > 0 && (len(k.t.Sent) >= maxKept || k.mem.bytes >= maxRepeated) {
		k.mem.sent = k.mem.sent[:len(k.mem.sent)-len(raw)]
		if regular {
			k.open++
			s.flights[id] = &flight{talk: k, sent: -1, id: id, awaited: true}
		} else { // more than one answer may come to those that are kept
			k.t.Sent[len(k.t.Sent)-1].Again = true
		}
		return
	}
	k.mem.bytes += len(raw)
	m := k.message(i, p, raw, id)
	if !p.plain && regular { // the id need not be the last that was given out
		n, ok := jsonrpc.IntegerID(m.ID)
		regular = ok && s.Gave(n) && m.Class == jsonrpc.ClassRequest && !m.Twice
		id = n
	}
	due := regular && (!s.Uninitialized || m.Method == "initialize" || m.Method == "ping")
	token, taken := s.TakeToken(&m)
	again := m.Class == jsonrpc.ClassRequest && !regular && s.Unanswered.Take(m.ID)
	logged := 0
	if k.alone {
		logged = s.logged()
	}
	k.t.Sent = append(k.t.Sent, script.Sent{
		Step: i, Raw: raw, Message: m, Regular: due, Unresolved: unresolved, Answer: -1, At: s.active.Sub(k.began), Place: s.sent,
		Token: token, Taken: taken, Logged: logged, Again: again,
	})
	if !regular {
		sent := &k.t.Sent[len(k.t.Sent)-1]
		if n, ok := jsonrpc.IntegerID(m.ID); ok && p.optional && !k.alone && s.Gave(n) {
			f := &flight{talk: k, sent: len(k.t.Sent) - 1, id: n, awaited: s.OverHTTP() && !step.NoWait} // there, each exchange has its end
			if f.awaited {
				k.open++
			}
			s.flights[n], k.unsure = f, true
		}
		k.withdraw(&sent.Message)
		return
	}
	s.flights[id] = &flight{talk: k, sent: len(k.t.Sent) - 1, id: id, awaited: !step.NoWait}
	if due {
		k.unanswered++
	}
	if !step.NoWait {
		k.open++
	}
}

// message returns what a line that is sent is, with as little work as possible. Of one in several parts it is the last part
// that is the message.
func (k *talk) message(i int, p *planned, raw []byte, id int64) jsonrpc.Message {
	step := &k.in.Steps[i]
	switch {
	case step.NoNewline && i+1 < len(k.in.Steps):
		return jsonrpc.Message{Class: jsonrpc.ClassInvalid, Why: script.WhyUnfinished}
	case len(k.mem.begun) > 0:
		return jsonrpc.ParseIn(k.mem.reader, slices.Concat(k.mem.begun, raw))
	case !p.plain || p.message.Root == nil:
		return jsonrpc.ParseIn(k.mem.reader, raw)
	}
	m := p.message
	if m.HasFreshID() {
		m.SetID(id, step.Times > 1)
	}
	return m
}
