package run

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// lane is one script on its way through an executor. Its memory is used again for the next.
type lane struct {
	in    *script.Script // lent; of a parked lane its own
	obs   *teasel.Observation
	t     script.Transcript
	plan  []planned
	alone bool // it must have the server for itself
	odd   bool // only because of odd lines
	guest bool // it shares the server all the same: see custom

	step, times int // what is sent next
	bytes       int // of the lines that are kept
	owed        int // requests to which an answer is due
	group       *group
	answered    int                  // requests that nobody keeps a record of: the many repeated ones
	skip        bool                 // not to be run now
	parked      bool                 // its answer may come later
	resumes     bool                 // it has come, and there is more to say
	home        *server              // of one that waits for something: where it does
	topic       *record              // of a parked one: what it waits for
	prepared    bool                 // its plan is made
	concluded   bool                 // its observation is filled in
	counted     bool                 // what it came to is in the records
	lost        bool                 // the server died with it and others in flight
	began       time.Time            // when the first line was written; zero: none was
	last        time.Time            // when the last answer came
	dangling    bool                 // something may still come that must not
	due         uint64               // of such a one, when it is handed back: see executor.runs
	cancels     bool                 // it has cancelled a request, which may be answered all the same
	given       []int64              // ids that it was given
	wire        []byte               // what was read, for Received.Raw
	reader      *mutate.JSONParser   // of what it says; nil: not yet
	readers     []*mutate.JSONParser // of what it has heard, as many as heard; the others are idle
	heard       int
	begun       []byte // the end of what was written if it had no newline
	detail      string // on how it ended
	spent       uint32 // executions that earlier tries were
	told        uint32 // executions that were counted when it was parked
	meter       meter
}

// topicLarge is what large lines are about, whatever they say.
const topicLarge = "large"

// planned is what is known of a step before it is sent.
type planned struct {
	message jsonrpc.Message // of the line with its placeholders
	topic   topic
	regular bool    // a request or a notification such as every client sends
	plain   bool    // it has no placeholder but one fresh id, as its id
	odd     string  // what is odd about a line that a guest may say; "": nothing, or no guest may
	custom  *custom // of a guest's odd line
}

// Bounds within which a script may share the server with others, and of what is kept of one.
const (
	maxSharedLine = 64 << 10
	maxSharedStep = 16
	maxKept       = 1024     // lines, beyond which only the first of each step is
	maxRepeated   = 1 << 20  // bytes of lines, beyond which it is the same, and a step that is repeated waits for answers
	maxWire       = 64 << 10 // of memory that the next script of a lane is given
)

// take makes the lane one for a script.
func (l *lane) take(in *script.Script, obs *teasel.Observation) {
	t, wire, plan, given, reader, readers := l.t, l.wire, l.plan, l.given[:0], l.reader, l.readers
	clear(t.Sent) // a tree would live on behind shorter scripts
	clear(t.Received)
	clear(plan)
	if cap(wire) > maxWire || cap(t.Sent) > 64 || cap(t.Received) > 64 || len(t.Noise) > 0 || cap(plan) > 64 {
		t, wire, plan, given, readers = script.Transcript{}, nil, nil, nil, nil
	}
	if reader == nil {
		reader = new(mutate.JSONParser)
	}
	reader.Reset()
	*l = lane{in: in, obs: obs, plan: plan[:0], wire: wire[:0], given: given, reader: reader, readers: readers}
	l.t = script.Transcript{Script: in, Sent: t.Sent[:0], Received: t.Received[:0]}
}

// newLane returns a lane for a script, prepared.
func newLane(e *executor, in *script.Script) *lane {
	l := &lane{}
	l.take(in, &teasel.Observation{})
	l.prepare(e)
	return l
}

// again makes the lane as it was before its first line was sent.
func (l *lane) again(e *executor) {
	spent := l.runs() + l.spent
	l.take(l.in, l.obs)
	l.prepare(e)
	l.spent = spent
}

// prepare looks at the script's steps before anything is sent.
func (l *lane) prepare(e *executor) {
	l.prepared = true
	l.t.Session = e.session
	alone := l.in.Start != script.Shared || l.in.Check != "" || len(l.in.Steps) == 0 || len(l.in.Steps) > maxSharedStep
	var begun []byte
	for i := range l.in.Steps {
		s := &l.in.Steps[i]
		p := planned{message: l.read(i)}
		p.plain, p.regular, p.odd = script.PlanLine(s, &p.message)
		if len(begun) > 0 {
			p.regular, p.odd = false, ""
		}
		p.topic = e.topic(&p.message, p.regular)
		if len(s.Line) > maxSharedLine {
			p.topic = topic{method: topicLarge}
		}
		l.plan = append(l.plan, p)
		alone = alone || !p.regular && p.odd == "" || s.Times > 1 || len(s.Line) > maxSharedLine || p.message.Method == "initialize"
		l.odd = l.odd || p.odd != ""
		if e.withholds(begun, s.Line, &p.message) {
			l.skip = true
		}
		if s.NoNewline {
			begun = append(begun, s.Line...)
		} else {
			begun = begun[:0]
		}
	}
	l.odd = l.odd && !alone
	l.alone = l.odd || alone
}

