package judge

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

const transportSource = specification + "2025-11-25/basic/transports"

var httpRules = []teasel.Rule{
	{ID: RuleHTTPError, Severity: teasel.Medium, Title: "Request fails with a status of 500 or more",
		Help:   "The server answered a request with an HTTP status from 500 on instead of a JSON-RPC message.\n\nAn exception has left the handler, and the client does not learn what was wrong with its request.\n\nAnswer with a JSON-RPC error, and what cannot be accepted with a status from 400 to 499.",
		Source: transportSource + "#sending-messages-to-the-server"},
	{ID: RuleHTTPNoResponse, Severity: teasel.Medium, Title: "Connection is closed, or the response ends, without an answer",
		Help:   "The server closed the connection of a request without an HTTP response, or ended the response without a message, and ran on.\n\nThe client cannot know whether the request was carried out.\n\nAnswer each request. A head of 8,000 bytes or more may be refused by closing the connection.",
		Source: transportSource + "#sending-messages-to-the-server"},
	{ID: RuleHTTPType, Severity: teasel.Medium, Title: "Response to a request has the wrong type",
		Help:   "The response to a request is neither application/json nor text/event-stream.\n\nClients decide by the type how to read it.\n\nSet Content-Type.",
		Source: transportSource + "#sending-messages-to-the-server"},
	{ID: RuleHTTPAccepted, Severity: teasel.Low, Title: "Notification is not answered with 202 and no body",
		Help:   "A notification or response that the server accepted was answered with another status than 202, or with a body.\n\nClients wait for a message, or take the body for one.\n\nAnswer 202 Accepted without a body.",
		Source: transportSource + "#sending-messages-to-the-server"},
	{ID: RuleHTTPOrigin, Severity: teasel.High, Title: "Request from a foreign web page is served",
		Help:   "A request whose Origin is that of a foreign web page was carried out.\n\nAny page that a user has open can call the tools of a server on the user's machine, by DNS rebinding.\n\nCompare Origin with a list, and answer 403.",
		Source: transportSource + "#security-warning"},
	{ID: RuleHTTPVersion, Severity: teasel.Low, Title: "Unsupported MCP-Protocol-Version is served",
		Help:   "A request whose MCP-Protocol-Version names a version that does not exist was carried out.\n\nClient and server speak different protocols and do not notice.\n\nAnswer 400.",
		Source: transportSource + "#protocol-version-header"},
	{ID: RuleHTTPSession, Severity: teasel.High, Title: "Session that does not exist is served",
		Help:   "A request with the id of a session that the server never gave, or that was ended, was carried out.\n\nSessions that anybody can make up protect nothing, and one that was ended lives on.\n\nLook the id up and answer 404.",
		Source: transportSource + "#session-management"},
	{ID: RuleHTTPNoSession, Severity: teasel.Low, Title: "Request without a session id is served",
		Help:   "The server gives sessions an id and carried out a request that has none.\n\nWhose state it changes is anybody's guess.\n\nAnswer 400.",
		Source: transportSource + "#session-management"},
	{ID: RuleHTTPSessionID, Severity: teasel.High, Title: "Session id can be guessed or is malformed",
		Help:   "The id of a session is short, comes again, differs from another one by counting, or has characters other than visible ASCII.\n\nWho guesses it takes the session over.\n\nUse a random id of 128 bits, such as a version 4 UUID.",
		Source: transportSource + "#session-management"},
	{ID: RuleHTTPHost, Severity: teasel.Low, Title: "Request for a foreign host is served",
		Help:   "A request whose Host is a name that is not the server's was carried out.\n\nA page whose name is made to point to the user's machine reaches the server with it, where no Origin is sent or none is looked at.\n\nOn a machine of its own user, compare Host with localhost and the addresses of the machine, and answer 403.",
		Source: transportSource + "#security-warning"},
	{ID: RuleHTTPRequestType, Severity: teasel.Medium, Title: "Request of a type that any web page may send is served",
		Help:   "A POST whose Content-Type is text/plain was carried out.\n\nBrowsers send it to any server without asking that one first, so that only a look at Origin is left between a page and the tools.\n\nTake application/json only, and answer 415.",
		Source: transportSource + "#sending-messages-to-the-server"},
	{ID: RuleHTTPFraming, Severity: teasel.Medium, Title: "Request that has two lengths is served",
		Help:   "A request was carried out that has two values of Content-Length, or both a length and Transfer-Encoding, or a space between a name and its colon.\n\nWhat stands before the server may believe the other length, and take a part of one client's request for the next one's.\n\nAnswer 400 and close the connection.",
		Source: "https://www.rfc-editor.org/rfc/rfc9112#section-6.3"},
	{ID: check.RuleSessionLeak, Severity: teasel.High, Title: "Message of one session comes to another",
		Help:   "An answer to one session's request came in a response to another session.\n\nOne client reads what another one has asked for.\n\nHave a server object, and what it remembers of requests, for each session; tell requests apart by session and id, since clients choose the ids.",
		Source: transportSource + "#multiple-connections"},
	{ID: check.RuleSessionState, Severity: teasel.Medium, Title: "Session changes with another one",
		Help:   "The same request is answered otherwise after another client has begun a session, or has ended one, though that client changed nothing.\n\nWhat one client has said of itself, such as its version and capabilities, decides what another one gets: it is offered tools that it cannot use, or loses some.\n\nKeep what initialize says with the session, and have a server object for each.",
		Source: specification + "2025-11-25/basic/lifecycle#capability-negotiation"},
	{ID: RuleHTTPEventID, Severity: teasel.Low, Title: "Two events of a session have one id",
		Help:   "Two server-sent events of one session, which are not the same message, have the same id.\n\nA client that has lost its connection asks for what came after an id, in any of the streams: with two of them it gets the wrong messages, or none.\n\nCount events for a whole session, or have the name of the stream in the id.",
		Source: transportSource + "#resumability-and-redelivery"},
	{ID: RuleHTTPBroadcast, Severity: teasel.Medium, Title: "Message is sent on several streams",
		Help:   "The server sent one message, a request or the progress of one, on several streams of a session that were open at a time.\n\nThe client answers a request twice, and takes one message for several.\n\nSend each message on one stream: that of the request it belongs to, else one of those of a GET.",
		Source: transportSource + "#multiple-connections"},
	{ID: check.RuleReplay, Severity: teasel.Medium, Title: "Resumed stream has the messages of another",
		Help:   "A client asked for the rest of one stream by Last-Event-ID, and got messages of another stream of its session as well.\n\nMessages come twice, and an answer to where nobody waits for it.\n\nKeep events by stream, and repeat those of the stream that the id belongs to.",
		Source: transportSource + "#resumability-and-redelivery"},
	{ID: check.RuleSessionKept, Severity: teasel.Medium, Title: "Ended sessions are not freed",
		Help:   "The server's open files, or its memory, rose with each session that a client began and then ended by DELETE.\n\nA server that runs for long runs out of them, with clients that do all that they should.\n\nOn DELETE close what belongs to the session, and forget it; do the same with sessions that nobody has used for long, since most clients go without a word.",
		Source: transportSource + "#session-management"},
	{ID: check.RuleOpenFiles, Severity: teasel.Medium, Title: "Connections that the client has closed stay open",
		Help:   "The server's open files rose with each connection that the client cut.\n\nWhen they are used up nobody is served any more.\n\nClose a connection whose request cannot be read to its end, and one whose client is gone.",
		Source: transportSource},
	{ID: RuleHTTPGetAnswer, Severity: teasel.Medium, Title: "Answer comes on the stream of a GET",
		Help:   "The answer to a request came in the response to a GET, and not in that to the request.\n\nA client waits for it where it has asked, and one whose GET came later, or has ended, never gets it.\n\nSend answers in the response to the POST; only a stream that is resumed with Last-Event-ID may have some.",
		Source: transportSource + "#listening-for-messages-from-the-server"},
	{ID: RuleHTTPDeclined, Severity: teasel.Medium, Title: "Request is declined, and served when it is made again",
		Help:   "A request was answered with status 401 or 403, and the same request with the same head was carried out later.\n\nClients take the status for the end of their access: they discard the token, ask the user to log in again, or give up. One of several servers behind one address that does not know the token, a clock that differs, or a check that fails by chance does this.\n\nHave all servers check credentials alike, and answer with 503 where it is not known whether they are right.",
		Source: "https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#error-handling"},
	{ID: RuleHTTPStatus, Severity: teasel.Low, Title: "Refusal has the wrong HTTP status",
		Help:   "A request of 2026-07-28 was refused with -32601 and a status other than 404, or with -32602 for missing metadata, -32020, -32021 or -32022 and a status other than 400.\n\nWhat stands between client and server sees the status only, and clients tell by it a server of this version from an earlier one.\n\nSet the status that belongs to the code.",
		Source: metadataSource + "#protocol-version-header"},
	{ID: RuleHTTPGet, Severity: teasel.Low, Title: "GET is answered with neither a stream nor 405",
		Help:   "A GET was answered with success and something that is no event stream.\n\nClients that listen for what the server has to say fail.\n\nAnswer with text/event-stream, or with 405 if there is no such stream.",
		Source: transportSource + "#listening-for-messages-from-the-server"},
}

