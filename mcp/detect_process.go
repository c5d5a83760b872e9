package mcp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// process judges what became of the server's process and of its streams.
func (j *judge) process() {
	t := j.t
	if t.End.Kind != EndInvalid {
		j.ended()
	} else if len(t.Stderr) > 0 {
		j.survived()
	}
	j.endOfInput()
	if t.End.Closed && !t.End.EOF {
		j.report(RuleStdoutClosed, j.guiltySubject(), "",
			fmt.Sprintf("The server closed its standard output and ran on after %s.", j.guiltyLine()))
	}
	if t.Deaf {
		j.deaf()
	} else if t.Hung {
		j.hung()
	}
	if t.Flood {
		j.report(RuleFlood, j.guiltySubject(), "",
			fmt.Sprintf("The server wrote without end after %s and was cut off.", j.guiltyLine()))
	}
	if t.Noisy > 0 {
		j.noise()
	}
}

// guilty returns the line that most likely caused what happened last: in the lines that were sent without waiting it
// is the first one that has no answer, else the very last.
func (j *judge) guilty() *Sent { return j.guiltyOf(j.t.Sent) }

// guiltyOf is guilty for what happened when no more than these lines had been sent.
func (j *judge) guiltyOf(sent []Sent) *Sent {
	for len(sent) > 1 && len(bytes.TrimSpace(sent[len(sent)-1].Raw)) == 0 { // nobody dies of a blank line
		sent = sent[:len(sent)-1]
	}
	if len(sent) == 0 {
		return nil
	}
	first := len(sent) - 1
	for first > 0 && j.inFlight(&sent[first-1], &sent[first]) {
		first--
	}
	for i := first; i < len(sent); i++ {
		m := &sent[i].Message
		if sent[i].Answer < 0 && m.Class != ClassNotification && m.Class != ClassResponse {
			return &sent[i]
		}
	}
	return &sent[len(sent)-1]
}

// before returns the lines that had been sent when a line came.
func (j *judge) before(r *Received) []Sent {
	n := len(j.t.Sent)
	for n > 0 && j.t.Sent[n-1].At > r.At {
		n--
	}
	return j.t.Sent[:n]
}

// inFlight reports whether next was sent without waiting for the answer to s.
func (j *judge) inFlight(s, next *Sent) bool {
	if j.t.Script == nil || s.Step >= len(j.t.Script.Steps) {
		return false
	}
	step := &j.t.Script.Steps[s.Step]
	return step.NoWait || step.Times > 1 && next.Step == s.Step
}

func (j *judge) guiltySubject() string { return j.subjectOf(j.guilty()) }

// subjectOf names what a line is about that is to blame for something.
func (j *judge) subjectOf(s *Sent) string {
	switch {
	case s == nil:
		return "(nothing sent)"
	case s.Message.Root != nil && (s.Message.Class == ClassInvalid || hasTwice(s.Message.Root) ||
		(s.Message.Class == ClassRequest || s.Message.Class == ClassNotification) && !saysJSONRPC(s.Message.Root)):
		return subjectMessage // whatever its method
	}
	return j.subject(s)
}

// guiltyLine quotes the line that is to blame, and the last one if that is another: both have their part in it.
func (j *judge) guiltyLine() string {
	s := j.guilty()
	if s == nil {
		return lineOf(s)
	}
	after := 0
	last := &j.t.Sent[len(j.t.Sent)-1]
	for i := range j.t.Sent {
		if &j.t.Sent[i] == s {
			after = len(j.t.Sent) - 1 - i
		}
	}
	switch after {
	case 0:
		return lineOf(s)
	case 1:
		return lineOf(s) + " and then " + lineOf(last)
	}
	return fmt.Sprintf("%s, %d more and then %s", lineOf(s), after-1, lineOf(last))
}

func lineOf(s *Sent) string {
	if s == nil {
		return "it was started, before anything was sent"
	}
	if len(s.Raw) == 0 {
		return "an empty line"
	}
	return cut(s.Raw, 160)
}

