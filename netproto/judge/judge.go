package judge

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/teaselfuzz/teasel"
)

// Detect judges the evidence of one dialogue, an [Evidence] by address. It is a [teasel.DetectorFunc].
func Detect(o *teasel.Observation) []teasel.Finding {
	e, ok := o.Evidence.(*Evidence)
	if !ok {
		return nil
	}
	r := e.report()
	f, ok := e.finding(r)
	if !ok {
		return nil
	}
	f.Severity = severity(f.Rule)
	if e.Fault == FaultNone && f.Severity == teasel.Critical { // it goes on, and what it writes may be the client's words
		f.Severity = teasel.High
	}
	if f.Subject == "" {
		f.Subject = "server"
	}
	if e.Repeated > 0 && e.Gone == nil && e.Fault != FaultUnanswered { // one that uses up what clients need is the same, however often it is held
		f.Group += repeatedMark
		if f.Fault != "" {
			f.Fault += repeatedMark
		}
	}
	f.Detail = e.detail(r)
	return []teasel.Finding{f}
}

// repeatedMark ends the group of a finding that shows only when a dialogue is repeated, and its fault, so that it is not the
// finding of a fault that shows at once. One is not confirmed by seeing the other.
const repeatedMark = ", repeated"

// notAtOnce is in the message of a finding that showed in a repetition.
const notAtOnce = " of the dialogue and not at once"

// InRepetition reports whether a finding showed only when a dialogue was repeated.
func InRepetition(f *teasel.Finding) bool {
	return strings.HasSuffix(f.Group, repeatedMark) || f.Rule == RuleUnanswered && strings.Contains(f.Message, notAtOnce)
}

var _ teasel.Detector = teasel.DetectorFunc(Detect)

// finding tells what the fault is of, and what tells it from others.
func (e *Evidence) finding(r *report) (f teasel.Finding, ok bool) {
	f = teasel.Finding{Subject: e.Message, Group: e.Key, Signal: int(e.Signal)}
	after := e.after()
	if e.Gone != nil {
		return e.gone(f), true
	}
	switch e.Fault {
	case FaultDeath:
		return e.death(f, r), true
	case FaultHang:
		f.Rule, f.Message = RuleHang, fmt.Sprintf("The server goes on using processor time%s: %s.", after, e.Text)
	case FaultStuck:
		f.Rule, f.Message = RuleStuck, fmt.Sprintf("The server neither sleeps nor gets anywhere%s: %s.", after, e.Text)
	case FaultClosed:
		f.Rule, f.Message = RuleClosed, fmt.Sprintf("The server runs, but takes no connections any more%s: %s.", after, e.Text)
	case FaultHealth:
		f.Rule, f.Message = RuleHealth, fmt.Sprintf("The health check fails after the dialogue: %s.", e.Text)
	case FaultUnanswered:
		whom := "answers nobody any more"
		if e.Some {
			whom = "no longer answers some of its clients"
		}
		f.Rule, f.Subject, f.Message = RuleUnanswered, "", fmt.Sprintf("The server %s%s: %s.", whom, after, e.Text)
	case FaultFlood:
		f.Rule, f.Message = RuleFlood, fmt.Sprintf("The server does not stop answering%s: %s.", after, e.Text)
	case FaultLimit:
		f.Rule, f.Message = RuleLimit, fmt.Sprintf("The server holds more memory than it may%s: %s.", after, e.Text)
	case FaultMemory:
		f.Rule, f.Message = RuleMemory, fmt.Sprintf("The server holds more memory each time the dialogue is repeated: %s.", e.Text)
	case FaultFiles:
		f.Rule, f.Message = RuleFiles, fmt.Sprintf("The server has more files open each time the dialogue is repeated: %s.", e.Text)
	case FaultResponse:
		f.Rule, f.Message = RuleResponse, fmt.Sprintf("A response is not what the model describes%s: %s.", after, e.Text)
	case FaultNone:
		if r == nil {
			return f, false
		}
		f.Rule, f.Fault, f.Place, f.Group = r.rule, r.name(), r.place(), r.said()
		f.Message = fmt.Sprintf("The server reports a fault and goes on%s%s%s.", after, r.because(), r.where())
	default:
		return f, false
	}
	return f, true
}

