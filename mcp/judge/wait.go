package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// unresponsive judges a server that answers nothing any more.
func (j *judge) unresponsive() {
	s := j.heardLast()
	if s == nil || j.t.AwaitsClient || j.unterminated(&j.t.Sent[len(j.t.Sent)-1]) || j.asksForTime(s) || j.isReading(s) {
		return
	}
	line, subject := j.requestOf(s), j.subject(s)
	if j.hasOtherHead(s) {
		subject = subjectHTTP
	}
	switch {
	case j.t.Ended:
		j.report(RuleDeaf, subject, "", fmt.Sprintf("After %s the session answers nothing any more: its HTTP responses are empty.", line))
	case j.t.Idle && len(s.Raw) >= long: // it has stopped reading, whatever the line says
		j.report(RuleDeaf, subjectLongLine, "", fmt.Sprintf("After %s the server answered nothing any more, not even a ping.", line))
	case j.waitsOutside(s):
		why := "It used no processor, and seems to have been waiting for somebody else."
		if j.t.Busy {
			why = "It was waiting for a program that it had started, which used the processor."
		}
		j.reportAs(RuleDeaf, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"While it worked on %s the server answered nothing else, not even a ping. %s", line, why))
	default:
		j.report(RuleDeaf, subject, "", fmt.Sprintf("After %s the server answered nothing any more, not even a ping.", line))
	}
}

// heardLast returns the line after which the server was silent: the first request that has no answer of those that were sent since it said
// anything. Where none is owed one, that is the line that is to blame for whatever happened.
func (j *judge) heardLast() *script.Sent {
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		if s.Regular && s.Answer < 0 && !slices.ContainsFunc(j.t.Received, func(r script.Received) bool { return r.At >= s.At }) {
			return s
		}
	}
	return j.guilty()
}

// waitsOutside reports whether a server waits for somebody else: it was seen to, or where nobody could look and it uses no processor, the
// request says so or the tool's words do. That a tool may reach out by default, since no annotation says otherwise, is no reason: a lock
// that nobody releases looks the same.
func (j *judge) waitsOutside(s *script.Sent) bool {
	switch j.t.Waits {
	case script.WaitsInside:
		return false
	case script.WaitsOutside:
		return true
	}
	if j.t.Busy {
		return false
	}
	tool := j.called(s)
	return j.saysThatItReachesOut(s) || tool != nil && tool.OpenWorld && (tool.Network || tool.Takes(session.RunsProgram|session.RunsQuery|session.ReadsAnywhere))
}

// hung judges the requests that got no answer although pings did.
func (j *judge) hung() {
	if j.t.AwaitsClient { // whoever waits for the client may keep others waiting
		return
	}
	for i := range j.t.Sent {
		s := &j.t.Sent[i]
		if !s.Regular || s.Answer >= 0 || s.Unresolved || j.anonymousError(s) || !j.servedAt(i) || s.Withdrawn || j.asksForTime(s) || j.isReading(s) || j.mayGoOn(s) || j.misaddressed(s) != nil || j.foreign != nil || j.answeredUnreadably(s) {
			continue
		}
		if !j.reachesOut(s) && (!isUsual(&s.Message) || j.lacksMembers(&s.Message) || len(s.Raw) >= oversized) {
			j.dropped(s)
			continue
		}
		j.unanswered(s)
	}
}

// isReading reports whether a line is so long that a server which is not idle may still be reading it.
func (j *judge) isReading(s *script.Sent) bool { return len(s.Raw) >= 16*oversized && !j.t.Idle }

