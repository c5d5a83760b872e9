package check

import (
	"net/http"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Findings is who collects what checks find.
type Findings interface {
	// Report adds a finding of a rule, once for each subject and group, and returns it, to be added to before the next one.
	Report(rule, subject, group, message string) *teasel.Finding
	// ReportAs is Report with a severity that is not the rule's.
	ReportAs(rule string, severity teasel.Severity, subject, group, message string) *teasel.Finding
	// ReportCause adds a finding that has one cause wherever it shows.
	ReportCause(rule string, severity teasel.Severity, subject, cause string, line []byte, message string)
}

// Case is a transcript that is held against what a check expects.
type Case struct {
	Transcript *script.Transcript
	Session    *session.Session // never nil
	Findings   Findings
}

func (j *Case) answer(s *script.Sent) *script.Received {
	if s.Answer < 0 || s.Answer >= len(j.Transcript.Received) {
		return nil
	}
	return &j.Transcript.Received[s.Answer]
}

func (j *Case) subject(s *script.Sent) string { return session.Subject(j.Session, &s.Message) }

func (j *Case) report(rule, subject, group, message string) *teasel.Finding {
	return j.Findings.Report(rule, subject, group, message)
}

func (j *Case) reportCause(rule string, severity teasel.Severity, subject, cause string, line []byte, message string) {
	j.Findings.ReportCause(rule, severity, subject, cause, line, message)
}

func (j *Case) reportAs(rule string, severity teasel.Severity, subject, group, message string) *teasel.Finding {
	return j.Findings.ReportAs(rule, severity, subject, group, message)
}

// called returns the traits of the tool that a message calls; nil: it calls none that the server has.
func (j *Case) called(s *script.Sent) *session.Traits {
	if s == nil || s.Message.Method != "tools/call" {
		return nil
	}
	if tool := j.Session.Tool(session.CalledName(&s.Message)); tool != nil {
		traits := session.TraitsOf(tool)
		return &traits
	}
	return nil
}

// isPurpose reports whether it is what the tool is for that a text has such an effect.
func (j *Case) isPurpose(s *script.Sent, purposes session.Purpose, text string) bool {
	tool := j.called(s)
	return tool != nil && tool.Has(purposes, s.Message.Params.Get("arguments"), text)
}

// declined reports whether the server has declined to answer a plain request over HTTP, for who asks or how often: then it says nothing that what it
// answers to others differs.
func (j *Case) declined() bool {
	return slices.ContainsFunc(j.Transcript.Sent, func(s script.Sent) bool {
		return (conn.Declined(s.Status) || s.Status == http.StatusServiceUnavailable) && s.Regular && j.Transcript.Head(&s) == ""
	})
}

// Compare holds the answers of a systematic check against one another.
func (j *Case) Compare() {
	if !j.Transcript.Stands() || j.Transcript.Hung || j.declined() {
		return
	}
	switch j.Transcript.Script.Check {
	case UnknownName:
		j.againstControls(false)
	case VariantKey:
		j.againstControls(true)
	case SameAfterGarbage:
		j.afterGarbage()
	case Repeat:
		j.repeated()
	case ReadOnly:
		j.readOnly()
	case Sessions:
		j.crossed()
	case SessionState:
		j.afterSession()
	case BareClient:
		j.refusedBare()
	case Used:
		j.used()
	case Transports:
		j.transports()
	case InFlight:
		j.mixedAnswers()
	case SideBySide:
		j.lostWrites()
	case Pollution:
		j.polluted()
	case EarlierRequests:
		j.afterOthers()
	case Versions:
		j.versions()
	}
}