// read reads the line of a step. The tree of a long one takes so much memory that equal ones share it.
func (l *lane) read(step int) jsonrpc.Message {
	line := l.in.Steps[step].Line
	for i := range l.in.Steps[:step] {
		if len(line) > maxSharedLine && bytes.Equal(line, l.in.Steps[i].Line) {
			return l.plan[i].message
		}
	}
	return jsonrpc.ParseIn(l.reader, line)
}

// sent returns what a line that was sent is, with as little work as possible.
func (l *lane) sent(p *planned, raw []byte, id int64, repeated bool) jsonrpc.Message {
	m := p.message
	if !p.plain || m.Root == nil {
		return jsonrpc.ParseIn(l.reader, raw)
	}
	if m.HasFreshID() {
		m.ID = strconv.FormatInt(id, 10)
		if repeated {
			m.Root = withOwnID(m.Root)
		}
		*m.Root.Get("id") = mutate.JSON{Kind: mutate.Number, Text: m.ID}
	}
	return m
}

// withOwnID returns a message that shares all but its id: a tree for each time that a large line is sent would be too much.
func withOwnID(root *mutate.JSON) *mutate.JSON {
	own, id := *root, root.Get("id")
	own.Members = slices.Clone(root.Members)
	for i := range own.Members {
		if own.Members[i].Value == id {
			own.Members[i].Value = new(mutate.JSON)
		}
	}
	return &own
}

// topic is what a script is about in the eyes of those who keep count: one of a bounded number.
type topic struct {
	method, name string
	meta, token  mutate.Kind // of params._meta and of its progressToken
}

// topic returns what a line is about.
func (e *executor) topic(m *jsonrpc.Message, regular bool) (t topic) {
	if !regular {
		return topic{method: "irregular", name: jsonrpc.Unusual(m)}
	}
	known, ok := e.methods[m.Method]
	if !ok {
		return topic{method: "unknown"}
	}
	t.method = known
	if known == "tools/call" || known == "prompts/get" {
		name, _ := m.Params.Get("name").Str()
		t.name = e.names[name]
	}
	if meta := m.Params.Get("_meta"); meta != nil {
		t.meta = meta.Kind
		if token := meta.Get("progressToken"); token != nil {
			t.token = token.Kind
		}
	}
	return t
}

// done reports whether all steps were sent.
func (l *lane) done() bool { return l.step >= len(l.in.Steps) }

// keep gives the lane the memory of what has just been read, for some that it has no more use for.
func (l *lane) keep(read *mutate.JSONParser) (idle *mutate.JSONParser) {
	if l.heard == len(l.readers) {
		l.readers = append(l.readers, new(mutate.JSONParser))
	}
	idle, l.readers[l.heard] = l.readers[l.heard], read
	l.heard++
	return idle
}

// hear adds a line that belongs to the lane, and returns its place. Of very many only the first are kept, and first answers:
// -1 is for the rest.
func (l *lane) hear(raw []byte, m jsonrpc.Message, sent int, loose bool, now time.Time) int {
	if first := sent >= 0 && l.t.Sent[sent].Answer < 0; !first && len(l.t.Received) >= 4*maxKept {
		return -1
	}
	at := len(l.wire)
	l.wire = append(l.wire, raw...)
	l.t.Received = append(l.t.Received, script.Received{
		Raw: l.wire[at:len(l.wire):len(l.wire)], Message: m, Sent: sent, Loose: loose, At: now.Sub(l.began),
	})
	return len(l.t.Received) - 1
}

// runs returns how many requests were answered, given up or cancelled.
func (l *lane) runs() uint32 {
	n := l.answered
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Answer >= 0 || s.Withdrawn || s.Regular && l.t.Hung {
			n++
		}
	}
	return uint32(n)
}

// owing returns how many requests are still to be answered, those included that were not sent yet: how far a script had
// come when it was parked is the clock's doing, and executions must not be.
func (l *lane) owing() (n uint32) {
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Regular && s.Answer < 0 {
			n++
		}
	}
	for i := l.step; i < len(l.plan); i++ {
		if p := &l.plan[i]; p.regular && p.message.Class == jsonrpc.ClassRequest {
			n++
		}
	}
	return n
}