const subjectHTTP = "(HTTP)"

// http judges the HTTP response to a line.
func (j *judge) http(i int, s *script.Sent, answer *script.Received) {
	head := j.t.Head(s)
	change := conn.ParseHead(head)
	method := change.Method
	line := jsonrpc.Cut(s.Raw, 160)
	switch {
	case s.Status == conn.MaybeUnread:
		return
	case s.Status == conn.NoResponse:
		if (answer == nil || len(answer.Raw) == 0) && head == "" && !j.isCut(s) && j.t.Stands() && !j.hasLongHead(s) && !j.isPolled(s) { // what a head has that is malformed may end the connection
			j.report(RuleHTTPNoResponse, j.subject(s), "", fmt.Sprintf("The connection of %s was closed without a response.", line))
		}
		return
	case s.Regular && s.Status < 300 && answer != nil && len(answer.Raw) == 0 && j.t.Stands() && !j.isPolled(s):
		j.report(RuleHTTPNoResponse, j.subject(s), "", fmt.Sprintf("The response to %s ended without a message.", line))
	case s.Status >= http.StatusInternalServerError && s.Status != http.StatusNotImplemented && j.t.Stands() && (answer == nil || answer.Message.Error == nil):
		j.report(RuleHTTPError, j.httpSubject(s, head), "", fmt.Sprintf("%s%s was answered with HTTP status %d.", line, withHead(head), s.Status))
	}
	kind, _, _ := strings.Cut(s.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch class := s.Message.Class; {
	case method == "GET" && s.Status < 300 && kind != "text/event-stream":
		j.report(RuleHTTPGet, subjectHTTP, "", fmt.Sprintf("GET was answered with status %d and %q.", s.Status, kind))
	case method != "POST" || s.Status >= 300:
	case class == jsonrpc.ClassNotification || class == jsonrpc.ClassResponse:
		if s.Status != http.StatusAccepted {
			j.report(RuleHTTPAccepted, subjectHTTP, "", fmt.Sprintf("%s was answered with status %d; expected 202.", line, s.Status))
		}
	case s.Regular && kind != "application/json" && kind != "text/event-stream":
		j.report(RuleHTTPType, subjectHTTP, "", fmt.Sprintf("%s was answered with status %d and the type %q.", line, s.Status, kind))
	}
	j.sessionID(i, s)
	j.declined(i, s, answer)
	if answer == nil || answer.Message.Result == nil || method != "POST" {
		return
	}
	j.carriedOut(s, head, &change)
	if !j.session.HasID || s.Message.Method == "initialize" || isStateless(&s.Message) {
		return
	}
	switch id, ok := change.Get("Mcp-Session-Id"); {
	case ok && id == "":
		j.report(RuleHTTPNoSession, subjectHTTP, "", fmt.Sprintf("%s without Mcp-Session-Id was carried out; expected status 400.", line))
	case j.endedBefore(i):
		j.report(RuleHTTPSession, subjectHTTP, "ended", fmt.Sprintf("%s%s was carried out in a session that DELETE had ended; expected status 404.", line, withHead(head)))
	case ok && id == check.UnknownSession:
		j.report(RuleHTTPSession, subjectHTTP, "unknown", fmt.Sprintf("%s%s was carried out; expected status 404.", line, withHead(head)))
	}
}

// declined reports a request that lacked nothing: it was declined, and carried out when it was made again after that.
func (j *judge) declined(i int, s *script.Sent, answer *script.Received) {
	if !conn.Unauthorized(s.Status) || answer == nil || !s.Regular || j.t.Head(s) != "" {
		return
	}
	for k := i + 1; k < len(j.t.Sent); k++ {
		o := &j.t.Sent[k]
		if j.mayLogIn(o) && !isSameRequest(s, o) {
			return
		}
		if r := j.answer(o); r != nil && r.Message.Result != nil && o.Status < 300 && o.At >= answer.At && j.t.Head(o) == "" && isSameRequest(s, o) {
			j.report(RuleHTTPDeclined, subjectHTTP, "", fmt.Sprintf("%s was answered with status %d, and with a result when it was made again.", jsonrpc.Cut(s.Raw, 160), s.Status))
			return
		}
	}
}

// mayLogIn reports whether a request may change who the client is to the server: a call of a tool that does not just read.
func (j *judge) mayLogIn(s *script.Sent) bool {
	if s.Message.Method != "tools/call" {
		return false
	}
	tool := j.session.Tool(session.CalledName(&s.Message))
	return tool == nil || !session.TraitsOf(tool).Reads
}

// isSameRequest reports whether two requests ask the same.
func isSameRequest(a, b *script.Sent) bool {
	text := func(params *mutate.JSON) string {
		if params == nil {
			return ""
		}
		return params.String()
	}
	return a.Message.Method == b.Message.Method && text(a.Message.Params) == text(b.Message.Params)
}

// carriedOut reports a request that was carried out though its head, or a line of it, should have had it refused.
func (j *judge) carriedOut(s *script.Sent, head string, change *conn.Head) {
	line := jsonrpc.Cut(s.Raw, 160)
	if origin, ok := change.Get("Origin"); ok && origin == check.ForeignOrigin {
		j.report(RuleHTTPOrigin, subjectHTTP, "", fmt.Sprintf("%s%s was carried out; expected status 403.", line, withHead(head)))
	}
	if host, ok := change.Get("Host"); ok && host == check.ForeignHost {
		if _, has := change.Get("Origin"); !has {
			j.report(RuleHTTPHost, subjectHTTP, "", fmt.Sprintf("%s%s was carried out; expected status 403.", line, withHead(head)))
		}
	}
	if kind, ok := change.Get("Content-Type"); ok && kind == "text/plain" {
		j.report(RuleHTTPRequestType, subjectHTTP, "", fmt.Sprintf("%s%s was carried out; expected status 415.", line, withHead(head)))
	}
	if twoLengths(change, len(s.Raw)) {
		j.report(RuleHTTPFraming, subjectHTTP, "", fmt.Sprintf("%s%s was carried out; expected status 400.", line, withHead(head)))
	}
	if version, ok := change.Get("MCP-Protocol-Version"); ok && version == check.NoVersion {
		j.report(RuleHTTPVersion, subjectHTTP, "", fmt.Sprintf("%s%s was carried out; expected status 400.", line, withHead(head)))
	}
}

// isCut reports whether the connection of a line was cut on purpose.
func (j *judge) isCut(s *script.Sent) bool {
	return s.Status == conn.NoResponse && j.t.Script != nil && s.Step < len(j.t.Script.Steps) && j.t.Script.Steps[s.Step].Close
}

// isPolled reports whether a stream has said from where to resume it, so that the server may close it before the answer has come:
// "the server MAY close the connection (without terminating the SSE stream) at any time".
func (j *judge) isPolled(s *script.Sent) bool { return s.EventID != "" && !j.session.Stateless }

// longHead is the size from which on a server may close the connection of a request for its head: more need not be supported, and the
// response that refuses it may be lost with the rest of the request that nobody has read.
const longHead = 8000

// hasLongHead reports whether what the head of a request repeats of its message makes it so long.
func (j *judge) hasLongHead(s *script.Sent) bool {
	return j.session.Stateless && len(s.Raw) > longHead/2 && len(session.RequestHead(&s.Message, j.session.Mirrors)) >= longHead
}

// withHead says how a request's head differs.
func withHead(head string) string {
	if head == "" {
		return ""
	}
	return " with " + jsonrpc.Cut([]byte(strings.ReplaceAll(head, "\n", ", ")), 120)
}

// hasOtherHead reports whether the head of a request says something else than that of every message, beside which session it belongs to.
func (j *judge) hasOtherHead(s *script.Sent) bool {
	for line := range strings.SplitSeq(j.t.Head(s), "\n") {
		if line != "" && !strings.HasPrefix(line, sessionIDHeader+":") {
			return true
		}
	}
	return false
}

// httpSubject is what a finding about a response is about: the method of the request, or its head.
func (j *judge) httpSubject(s *script.Sent, head string) string {
	if head == "" {
		return j.subject(s)
	}
	return subjectHTTP
}

// mayGoOn reports whether the head of a request says something of its own of the length of the body, so that the server may wait for more of it.
func (j *judge) mayGoOn(s *script.Sent) bool {
	for line := range strings.SplitSeq(j.t.Head(s), "\n") {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "+"), ":")
		if name = strings.TrimSpace(name); strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding") {
			return true
		}
	}
	return false
}