// unanswered reports a request without an answer. Where nothing says how long it may take, it may only be slow: how sure it
// is that the server has forgotten the request depends on whether it may be waiting for somebody else.
func (j *judge) unanswered(s *script.Sent) {
	line := brief(s)
	if c := j.loosely(s); c != nil { // some libraries take ids of both types for one another, and no client has both
		j.reportAs(RuleHang, teasel.Info, subjectCancelled, "another type", fmt.Sprintf(
			"The server left %s unanswered after %s, which cancels a request whose id has the same text and is of another type: it takes the two ids for one.", line, jsonrpc.Cut(c.Raw, 160)))
		return
	}
	switch {
	case !j.reachesOut(s):
		j.report(RuleHang, j.subject(s), "", fmt.Sprintf("%s got no answer in time, while pings were answered.", line))
	case j.t.Busy:
		j.reportAs(RuleHang, teasel.Low, j.subject(s), "", fmt.Sprintf( // such as a check of a whole project, which no annotation speaks of
			"%s got no answer in time, while pings were answered. The server was using the processor, so that it may only be slow.", line))
	case j.saysThatItReachesOut(s):
		j.reportAs(RuleSlow, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"%s got no answer in time. It reaches out to others, which may have kept it waiting.", line)).Alone = true
	default:
		j.reportAs(RuleHang, teasel.Info, j.subject(s), "", fmt.Sprintf(
			"%s got no answer in time, while pings were answered. Nothing says how long it may take: the server may have been waiting for somebody else.", line))
	}
}

// loosely returns the notification that cancels a request whose id has the same text in another type; nil: there is none.
func (j *judge) loosely(s *script.Sent) *script.Sent {
	id := s.Message.Root.Get("id")
	for i := range j.t.Sent {
		n := &j.t.Sent[i]
		if n.Message.Method != "notifications/cancelled" || id == nil {
			continue
		}
		if other := n.Message.Params.Get("requestId"); other != nil && other.Kind != id.Kind && jsonrpc.IsID(other) && other.Text == id.Text {
			return n
		}
	}
	return nil
}

// reachesOut reports whether a request may have to wait for somebody else: the tool does not say that it does not, the
// resource is not the server's own, or an argument is a URL.
func (j *judge) reachesOut(s *script.Sent) bool {
	tool := j.called(s)
	return tool != nil && tool.OpenWorld || j.saysThatItReachesOut(s)
}

// saysThatItReachesOut reports whether a request waits for somebody else, and says so: an annotation of the tool, or a URL.
func (j *judge) saysThatItReachesOut(s *script.Sent) bool {
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
func (j *judge) anonymousError(s *script.Sent) bool {
	return slices.ContainsFunc(j.t.Received, func(r script.Received) bool {
		return r.Message.Error != nil && (r.Message.ID == "" || r.Message.ID == "null" || j.hasUnreadID(&r)) && r.At >= s.At
	})
}

// dropped reports a request with a readable id that got no answer, by what is unusual about it.
func (j *judge) dropped(s *script.Sent) {
	m := &s.Message
	id := m.Root.Get("id")
	if id != nil && !isPortable(id) { // the line may count as unreadable, and then nobody is owed an answer by name
		return
	}
	message := fmt.Sprintf("%s got no answer, not even an error, though its id can be read.", brief(s))
	oddID := id != nil && !jsonrpc.IsUsualID(id) && m.Method != "" && !m.Twice && jsonrpc.UnusualEnvelope(m) == ""
	switch {
	case isUsual(m) && !j.lacksMembers(m):
		j.report(RuleNoReply, j.subject(s), "", message)
	case !oddID:
		j.reportCause(RuleNoReply, teasel.Medium, subjectMessage, "message schema", s.Raw, message)
	case id.Kind == mutate.String || jsonrpc.IsPlainInteger(id): // the schema of a message allows it: it is the id itself that somebody looks at, such as 0
		j.report(RuleNoReply, subjectID, "", message)
	default: // who checks messages against a schema drops an id that a double does not hold as it drops a member that it does not know
		j.reportCause(RuleNoReply, teasel.Medium, subjectID, "message schema", s.Raw, message)
	}
}

// asksForTime reports whether the arguments of a call want it to last a second or more.
func (j *judge) asksForTime(s *script.Sent) bool {
	tool := j.called(s)
	if tool == nil || !tool.Takes(session.TakesTime) {
		return false
	}
	properties := j.session.Tool(session.CalledName(&s.Message)).Properties()
	arguments := s.Message.Params.Get("arguments")
	for i := range properties {
		p := &properties[i]
		if tool.Arguments[p.Name]&session.TakesTime == 0 {
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
