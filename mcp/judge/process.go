package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// process judges what became of the server's process and of its streams.
func (j *judge) process() {
	t := j.t
	if t.Worn > 0 {
		j.worn()
		return
	}
	if t.End.Kind != script.EndInvalid {
		j.ended()
	} else if len(t.Stderr) > 0 {
		j.survived()
	}
	j.endOfInput()
	if t.End.Closed && !t.End.EOF {
		what := "closed its standard output"
		switch {
		case j.session.Events:
			what = "ended its event stream"
		case j.session.HTTP:
			what = "takes no connections any more"
		}
		j.report(RuleStdoutClosed, j.guiltySubject(), "", fmt.Sprintf("The server %s and ran on after %s.", what, j.guiltyLine()))
	}
	if t.Refuses != "" {
		j.report(RuleRefuses, j.guiltySubject(), "", fmt.Sprintf("After %s the server refuses everything. Of a new client, it %s.", j.guiltyLine(), t.Refuses))
	} else if t.Unresponsive {
		j.unresponsive()
	} else if t.Hung {
		j.hung()
	}
	if t.Flood {
		j.flood()
	}
	if t.Noisy > 0 {
		j.noise()
	}
}

// guilty returns the line that most likely caused what happened last: in the lines that were sent without waiting it
// is the first one that has no answer, else the very last.
func (j *judge) guilty() *script.Sent { return j.guiltyOf(j.t.Sent) }

// guiltyOf is guilty for what happened when no more than these lines had been sent.
func (j *judge) guiltyOf(sent []script.Sent) *script.Sent {
	for len(sent) > 1 && len(bytes.TrimSpace(sent[len(sent)-1].Raw)) == 0 && j.t.Head(&sent[len(sent)-1]) == "" { // nobody dies of a blank line
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
		if sent[i].Answer < 0 && m.Class != jsonrpc.ClassNotification && m.Class != jsonrpc.ClassResponse && m.Why != script.WhyUnfinished {
			return &sent[i]
		}
	}
	return &sent[len(sent)-1]
}

// before returns the lines that had been sent when a line came.
func (j *judge) before(r *script.Received) []script.Sent {
	n := len(j.t.Sent)
	for n > 0 && j.t.Sent[n-1].At > r.At {
		n--
	}
	return j.t.Sent[:n]
}

// inFlight reports whether next was sent without waiting for the answer to s.
func (j *judge) inFlight(s, next *script.Sent) bool {
	if j.t.Script == nil || s.Step >= len(j.t.Script.Steps) {
		return false
	}
	step := &j.t.Script.Steps[s.Step]
	return step.NoWait || step.Times > 1 && next.Step == s.Step
}

func (j *judge) guiltySubject() string { return j.subjectOf(j.guilty()) }

// subjectOf names what a line is about that is to blame for something.
func (j *judge) subjectOf(s *script.Sent) string {
	switch {
	case s == nil:
		return "(nothing sent)"
	case j.hasOtherHead(s):
		return subjectHTTP
	case s.Message.Root != nil && (s.Message.Class == jsonrpc.ClassInvalid || jsonrpc.HasTwice(s.Message.Root) ||
		(s.Message.Class == jsonrpc.ClassRequest || s.Message.Class == jsonrpc.ClassNotification) && !saysJSONRPC(s.Message.Root)):
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
		return j.requestOf(s)
	case 1:
		return j.requestOf(s) + " and then " + j.requestOf(last)
	}
	return fmt.Sprintf("%s, %d more and then %s", j.requestOf(s), after-1, j.requestOf(last))
}

// requestOf quotes a line with the head of its request, if that is another than usual.
func (j *judge) requestOf(s *script.Sent) string {
	if head := j.t.Head(s); head != "" && len(bytes.TrimSpace(s.Raw)) == 0 {
		return "a request" + withHead(head)
	}
	return lineOf(s) + withHead(j.t.Head(s))
}

func lineOf(s *script.Sent) string {
	if s == nil {
		return "it was started, before anything was sent"
	}
	if len(bytes.TrimSpace(s.Raw)) == 0 {
		return "a blank line"
	}
	return brief(s)
}

func (j *judge) ended() {
	e := &j.t.End
	stderr := script.StderrOf(j.t)
	switch e.Kind {
	case script.EndKilled:
		return
	case script.EndGone:
		j.report(RuleGone, j.guiltySubject(), "", fmt.Sprintf("The server %s after %s.", script.Ending(e), j.guiltyLine()))
		return
	case script.EndExited:
		if e.EOF && (e.Code == 0 || observe.LastWords(stderr).Kind == observe.FaultNone) {
			return
		}
		if j.unopened() && observe.LastWords(stderr).Kind == observe.FaultNone {
			j.reportAs(RuleExit, teasel.Info, j.guiltySubject(), "", fmt.Sprintf(
				"The server exited with status %d after %s, because initialize has to come first.", e.Code, j.guiltyLine()))
			return
		}
		if e.Code == 0 {
			j.quietExit()
			return
		}
	}
	f := j.lastFault()
	if e.Kind == script.EndExited && f.Kind == observe.FaultNone && j.refusedLine() {
		return
	}
	rule := RuleCrash
	switch f.Kind {
	case observe.FaultSanitizer:
		rule = RuleSanitizer
	case observe.FaultMemory:
		rule = RuleOutOfMemory
	}
	how := "status " + strconv.Itoa(e.Code)
	if e.Kind == script.EndSignalled {
		how = e.Signal
	}
	message := fmt.Sprintf("The server %s after %s.", script.Ending(e), j.guiltyLine())
	if f.Line != "" {
		message = fmt.Sprintf("The server %s (%s) after %s.", script.Ending(e), jsonrpc.Cut(f.Line, 160), j.guiltyLine())
	}
	group := how
	if place := f.Place(j.echo()); place != "" {
		group += ": " + place
	}
	// One fault, whichever request brings it about.
	j.report(rule, j.guiltySubject(), group, message).Fault = f.Origin()
}