func (j *judge) ended() {
	e := &j.t.End
	stderr := stderrOf(j.t)
	switch e.Kind {
	case EndKilled:
		return
	case EndExited:
		if e.EOF && (e.Code == 0 || lastWords(stderr).kind == faultNone) {
			return
		}
		if j.unopened() && lastWords(stderr).kind == faultNone {
			j.reportAs(RuleExit, teasel.Info, j.guiltySubject(), "", fmt.Sprintf(
				"The server exited with status %d after %s, because initialize has to come first.", e.Code, j.guiltyLine()))
			return
		}
		if e.Code == 0 {
			j.quietExit()
			return
		}
	}
	f := lastWords(stderr)
	rule := RuleCrash
	switch f.kind {
	case faultSanitizer:
		rule = RuleSanitizer
	case faultMemory:
		rule = RuleOutOfMemory
	}
	how := "status " + strconv.Itoa(e.Code)
	if e.Kind == EndSignalled {
		how = e.Signal
	}
	message := fmt.Sprintf("The server %s after %s.", ending(e), j.guiltyLine())
	if f.line != "" {
		message = fmt.Sprintf("The server %s (%s) after %s.", ending(e), cut(f.line, 160), j.guiltyLine())
	}
	group := how
	if place := f.place(j.echo()); place != "" {
		group += ": " + place
	}
	// One fault, whichever request brings it about.
	j.report(rule, j.guiltySubject(), group, message).Fault = topFrame(f.trace)
}

// unopened reports whether a script has sent messages on a process of its own, and initialize is not the first of them but for pings.
func (j *judge) unopened() bool {
	if !j.fresh() {
		return false
	}
	for i := range j.t.Sent {
		if m := &j.t.Sent[i].Message; m.Method != "ping" && (m.Class == ClassRequest || m.Class == ClassNotification) {
			return m.Method != "initialize" && saysJSONRPC(m.Root)
		}
	}
	return false
}

// endOfInput judges whether the server ended when it was time to.
func (j *judge) endOfInput() {
	t := j.t
	if t.End.Kind != EndInvalid && t.End.Kind != EndKilled || t.Hung || t.Deaf || t.Flood || t.Script == nil || len(t.Sent) == 0 {
		return
	}
	last := &t.Sent[len(t.Sent)-1]
	if last.Step < len(t.Script.Steps) && t.Script.Steps[last.Step].Close && j.allAnswered() {
		j.report(RuleIgnoresEOF, "(end of input)", "", fmt.Sprintf(
			"The server did not exit after its standard input was closed, which followed %s.", cut(last.Raw, 160)))
	}
}

// The lengths from which a line may be, and may well be, beyond a server's limit, and what it is called then.
const (
	long            = 64 << 10
	oversized       = 1 << 20
	subjectLongLine = "(long line)"
)

func (j *judge) quietExit() {
	s := j.guilty()
	if s != nil && len(s.Raw) >= oversized {
		j.reportAs(RuleExit, teasel.Medium, subjectLongLine, "", fmt.Sprintf(
			"The server exited with status 0 after a line of %d bytes, instead of answering with an error.", len(s.Raw)))
		return
	}
	subject := j.guiltySubject()
	if s != nil && nesting(s.Raw) >= deep {
		subject = "(deep nesting)"
	}
	j.report(RuleExit, subject, "",
		fmt.Sprintf("The server exited with status 0 in the middle of the session, after %s.", j.guiltyLine()))
}

// deep is how far a line has to be nested to be beyond what some readers take.
const deep = 500

