package judge

import (
	"bytes"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// The error codes that JSON-RPC and MCP define.
const (
	codeParse            = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeInternal         = -32603
	codeResourceNotFound = -32002
)

// envelope judges the form of an answer, whatever it says. False means that there is no sense in reading on.
func (j *judge) envelope(s *script.Sent, r *script.Received) bool {
	if r.Loose {
		j.identity(s, r)
	}
	if malformed(&r.Message) != "" { // see shape
		return false
	}
	if !saysJSONRPC(s.Message.Root) {
		if r.Message.Result != nil {
			j.invalidRequest(s)
		}
		return false
	}
	return true
}

// shape judges the form of a response by itself, whatever it answers.
func (j *judge) shape(r *script.Received) {
	m := &r.Message
	if m.Class == jsonrpc.ClassBatch || m.Root == nil || m.Root.Kind != mutate.Object || m.ID == "" && m.Result == nil && m.Error == nil {
		return // it is no response at all
	}
	why := malformed(m)
	if why == "" {
		return
	}
	if m.ID == "" && m.Error != nil { // as some answer what they cannot read
		return
	}
	var sent []byte
	if s := j.sender(r); s != nil {
		sent = s.Raw
	}
	j.reportCause(RuleMalformedReply, teasel.High, j.source(r), why, sent, fmt.Sprintf("%s was answered with %s: %s.", j.cause(r), jsonrpc.Cut(r.Raw, 160), why))
}

// codeRange judges an error code by itself. The same one is one fault, whichever method shows it.
func (j *judge) codeRange(s *script.Sent, r *script.Received) {
	if why := suspicious(script.ErrorCode(r)); why != "" {
		f := j.report(RuleCodeRange, fmt.Sprintf("(error code %d)", script.ErrorCode(r)), "", fmt.Sprintf("%s was answered with error code %d, which %s.", jsonrpc.Cut(s.Raw, 160), script.ErrorCode(r), why))
		j.cfg.Spread.add(f.ID(), j.subject(s), s.Raw)
	}
}

// suspicious says what is wrong with an error code by itself, "" if nothing is.
func suspicious(code int64) string {
	switch {
	case code == 0:
		return "means success to many clients"
	case code < -32768 || code >= -32100, code == codeParse, code >= codeInternal && code <= codeInvalidRequest:
		return ""
	}
	return "JSON-RPC reserves"
}

// malformed says what is wrong with the form of a response, "" if nothing is.
func malformed(m *jsonrpc.Message) string {
	if m.Root == nil || m.Root.Kind != mutate.Object {
		return "it is no object"
	}
	if !saysJSONRPC(m.Root) {
		return `"jsonrpc" is not "2.0"`
	}
	switch {
	case m.Result != nil && m.Error != nil:
		return "it has both a result and an error"
	case m.Result != nil && m.Result.Kind != mutate.Object:
		return "the result is " + jsonrpc.Describe(m.Result.Kind) + " and not an object"
	case m.Result != nil:
		return ""
	case m.Error == nil:
		return "it has neither a result nor an error"
	case m.Error.Kind != mutate.Object:
		return "the error is " + jsonrpc.Describe(m.Error.Kind) + " and not an object"
	}
	if _, ok := m.Error.Get("code").Int(); !ok {
		return "the error has no code that is an integer"
	}
	if _, ok := m.Error.Get("message").Str(); !ok {
		return "the error has no message that is a string"
	}
	return ""
}

func saysJSONRPC(root *mutate.JSON) bool {
	v, ok := root.Get("jsonrpc").Str()
	return ok && v == "2.0"
}

// Subjects of findings that do not depend on the method.
const (
	subjectID        = "(request id)"
	subjectUnread    = "(invalid JSON)"
	subjectMessage   = "(invalid message)"
	subjectParams    = "(invalid params)"
	subjectCancelled = "(cancelled request)"
)

func (j *judge) invalidRequest(s *script.Sent) {
	j.report(RuleInvalidRequest, subjectMessage, "", fmt.Sprintf(
		`%s was executed although "jsonrpc" is not "2.0"; expected error -32600.`, jsonrpc.Cut(s.Raw, 160)))
}

// irregular judges lines that are no well-formed request with an id of its own.
func (j *judge) irregular(i int, s *script.Sent) {
	m := &s.Message
	switch m.Class {
	case jsonrpc.ClassBatch:
		j.batch(i, s)
	case jsonrpc.ClassInvalid:
		if m.Root != nil && m.Root.Kind == mutate.Object && !m.Twice {
			j.invalidMessage(i, s)
		}
	case jsonrpc.ClassRequest:
		if m.Twice {
			return
		}
		if r := j.answer(s); r != nil && r.Message.Result != nil && !saysJSONRPC(m.Root) {
			j.invalidRequest(s)
		}
		j.maybeDropped(i, s)
	}
}

// invalidMessage judges what became of an object that is no message.
func (j *judge) invalidMessage(i int, s *script.Sent) {
	m := &s.Message
	id := m.Root.Get("id")
	if id == nil {
		return
	}
	if m.Root.Get("method") != nil && jsonrpc.IsID(id) {
		j.maybeDropped(i, s)
		return
	}
	if m.Method == "" || !saysJSONRPC(m.Root) {
		return
	}
	for k := range j.t.Received {
		r := &j.t.Received[k]
		if r.Message.Class != jsonrpc.ClassResponse || r.Message.Result == nil {
			continue
		}
		echoed := r.Message.Root.Get("id")
		switch {
		case id.Kind == mutate.Number:
			if r.Sent < 0 && !s.Again && !id.Equal(echoed) && resembles(id, echoed) {
				j.reportAs(RuleID, teasel.Medium, subjectID, "rounded", fmt.Sprintf(
					"The id %s came back as %s: it was rounded.", jsonrpc.Cut(m.ID, 80), jsonrpc.Cut(r.Message.ID, 80)))
			}
		case id.Equal(echoed) && (id.Kind != mutate.Null || j.onlyNullID(s)):
			j.report(RuleInvalidID, subjectID, "", fmt.Sprintf(
				"%s was executed and answered with a result, although its id is neither a string nor a number.", jsonrpc.Cut(s.Raw, 160)))
		}
	}
}

// maybeDropped judges a request whose envelope or id is unusual. Its refusal takes no time, nor do some methods: when
// nothing has come, nothing will.
func (j *judge) maybeDropped(i int, s *script.Sent) {
	m := &s.Message
	if j.session.Events { // the status of its POST may be the answer
		return
	}
	if s.Answer >= 0 || j.t.Hung || !j.t.Stands() || m.Result != nil || m.Error != nil || !j.servedAt(i) ||
		j.anonymousError(s) || j.misaddressed(s) != nil || j.answeredUnreadably(s) || j.hasForeignAnswer() || j.unterminated(s) || j.mayGoOn(s) || s.Withdrawn || !jsonrpc.IsOneLine(s.Raw) || !j.isUnique(s) {
		return
	}
	// What a server may well execute takes its time.
	hopeless := m.Class == jsonrpc.ClassInvalid || m.Params != nil && m.Params.Kind != mutate.Object
	if hopeless || isQuick(m.Method) && !isUsual(m) {
		j.dropped(s)
	}
}

// isQuick reports whether a method is answered without work. A list may have to be asked for elsewhere.
func isQuick(method string) bool {
	return method == "ping" || method == "logging/setLevel" || !session.IsMethod(method)
}

// isSound reports whether a line is a request that is to be answered under its own id.
func (j *judge) isSound(s *script.Sent) bool {
	m := &s.Message
	if m.Class != jsonrpc.ClassRequest || s.Unresolved || s.Again || j.isShared(s) {
		return false
	}
	return s.Regular || !m.Twice && saysJSONRPC(m.Root) && (m.Params == nil || m.Params.Kind == mutate.Object) && m.Result == nil && m.Error == nil &&
		jsonrpc.IsOneLine(s.Raw) && !j.unterminated(s) && j.isUnique(s)
}

// isShared reports whether another request has the same id: whose an answer is, nobody can tell.
func (j *judge) isShared(s *script.Sent) bool {
	for i := range j.t.Sent {
		if o := &j.t.Sent[i]; o != s && o.Message.Class == jsonrpc.ClassRequest && o.Message.ID == s.Message.ID {
			return true
		}
	}
	return false
}

// isUsual reports whether nothing about a request is unusual, so that only the method's own code can be to blame.
func isUsual(m *jsonrpc.Message) bool {
	id := m.Root.Get("id")
	if m.Twice || id == nil || m.Method == "" || jsonrpc.UnusualEnvelope(m) != "" {
		return false
	}
	return jsonrpc.IsUsualID(id)
}

// unsolicited judges a message that answers nothing we know of.
func (j *judge) unsolicited(r *script.Received) {
	m := &r.Message
	if m.Result == nil && m.Error == nil {
		if m.ID == "" {
			j.noiseAfter(r.Raw, j.guiltyOf(j.before(r)))
		}
		return
	}
	if m.ID == "" || m.ID == "null" {
		j.anonymous(r)
		return
	}
	id := m.Root.Get("id")
	for k := range j.t.Sent {
		s := &j.t.Sent[k]
		switch {
		case s.Unresolved:
		case s.Message.Class == jsonrpc.ClassResponse && malformed(&s.Message) == "" && id.Equal(s.Message.Root.Get("id")) && !j.asked(id):
			j.report(RuleResponseReply, "(response)", "", fmt.Sprintf(
				"The response %s was answered with %s.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
			return
		case s.Answer < 0 && s.Message.Class == jsonrpc.ClassRequest && resembles(s.Message.Root.Get("id"), id) && j.isSound(s): // that looks at all lines
			j.identity(s, r)
			return
		}
	}
	j.foreignReply(r)
}

// anonymous judges a response without an id, by what it can be the answer to. Of a notification and a response that were both sent
// before it came, it may be the answer to either.
func (j *judge) anonymous(r *script.Received) {
	var unreadable, odd, notification, response *script.Sent
	sent := j.before(r)
	for k := range sent {
		s := &sent[k]
		m := &s.Message
		switch {
		case s.Unresolved || j.unterminated(s) || m.Root != nil && jsonrpc.HardToRead(s.Raw, m.Root) != "":
			odd = s
		case m.Class == jsonrpc.ClassInvalid && m.Root == nil && jsonrpc.IsOneLine(s.Raw) && isHopeless(s.Raw):
			unreadable = s
		case m.Class == jsonrpc.ClassNotification && !m.Twice && saysJSONRPC(m.Root) && (m.Params == nil || m.Params.Kind == mutate.Object):
			notification = s
		case m.Class == jsonrpc.ClassResponse && m.ID != "null" && m.Root.Get("jsonrpc") != nil && malformed(m) == "":
			response = s
		case m.Class == jsonrpc.ClassRequest && s.Answer >= 0 && j.t.Received[s.Answer].Message.ID != "null":
		default:
			odd = s
		}
	}
	switch {
	case odd != nil:
	case unreadable != nil:
		if r.Message.Error != nil && notification == nil && response == nil && malformed(&r.Message) == "" && script.ErrorCode(r) != codeParse {
			j.report(RuleParseError, subjectUnread, "", fmt.Sprintf("%s is no JSON and was answered with error %d %s; expected -32700.",
				jsonrpc.Cut(unreadable.Raw, 160), script.ErrorCode(r), jsonrpc.Quote(script.ErrorMessage(r), 80)))
		}
	case script.ErrorCode(r) == codeParse: // of a line that somebody else has sent: these can be read
	case notification != nil && response != nil:
	case notification != nil:
		j.notificationReply(notification, r)
	case response != nil:
		j.report(RuleResponseReply, "(response)", "", fmt.Sprintf(
			"The response %s was answered with %s.", jsonrpc.Cut(response.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
	}
}

// isHopeless reports whether no reader of JSON can make anything of a line, however lax it is: it is no object and no array,
// or it ends in the middle of one. Forms of its own, such as NaN and comments, a reader may accept (RFC 8259, section 9).
func isHopeless(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return true
	}
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth > 0 || quoted
}

// another judges a response to a request that may have had one.
func (j *judge) another(i int, r *script.Received) {
	if r.Loose || r.Sent >= len(j.t.Sent) || r.Via > 0 && j.isResumed(r) {
		return
	}
	s := &j.t.Sent[r.Sent]
	first := j.answer(s)
	if first == nil || len(first.Raw) == 0 || first.Via > 0 && j.isResumed(first) || s.Answer == i || !j.isSound(s) || first.Loose || first.Message.ID == "null" || j.foreign != nil {
		return // what says that no id could be read may be about something else
	}
	j.report(RuleDuplicateReply, j.subject(s), "", fmt.Sprintf("%s was answered twice, the second time with %s.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
}

// notificationReply reports the answer to a notification. A server that answers one answers others, too.
func (j *judge) notificationReply(n *script.Sent, r *script.Received) {
	j.reportCause(RuleNotificationReply, teasel.Medium, j.subject(n), "notification", n.Raw, fmt.Sprintf(
		"The notification %s was answered with %s.", jsonrpc.Cut(n.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
}