// twoLengths reports whether a request's head says two things of the length of its body.
func twoLengths(h *conn.Head, size int) bool {
	value, ok := h.Get("Content-Length")
	length := !ok || value != ""
	if coding, ok := h.Get("Transfer-Encoding"); ok && coding != "" && length {
		return true
	}
	for _, line := range h.Behind {
		name, value, _ := strings.Cut(line, ":")
		switch bare := strings.TrimSpace(name); {
		case strings.EqualFold(bare, "Content-Length") && strings.TrimSpace(value) != strconv.Itoa(size), strings.EqualFold(bare, "Transfer-Encoding"):
			if length {
				return true
			}
		}
	}
	return false
}

// endedBefore reports whether the session of a line was ended before it was sent.
func (j *judge) endedBefore(i int) bool {
	own := check.SessionOf(j.t, i)
	for k := range j.t.Sent[:i] {
		if s := &j.t.Sent[k]; conn.ParseHead(j.t.Head(s)).Method == "DELETE" && check.SessionOf(j.t, k) == own && s.Status >= 200 && s.Status < 300 {
			return true
		}
	}
	return false
}

const (
	sessionIDHeader = "Mcp-Session-Id"
	leastSessionID  = 16 // characters of an id that cannot be guessed: 64 random bits in hexadecimal
)