// nesting returns how deep brackets lie in one another at most, those in strings included.
func nesting(line []byte) (most int) {
	depth := 0
	for _, c := range line {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}

func (j *judge) allAnswered() bool {
	return !slices.ContainsFunc(j.t.Sent, func(s Sent) bool { return s.Regular && s.Answer < 0 })
}

// survived looks for faults on standard error that the process lived through.
func (j *judge) survived() {
	f := findFault(j.t.Stderr)
	var rule string
	switch f.kind {
	case faultSanitizer:
		rule = RuleSanitizer
	case faultMemory:
		if j.allAnswered() { // it was noticed, and the request refused
			return
		}
		rule = RuleOutOfMemory
	case faultAssertion:
		rule = RuleAssertion
	case faultPanic:
		rule = RulePanicLogged
	case faultProgram:
		rule = RuleErrorLogged
	default:
		return
	}
	j.report(rule, j.guiltySubject(), f.place(j.echo()), fmt.Sprintf(
		"The server wrote %q to standard error after %s, and lived on.", cut(f.line, 160), j.guiltyLine()))
}

func (j *judge) deaf() {
	s := j.guilty()
	if s == nil || j.unterminated(&j.t.Sent[len(j.t.Sent)-1]) || j.asksForTime(s) {
		return
	}
	line := cut(s.Raw, 160)
	switch {
	case j.t.Idle && len(s.Raw) >= long: // it has stopped reading, whatever the line says
		j.report(RuleDeaf, subjectLongLine, "", fmt.Sprintf("After %s the server answered nothing any more, not even a ping.", line))
	case !j.t.Busy && j.reachesOut(s):
		j.reportAs(RuleDeaf, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"While it worked on %s the server answered nothing else, not even a ping. It used no processor, so that it may have been waiting for somebody else.", line))
	default:
		j.report(RuleDeaf, j.subject(s), "", fmt.Sprintf("After %s the server answered nothing any more, not even a ping.", line))
	}
}

// hung judges the requests that got no answer although pings did.
func (j *judge) hung() {
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		if !s.Regular || s.Answer >= 0 || s.Unresolved || j.anonymousError(s) || !j.servedAt(i) || s.Withdrawn || j.asksForTime(s) || j.misaddressed(s) != nil {
			continue
		}
		if !j.reachesOut(s) && !(isUsual(&s.Message) && len(s.Raw) < oversized) {
			j.dropped(s)
			continue
		}
		j.unanswered(s)
	}
}

// unanswered reports a request without an answer. Where nothing says how long it may take, it may only be slow: how sure it
// is that the server has forgotten the request depends on whether it may be waiting for somebody else.
func (j *judge) unanswered(s *Sent) {
	line := cut(s.Raw, 160)
	after := ""
	if c := j.loosely(s); c != nil {
		after = fmt.Sprintf(" after %s, which cancels another request: the id there is of another type", cut(c.Raw, 160))
	}
	switch {
	case !j.reachesOut(s):
		j.report(RuleHang, j.subject(s), "", fmt.Sprintf("%s got no answer in time%s, while pings were answered.", line, after))
	case j.t.Busy:
		j.reportAs(RuleHang, teasel.Medium, j.subject(s), "", fmt.Sprintf(
			"%s got no answer in time%s, while pings were answered. The server was using the processor.", line, after))
	case j.saysThatItReachesOut(s):
		j.reportAs(RuleSlow, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"%s got no answer in time%s. It reaches out to others, which may have kept it waiting.", line, after)).Alone = true
	default:
		j.reportAs(RuleHang, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"%s got no answer in time%s, while pings were answered. Nothing says how long it may take: the server may have been waiting for somebody else.", line, after))
	}
}

// loosely returns the notification that cancels a request whose id has the same text in another type; nil: there is none.
func (j *judge) loosely(s *Sent) *Sent {
	id := s.Message.Root.Get("id")
	for i := range j.t.Sent {
		n := &j.t.Sent[i]
		if n.Message.Method != "notifications/cancelled" || id == nil {
			continue
		}
		if other := n.Message.Params.Get("requestId"); other != nil && other.Kind != id.Kind && isID(other) && other.Text == id.Text {
			return n
		}
	}
	return nil
}

// reachesOut reports whether a request may have to wait for somebody else: the tool does not say that it does not, the
// resource is not the server's own, or an argument is a URL.
func (j *judge) reachesOut(s *Sent) bool {
	tool := j.called(s)
	return tool != nil && tool.OpenWorld || j.saysThatItReachesOut(s)
}

// saysThatItReachesOut reports whether a request waits for somebody else, and says so: an annotation of the tool, or a URL.
func (j *judge) saysThatItReachesOut(s *Sent) bool {
	tool := j.called(s)
	return tool != nil && tool.SaysOpen || bytes.Contains(s.Raw, []byte(`"http://`)) || bytes.Contains(s.Raw, []byte(`"https://`))
}

