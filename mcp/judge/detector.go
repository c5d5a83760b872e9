package judge

import (
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// DetectorConfig says what the detectors cannot learn from a transcript. The zero value is valid: what it does not
// tell is not judged.
type DetectorConfig struct {
	Slow   time.Duration // an answer that takes longer is worth a finding; 0: 2 seconds
	Spread *Spread       // collects where faults with one cause show; nil: nobody wants to know
}

const defaultSlow = 2 * time.Second

// Detectors returns the detectors of all [Rules]. They look at observations whose evidence is a *[script.Transcript] and
// leave others alone. They belong to one worker.
func Detectors(cfg DetectorConfig) []teasel.Detector {
	if cfg.Slow == 0 {
		cfg.Slow = defaultSlow
	}
	return []teasel.Detector{&judge{cfg: cfg, rules: ruleByID(), tools: make(map[*session.Tool]*judgedTool)}}
}

// judge holds all rules against one transcript at a time. One walk over it serves all rules, so that an ordinary answer
// costs a few look-ups.
type judge struct {
	cfg   DetectorConfig
	rules map[string]*teasel.Rule
	tools map[*session.Tool]*judgedTool // what is read of a tool once
	lists map[uint64]struct{}           // hashes of lists that were found in order

	// Of the transcript at hand.
	t       *script.Transcript
	session *session.Session // never nil
	phase   phase
	foreign *script.Received // its id is no request's, so that the other answers may have come to the wrong ones; nil: there is none
	found   []teasel.Finding
	reports int // calls of report, those of what was found already included
}

var (
	_ teasel.Detector = (*judge)(nil)
)

// phase is how far the session of a script has come when a line is sent.
type phase struct {
	asked        bool // initialize was sent
	opened       bool // it was answered with a result
	ready        bool // notifications/initialized was sent after that
	blurred      bool // something was sent that makes it unclear what the server read, or in which state it is
	version      string
	capabilities *mutate.JSON
}

var noSession session.Session

// Detect implements [teasel.Detector].
func (j *judge) Detect(obs *teasel.Observation) []teasel.Finding {
	t, ok := obs.Evidence.(*script.Transcript)
	if !ok || t == nil {
		return nil
	}
	j.begin(t)
	j.process()
	if j.forCheck().Growth(); !t.Cut {
		j.conversation()
	}
	found := j.found
	for i := range found {
		found[i].Describe = func(f *teasel.Finding) { f.Detail = j.detail(t, f) }
	}
	j.t, j.session, j.found, j.foreign, j.phase = nil, nil, nil, nil, phase{}
	return found
}

// detail returns an excerpt of the messages that a finding is about.
func (j *judge) detail(t *script.Transcript, f *teasel.Finding) string {
	rule := j.rules[f.Rule]
	if rule == nil {
		return ""
	}
	return script.Excerpt(t, rule.Source)
}

// conversation judges what was said.
func (j *judge) conversation() {
	for i := range j.t.Sent {
		j.exchange(i)
	}
	for i := range j.t.Received {
		j.received(i)
	}
	j.tasks()
	j.subscriptions()
	j.scopesOfPages()
	if j.t.Script != nil && j.t.Script.Check != "" {
		j.forCheck().Compare()
	}
}

func (j *judge) begin(t *script.Transcript) {
	j.t, j.session, j.found = t, t.Session, nil
	j.foreign = j.findForeign()
	if j.session == nil {
		j.session = &noSession
	}
	j.phase = phase{}
	if !j.fresh() || j.session.Stateless {
		j.phase = phase{
			asked: true, opened: true, ready: true,
			version: j.session.Version, capabilities: j.session.Capabilities,
		}
		if j.session.Undiscovered { // nobody has declared them
			j.phase.capabilities = nil
		}
	}
}

func (j *judge) fresh() bool { return j.t.Script != nil && j.t.Script.Start == script.Fresh }

// exchange judges one line that was sent and what became of it.
func (j *judge) exchange(i int) {
	s := &j.t.Sent[i]
	answer := j.answer(s)
	if s.Unresolved {
		j.advance(s, answer)
		return
	}
	if s.Status != 0 {
		if j.http(i, s, answer); j.isCut(s) || j.t.Head(s) != "" && !j.session.Stateless {
			return // it may be another session's, or none
		}
	}
	if j.session.Stateless && answer != nil {
		j.withoutMeta(s, answer)
		if j.t.Head(s) != "" {
			return
		}
	}
	if answer != nil && answer.Message.ID != "null" && j.isSound(s) {
		j.sound(s, answer)
	} else if !s.Regular {
		j.irregular(i, s)
	}
	if answer != nil {
		j.forCheck().Pasted(s, answer)
		j.unhandled(s, answer)
	}
	j.advance(s, answer)
}

// answer returns what answers a line; nil: nothing.
func (j *judge) answer(s *script.Sent) *script.Received {
	if s.Answer < 0 || s.Answer >= len(j.t.Received) {
		return nil
	}
	if r := &j.t.Received[s.Answer]; !j.hasUnreadID(r) {
		return r
	}
	return nil
}

// sound judges the answer to a well-formed request: by its envelope, and when that is right by its method.
func (j *judge) sound(s *script.Sent, r *script.Received) {
	if !j.envelope(s, r) {
		return
	}
	if s.Withdrawn {
		j.cancelledReply(s, r)
		return
	}
	if r.Message.Error != nil {
		j.codeRange(s, r)
	}
	j.slow(s, r)
	if s.Message.Method == "initialize" {
		j.initialize(s, r)
		return
	}
	if !j.phase.ready {
		j.beforeInitialize(s, r)
		return
	}
	if j.phase.blurred || j.foreign != nil || s.Message.Twice || ambiguous(s.Message.Params) || !j.session.Stateless && isStateless(&s.Message) || j.session.Stateless && !isStamped(&s.Message) {
		return
	}
	if j.session.Stateless && !j.stateless(s, r) {
		return
	}
	j.byMethod(s, r)
}

// advance follows the handshake of a script on a process of its own.
func (j *judge) advance(s *script.Sent, answer *script.Received) {
	p := &j.phase
	m := &s.Message
	switch {
	case m.Method == "initialize" && m.Class != jsonrpc.ClassNotification:
		if answer != nil && answer.Message.Result != nil && !p.opened {
			p.opened = true
			p.version, _ = answer.Message.Result.Get("protocolVersion").Str()
			p.capabilities = answer.Message.Result.Get("capabilities")
		} else if p.asked {
			// A second handshake: nobody says what holds after it.
			p.blurred = true
		}
		p.asked = true
	case m.Method == "notifications/initialized" && m.Class == jsonrpc.ClassNotification:
		p.ready = p.ready || p.opened
	}
	if j.unterminated(s) {
		p.blurred = true
	}
}

// unterminated reports whether a line was sent without its end, so that what follows is read as part of it.
func (j *judge) unterminated(s *script.Sent) bool {
	return j.t.Script != nil && s.Step < len(j.t.Script.Steps) && j.t.Script.Steps[s.Step].NoNewline
}

// atLeast reports whether the negotiated version is the given one or a later one. Versions are dates.
func (j *judge) atLeast(version string) bool { return j.phase.version >= version }

// received judges what came, whether or not it answers something.
func (j *judge) received(i int) {
	r := &j.t.Received[i]
	if r.Sent < 0 || r.Message.Root != nil || j.t.Sent[r.Sent].Status < 300 { // an HTTP error may have any text
		j.encoding(r)
	}
	j.unparsed(r)
	j.leaks(r)
	j.streamed(r)
	j.eventID(i)
	j.broadcast(i)
	switch r.Message.Class {
	case jsonrpc.ClassRequest:
		j.serverRequest(r)
	case jsonrpc.ClassNotification:
		j.serverNotification(i, r)
	default:
		j.shape(r)
		switch {
		case r.Message.Class == jsonrpc.ClassBatch:
		case j.hasUnreadID(r):
			j.unreadID(r)
		case r.Sent < 0 || r.Message.ID == "null" || j.t.Sent[r.Sent].Message.Class == jsonrpc.ClassResponse:
			j.unsolicited(r)
		default:
			j.another(i, r)
		}
	}
}

// forCheck returns the transcript at hand for the judging halves of the checks.
func (j *judge) forCheck() *check.Case {
	return &check.Case{Transcript: j.t, Session: j.session, Findings: j}
}

// subject names what a line that was sent is about.
func (j *judge) subject(s *script.Sent) string { return session.Subject(j.session, &s.Message) }

// report adds a finding, once for each rule, subject and group, and returns it, to be added to before the next one.
func (j *judge) report(rule, subject, group, message string) *teasel.Finding {
	return j.reportAs(rule, j.rules[rule].Severity, subject, group, message)
}

// Report implements [check.Findings].
func (j *judge) Report(rule, subject, group, message string) *teasel.Finding {
	return j.report(rule, subject, group, message)
}

// ReportAs implements [check.Findings].
func (j *judge) ReportAs(rule string, severity teasel.Severity, subject, group, message string) *teasel.Finding {
	return j.reportAs(rule, severity, subject, group, message)
}

// ReportCause implements [check.Findings].
func (j *judge) ReportCause(rule string, severity teasel.Severity, subject, cause string, line []byte, message string) {
	j.reportCause(rule, severity, subject, cause, line, message)
}

func (j *judge) reportAs(rule string, severity teasel.Severity, subject, group, message string) *teasel.Finding {
	if !j.holds(rule) {
		return new(teasel.Finding)
	}
	j.reports++
	if i := slices.IndexFunc(j.found, func(f teasel.Finding) bool {
		return f.Rule == rule && f.Subject == subject && f.Group == group
	}); i >= 0 {
		return &j.found[i]
	}
	j.found = append(j.found, teasel.Finding{
		Rule: rule, Severity: severity, Subject: subject, Group: group, Message: message,
	})
	return &j.found[len(j.found)-1]
}

// echo returns the echo of the request that is to blame. That of a whole script would have pieces of everything in it, and
// leave something else of a program's words each time.
func (j *judge) echo() *observe.Echo { return observe.EchoOf(j.guilty()) }