// lastFault reads what the server wrote since the line was sent that is to blame. Of what it wrote before, it has survived an
// exception that was logged; only the end of a program is believed to have come late.
func (j *judge) lastFault() observe.Fault {
	if s := j.guilty(); s != nil && s.Logged <= len(j.t.Stderr) {
		if f := observe.LastWords(j.t.Stderr[s.Logged:]); f.Kind != observe.FaultNone {
			return f
		}
	}
	if f := observe.FindFault(script.StderrOf(j.t)); f.Kind > observe.FaultProgram {
		return f
	}
	return observe.Fault{}
}

// unopened reports whether a script has sent messages on a process of its own, and initialize is not the first of them but for pings.
func (j *judge) unopened() bool {
	if !j.fresh() {
		return false
	}
	for i := range j.t.Sent {
		if m := &j.t.Sent[i].Message; m.Method != "ping" && (m.Class == jsonrpc.ClassRequest || m.Class == jsonrpc.ClassNotification) {
			return m.Method != "initialize" && saysJSONRPC(m.Root)
		}
	}
	return false
}

// endOfInput judges whether the server ended when it was time to.
func (j *judge) endOfInput() {
	t := j.t
	if j.session.HTTP { // the end of a connection says nothing
		return
	}
	if t.End.Kind != script.EndInvalid && t.End.Kind != script.EndKilled || t.Hung || t.Unresponsive || t.Flood || t.Script == nil || len(t.Sent) == 0 {
		return
	}
	last := &t.Sent[len(t.Sent)-1]
	if last.Step < len(t.Script.Steps) && t.Script.Steps[last.Step].Close && j.allAnswered() {
		j.report(RuleIgnoresEOF, "(end of input)", "", fmt.Sprintf(
			"The server did not exit after its standard input was closed, which followed %s.", jsonrpc.Cut(last.Raw, 160)))
	}
}

func (j *judge) allAnswered() bool {
	return !slices.ContainsFunc(j.t.Sent, func(s script.Sent) bool { return s.Regular && s.Answer < 0 })
}

// survived looks for faults on standard error that the process lived through.
func (j *judge) survived() {
	f := observe.FindFault(j.t.Stderr)
	var rule string
	switch f.Kind {
	case observe.FaultSanitizer:
		rule = RuleSanitizer
	case observe.FaultMemory:
		if j.allAnswered() { // it was noticed, and the request refused
			return
		}
		rule = RuleOutOfMemory
	case observe.FaultAssertion:
		rule = RuleAssertion
	case observe.FaultPanic:
		rule = RulePanicLogged
	case observe.FaultProgram:
		if j.answeredWith(f.Line) { // which is a finding of the answer's already
			return
		}
		rule = RuleErrorLogged
	default:
		return
	}
	if (f.Kind == observe.FaultPanic || f.Kind == observe.FaultProgram) && j.owesAnswer() { // which is a finding that shows this text
		return
	}
	// One fault, whichever request was the last when it was seen.
	s := j.guiltyOf(j.sentUntil(f.Offset))
	place := f.Place(observe.EchoOf(s))
	j.reportCause(rule, j.rules[rule].Severity, j.subjectOf(s), place, rawOf(s), fmt.Sprintf(
		"The server wrote %s to standard error after %s, and lived on.", jsonrpc.Quote(f.Line, 160), lineOf(s)))
}

// owesAnswer reports whether a request that waits for nobody else has no answer.
func (j *judge) owesAnswer() bool {
	return slices.ContainsFunc(j.t.Sent, func(s script.Sent) bool {
		m := &s.Message
		malformed := m.Class == jsonrpc.ClassRequest && (m.Params != nil && m.Params.Kind != mutate.Object || j.lacksMembers(m)) // deeply nested too
		return (s.Regular || malformed) && s.Answer < 0 && !s.Unresolved && !s.Withdrawn && !j.reachesOut(&s)
	})
}

// answeredWith reports whether the client was told of a mistake in the program in the words that are in line.
func (j *judge) answeredWith(line string) bool {
	words := observe.ExceptionIn(line)
	return words != "" && slices.ContainsFunc(j.t.Received, func(r script.Received) bool {
		return r.Message.IsRefusal() && strings.Contains(script.RefusalText(&r), words) // also where two ids leave open whom it answers
	})
}

// sentUntil returns the lines that had been sent when the server wrote what stands at an offset of its standard error.
func (j *judge) sentUntil(offset int) []script.Sent {
	n := len(j.t.Sent)
	for n > 1 && j.t.Sent[n-1].Logged > offset {
		n--
	}
	return j.t.Sent[:n]
}

func rawOf(s *script.Sent) []byte {
	if s == nil {
		return nil
	}
	return s.Raw
}