// gone is a finding of a server that somebody else has started: whether it runs cannot be seen. Which message it was is not known either,
// unless it was in this dialogue, so that it is one finding.
func (e *Evidence) gone(f teasel.Finding) teasel.Finding {
	what, after := "takes no connections any more", e.after()
	if e.Fault == FaultUnanswered {
		what = "answers nobody any more"
	}
	if e.goneEarlier() {
		after = fmt.Sprintf(" after one of the last %d dialogues", e.Gone.Held)
	}
	f.Rule, f.Subject, f.Group = RuleGone, "", ""
	f.Message = fmt.Sprintf("The server %s%s: %s. It was not started by teasel, which cannot start it again.", what, after, e.Text)
	return f
}

// goneEarlier reports whether a server is gone, and an earlier dialogue than this one may be to blame.
func (e *Evidence) goneEarlier() bool {
	return e.Gone != nil && e.Gone.Held > 1 && e.At < 0
}

// death is a finding of a server that is no more.
func (e *Evidence) death(f teasel.Finding, r *report) teasel.Finding {
	how := fmt.Sprintf("ended with exit status %d", e.Status)
	f.Group = fmt.Sprintf("status %d", e.Status)
	if e.Signal != 0 {
		how = fmt.Sprintf("was ended by signal %d, %v,", int(e.Signal), e.Signal)
		f.Group = e.Signal.String()
	}
	who := "The server"
	if e.Forked {
		who = "A process of the server's"
	}
	f.Rule, f.Fault, f.Place = r.rule, r.name(), r.place()
	f.Message = fmt.Sprintf("%s %s%s%s%s.", who, how, e.after(), r.because(), r.where())
	if f.Rule == RuleReport { // it did not go on
		f.Rule = RulePanic
	}
	if f.Rule == RulePanic && (e.Signal == syscall.SIGSEGV || e.Signal == syscall.SIGBUS) {
		f.Rule = RuleCrash
	}
	if e.Key != "" {
		f.Group += " " + e.Key
	}
	if e.Signal == syscall.SIGPIPE { // of a client that has gone, whatever it had said
		f.Subject = ""
	}
	f.Uncertain = e.Used
	if e.Worn > 0 {
		f.Subject, f.Group = "", f.Group+", worn"
		f.Message = fmt.Sprintf("%s %s after %d messages, whatever they are: it does so too when a client that it answers comes again and again.", who, strings.TrimSuffix(how, ","), e.Worn)
	}
	return f
}

// after says which message it was, and whether it takes more than this one conversation.
func (e *Evidence) after() string {
	if e.At < 0 && e.Closed {
		return " when the client had closed the connection without sending anything" + e.repeated()
	}
	if e.At < 0 {
		return " before anything was sent" + e.repeated()
	}
	message, connection := fmt.Sprintf("message %d", e.At+1), e.connection()
	switch {
	case e.Closed && connection != "":
		return fmt.Sprintf(" when the client had closed%s after %s%s", connection, message, e.repeated())
	case e.Closed:
		return fmt.Sprintf(" when the client had closed the connection after %s%s", message, e.repeated())
	case e.Message != "":
		message += ", " + e.Message
	}
	if connection != "" {
		connection = " on" + connection
	}
	return " after " + message + connection + e.repeated()
}

// connection says on which of several connections it was; "": there was only one.
func (e *Evidence) connection() string {
	if clients := e.clients(); clients > 1 {
		for i := len(e.Talk) - 1; i >= 0; i-- {
			if e.Talk[i].Sent != nil {
				return fmt.Sprintf(" the connection of client %d of %d", e.Talk[i].Client+1, clients)
			}
		}
	}
	n := 0
	for i := range e.Talk {
		if e.Talk[i].Reconnect {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" connection %d", n)
}

// repeated says that the dialogue was held before.
func (e *Evidence) repeated() string {
	if e.Repeated == 0 {
		return ""
	}
	return fmt.Sprintf(", in repetition %d%s", e.Repeated, notAtOnce)
}

// mostOutput is how much of what the server has written is kept, its beginning, where reports have what matters.
const mostOutput = 16 << 10

func (e *Evidence) detail(r *report) string {
	var b strings.Builder
	if e.goneEarlier() {
		b.WriteString("- what it was sent in the last dialogues\n")
		b.WriteString((&Evidence{Talk: e.Gone.Last}).Transcript())
	} else {
		b.WriteString(e.Transcript())
	}
	if r != nil && len(r.Stack) > 1 {
		b.WriteString("\nstack:\n")
		for _, f := range r.Stack {
			fmt.Fprintf(&b, "  %v\n", f)
		}
	}
	if out := strings.TrimSpace(string(e.Output)); out != "" {
		fmt.Fprintf(&b, "\nthe server has written:\n%s\n", out[:min(len(out), mostOutput)])
	}
	return b.String()
}