// sessionID judges the id that a server gives a session, by itself and beside those of other sessions.
func (j *judge) sessionID(i int, s *script.Sent) {
	id := s.Header.Get(sessionIDHeader)
	if id == "" || s.Message.Method != "initialize" {
		return
	}
	why := ""
	switch {
	case strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }):
		why = "has characters other than visible ASCII"
	case len(id) < leastSessionID:
		why = fmt.Sprintf("has %d characters", len(id))
	}
	change := conn.ParseHead(j.t.Head(s))
	for k := range j.t.Sent[:i] {
		o := &j.t.Sent[k]
		before := o.Header.Get(sessionIDHeader)
		switch other, ok := change.Get(sessionIDHeader); {
		case !ok || other != "" || o.Message.Method != "initialize" || before == "":
		case before == id:
			why = "was given to another session before"
		case differ(before, id) <= 2:
			why = fmt.Sprintf("differs from %q, the one before, in two characters at most", before)
		}
	}
	if why != "" {
		j.report(RuleHTTPSessionID, subjectHTTP, "", fmt.Sprintf("The session id %q %s.", id, why))
	}
}

// differ returns in how many places two texts differ.
func differ(a, b string) (n int) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			n++
		}
	}
	return n
}

// eventID holds the id of an event against those of the events before it, in the same session. A stream that is resumed repeats some.
func (j *judge) eventID(i int) {
	r := &j.t.Received[i]
	if r.EventID == "" || r.Via == 0 || j.isResumed(r) {
		return
	}
	for k := range i {
		o := &j.t.Received[k]
		if o.EventID != r.EventID || o.Via == 0 || bytes.Equal(o.Raw, r.Raw) || j.isResumed(o) || check.SessionOf(j.t, o.Via-1) != check.SessionOf(j.t, r.Via-1) {
			continue
		}
		j.report(RuleHTTPEventID, subjectHTTP, "", fmt.Sprintf("%s and %s are events with the id %s.", jsonrpc.Cut(o.Raw, 120), jsonrpc.Cut(r.Raw, 120), jsonrpc.Quote([]byte(r.EventID), 40)))
		return
	}
}