// servedAt reports whether line i was sent to a session in which it is to be answered.
func (j *judge) servedAt(i int) bool {
	m := &j.t.Sent[i].Message
	saved := j.phase
	defer func() { j.phase = saved }()
	for k := range i {
		j.advance(&j.t.Sent[k], j.answer(&j.t.Sent[k]))
	}
	if m.Method == "initialize" {
		return !j.phase.asked && !j.phase.blurred
	}
	return j.phase.ready && !j.phase.blurred
}

// anonymousError reports whether an error that names no request has come since this one was sent: it may be meant for it.
func (j *judge) anonymousError(s *Sent) bool {
	return slices.ContainsFunc(j.t.Received, func(r Received) bool {
		return r.Message.Error != nil && (r.Message.ID == "" || r.Message.ID == "null") && r.At >= s.At
	})
}

// dropped reports a request with a readable id that got no answer, by what is unusual about it.
func (j *judge) dropped(s *Sent) {
	m := &s.Message
	subject := j.subject(s)
	id := m.Root.Get("id")
	if id != nil && !isPortable(id) { // the line may count as unreadable, and then nobody is owed an answer by name
		return
	}
	if id != nil && !isUsualID(id) {
		subject = subjectID
	} else if !isUsual(m) {
		subject = subjectMessage
	}
	j.report(RuleNoReply, subject, "", fmt.Sprintf(
		"%s got no answer, not even an error, though its id can be read.", cut(s.Raw, 160)))
}

// asksForTime reports whether the arguments of a call want it to last a second or more.
func (j *judge) asksForTime(s *Sent) bool {
	tool := j.called(s)
	if tool == nil || !tool.takes(TakesTime) {
		return false
	}
	properties := j.session.Tool(calledName(&s.Message)).properties()
	arguments := s.Message.Params.Get("arguments")
	for i := range properties {
		p := &properties[i]
		if tool.Arguments[p.Name]&TakesTime == 0 {
			continue
		}
		value := arguments.Get(p.Name)
		if value == nil {
			value = p.Value.Get("default")
		}
		if value != nil && (value.Kind == mutate.Number || value.Kind == mutate.String) {
			if f, err := strconv.ParseFloat(value.Text, 64); err == nil && f >= 1 || err != nil && value.Kind == mutate.Number {
				return true
			}
		}
	}
	return false
}

// noise judges lines on standard output that are no messages.
func (j *judge) noise() {
	for i, line := range j.t.Noise {
		// What was being written when the process died is cut off in the middle.
		if j.t.End.Kind != EndInvalid && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			continue
		}
		s := j.guilty()
		if i < len(j.t.NoiseAfter) {
			s = j.guiltyOf(j.t.Sent[:min(j.t.NoiseAfter[i], len(j.t.Sent))])
		}
		j.noiseAfter(line, s)
		return
	}
	if len(j.t.Noise) == 0 {
		j.report(RuleNoise, j.guiltySubject(), "", fmt.Sprintf(
			"The server wrote %d lines to standard output that are no JSON-RPC messages, after %s.", j.t.Noisy, j.guiltyLine()))
	}
}

// noiseAfter reports a line that is no message, of which another that was sent is to blame.
func (j *judge) noiseAfter(line []byte, s *Sent) {
	var sent []byte
	if s != nil {
		sent = s.Raw
	}
	j.reportCause(RuleNoise, teasel.Medium, j.subjectOf(s), "text "+j.statement(line, s), sent, fmt.Sprintf(
		"The server wrote %q to standard output, which is no JSON-RPC message, after %s.", cut(line, 100), lineOf(s)))
}

// statement names what has printed a text: its words up to the first that varies from one time to the next.
func (j *judge) statement(line []byte, s *Sent) string {
	var e echo
	if s != nil {
		e.addTree(s.Message.Params)
	}
	words := appendNormal(nil, cutBytes(string(line), 120), &e)
	if i := bytes.IndexAny(words, string([]byte{echoMark, numberMark, tokenMark})); i > 0 {
		words = words[:i]
	}
	return string(words)
}