// broadcast holds a message against those before it on other streams of the session. Only what is unique is: a request of the server's by
// its id, and progress, which has to rise, of a request that is the only one with its token.
func (j *judge) broadcast(i int) {
	r := &j.t.Received[i]
	switch {
	case r.Via == 0 || j.isResumed(r):
		return
	case r.Message.Class == jsonrpc.ClassRequest && j.session.HasID:
	case r.Message.Method == "notifications/progress":
		s, _ := j.tokenOwner(r.Message.Params.Get("progressToken"))
		if s == nil || s.Taken {
			return
		}
	default:
		return
	}
	for k := range i {
		o := &j.t.Received[k]
		if o.Via == 0 || o.Via == r.Via || !bytes.Equal(o.Raw, r.Raw) || j.isResumed(o) || check.SessionOf(j.t, o.Via-1) != check.SessionOf(j.t, r.Via-1) {
			continue
		}
		j.report(RuleHTTPBroadcast, subjectHTTP, "", fmt.Sprintf("%s came in the responses to %s and to %s.", jsonrpc.Cut(r.Raw, 160),
			j.t.Spoken(&j.t.Sent[o.Via-1]), j.t.Spoken(&j.t.Sent[r.Via-1])))
		return
	}
}

// isResumed reports whether a message came in a stream that a client has resumed.
func (j *judge) isResumed(r *script.Received) bool {
	change := conn.ParseHead(j.t.Head(&j.t.Sent[r.Via-1]))
	_, resumed := change.Get("Last-Event-ID")
	return resumed
}

// streamed judges an answer that came in the response to a GET.
func (j *judge) streamed(r *script.Received) {
	if r.Via == 0 || r.Message.Class != jsonrpc.ClassResponse {
		return
	}
	change := conn.ParseHead(j.t.Head(&j.t.Sent[r.Via-1]))
	stream := j.t.Sent[r.Via-1].Status/100 == 2 // else the answer is the refusal of the GET
	if change.Method == "GET" && stream && !j.isResumed(r) {
		j.report(RuleHTTPGetAnswer, subjectHTTP, "", fmt.Sprintf("%s came in the response to a GET.", jsonrpc.Cut(r.Raw, 160)))
	}
}
