package judge

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

const (
	codeHeadMismatch = -32020
	codeCapability   = check.CapabilityCode
	codeVersion      = -32022
	codeLastReserved = -32099 // by this version
)

var statelessRules = []teasel.Rule{
	{ID: RuleDiscover, Severity: teasel.Medium, Title: "Server cannot be asked what it is",
		Help:   "server/discover was refused. Since 2026-07-28 each server has it.\n\nClients learn by it in which versions, and with which capabilities, the server can be asked. Without it they have to try.\n\nAnswer with supportedVersions and capabilities.",
		Source: specification + "2026-07-28/server/discover"},
	{ID: RuleMeta, Severity: teasel.Medium, Title: "Request without its version or capabilities is served",
		Help:   "A request of 2026-07-28 that does not say the protocol version, or the client's capabilities, in params._meta was carried out.\n\nThere is no handshake any more: nobody knows what the answer means to this client.\n\nAnswer -32602, over HTTP with status 400.",
		Source: specification + "2026-07-28/basic/index#meta"},
	{ID: RuleMetaCode, Severity: teasel.Low, Title: "Unsupported version is refused with another code",
		Help:   "A request in a version that does not exist was carried out, or refused with a code other than -32022.\n\nClients look for this code, and for the versions beside it, to ask again.\n\nAnswer -32022 with data.supported.",
		Source: specification + "2026-07-28/basic/versioning#protocol-version-negotiation"},
	{ID: check.RuleCapabilityCode, Severity: teasel.Low, Title: "Capability that the client lacks is said with another code",
		Help:   "A call is refused to a client that has no capabilities with an error other than -32021, or without data.requiredCapabilities, although a client that has some is asked for input.\n\nClients see by the code that the call is right, and by the data what they would have to be able to do.\n\nAnswer -32021 with data.requiredCapabilities, over HTTP with status 400.",
		Source: specification + "2026-07-28/basic/index#meta"},
	{ID: RuleServerRequest, Severity: teasel.Medium, Title: "Server sends a request",
		Help:   "The server sent a request to the client. Since 2026-07-28 it must not.\n\nClients of this version do not answer, and the call that waits for it hangs.\n\nAsk in a result with the resultType input_required.",
		Source: specification + "2026-07-28/basic/patterns/mrtr"},
	{ID: RuleUnaskedLog, Severity: teasel.Low, Title: "Log message comes that nobody asked for",
		Help:   "notifications/message came, although the request does not have a log level in params._meta.\n\nClients show or keep what they did not want to know.\n\nSend log messages of requests that have io.modelcontextprotocol/logLevel only.",
		Source: specification + "2026-07-28/server/utilities/logging#per-request-log-level"},
	{ID: RuleResultType, Severity: teasel.Medium, Title: "Result has no resultType",
		Help:   "A result of 2026-07-28 has no resultType, or one other than complete and input_required.\n\nClients cannot tell an answer from a question.\n\nSet it to complete.",
		Source: specification + "2026-07-28/basic/index#resulttype"},
	{ID: check.RuleEarlierRequests, Severity: teasel.Medium, Title: "Answer depends on earlier requests",
		Help:   "The same request is answered otherwise after requests of other clients, which changed nothing, than before them.\n\nSince 2026-07-28 the requests on a connection, or to a process, may be of any number of clients: what one of them has said of itself must not decide what another one gets, and none needs to begin with server/discover.\n\nTake what a request needs from the request.",
		Source: specification + "2026-07-28/basic/index"},
	{ID: RuleCaching, Severity: teasel.Low, Title: "Result does not say how long it may be kept",
		Help:   "The result of a list, or of resources/read, has no ttlMs that is a number of 0 or more, or no cacheScope that is public or private, or the pages of a list differ in it.\n\nClients keep what they must not, or ask each time.\n\nReturn both.",
		Source: specification + "2026-07-28/server/utilities/caching#cacheable-results"},
}

// withoutMeta judges requests that lack what each has to say, and those whose head says something else.
func (j *judge) withoutMeta(s *script.Sent, r *script.Received) {
	m := &s.Message
	if m.Class != jsonrpc.ClassRequest || m.Twice || !saysJSONRPC(m.Root) || session.IsRemoved(m.Method) || m.Params != nil && m.Params.Kind != mutate.Object {
		return
	}
	if m.Method == "server/discover" && r.Message.Result == nil && isStamped(m) && s.Status < 500 && j.t.Script != nil && j.t.Script.Check == check.Stateless {
		j.report(RuleDiscover, m.Method, "", fmt.Sprintf("%s was answered with %s%s.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160), withStatus(s.Status)))
	}
	meta, line := m.Params.Get("_meta"), jsonrpc.Cut(s.Raw, 160)
	version, capabilities := meta.Get(session.MetaVersion), meta.Get(session.MetaCapabilities)
	text, _ := version.Str()
	j.errorStatus(s, r, version == nil || capabilities == nil)
	switch head := j.t.Head(s); {
	case version == nil || capabilities == nil:
		if script.Succeeded(r) && head == "" && !(version == nil && j.speaksEarlier()) {
			j.report(RuleMeta, subjectMessage, "", fmt.Sprintf("%s was carried out; expected error -32602.", line))
		}
	case text == check.NoVersion:
		if r.Message.Result != nil || r.Message.Error != nil && script.ErrorCode(r) != codeVersion && s.Status != 404 {
			j.report(RuleMetaCode, subjectMessage, "", fmt.Sprintf("%s was answered with %s; expected error %d.", line, jsonrpc.Cut(r.Raw, 160), codeVersion))
		} else if supported := r.Message.Error.Get("data").Get("supported"); script.ErrorCode(r) == codeVersion && (supported == nil || supported.Kind != mutate.Array) {
			j.report(RuleMetaCode, subjectMessage, "supported", fmt.Sprintf("%s was answered with %s; expected data.supported with the versions that are.", line, jsonrpc.Cut(r.Raw, 160)))
		}
	case s.Status != 0:
		j.heads(s, r, head, text)
	}
}

// withStatus returns a status as it is said behind an answer; "": there is none.
func withStatus(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(" and status %d", status)
}

// speaksEarlier reports whether a server says that it supports versions with a handshake as well. A request without a version is one of those.
func (j *judge) speaksEarlier() bool {
	versions := j.session.Initialize.Get("supportedVersions")
	return versions != nil && slices.ContainsFunc(versions.Items, func(v *mutate.JSON) bool {
		text, ok := v.Str()
		return ok && text < session.StatelessVersion
	})
}

// isStamped reports whether a request has all that each of the version without a handshake has to have.
func isStamped(m *jsonrpc.Message) bool {
	meta := m.Params.Get("_meta")
	version, _ := meta.Get(session.MetaVersion).Str()
	capabilities := meta.Get(session.MetaCapabilities)
	return version == session.StatelessVersion && capabilities != nil && capabilities.Kind == mutate.Object
}

// nameOf returns what Mcp-Name has to be; "": it need not be there.
func nameOf(m *jsonrpc.Message) (name string) {
	switch m.Method {
	case "tools/call", "prompts/get":
		name, _ = m.Params.Get("name").Str()
	case "resources/read":
		name, _ = m.Params.Get("uri").Str()
	}
	return name
}

// stateless judges what answers of the version without a handshake have beside those of the others, and reports whether the rules of
// those hold as well.
func (j *judge) stateless(s *script.Sent, r *script.Received) bool {
	m, result := &s.Message, r.Message.Result
	switch {
	case session.IsRemoved(m.Method), m.Method == "server/discover" && result == nil:
		return false
	case result == nil: // what is wrong with the head or the version was refused before anybody saw the method
		j.missingInput(s, r)
		code := script.ErrorCode(r)
		if code < codeVersion && code >= codeLastReserved {
			j.report(RuleCodeRange, fmt.Sprintf("(error code %d)", code), "", fmt.Sprintf("%s was answered with error code %d, which MCP reserves and does not define.", jsonrpc.Cut(s.Raw, 160), code))
		}
		return code > codeHeadMismatch || code < codeLastReserved
	}
	line := jsonrpc.Cut(s.Raw, 160)
	if level, ok := m.Params.Get("_meta").Get(session.MetaLogLevel).Str(); ok && j.session.Has("logging") && !slices.Contains(check.Levels, level) {
		j.report(RuleLogLevel, m.Method, "meta", fmt.Sprintf("%s was carried out, although %s is no level; expected error -32602.", line, jsonrpc.Quote(level, 40)))
	}
	kind, _ := result.Get("resultType").Str()
	switch kind {
	case "complete":
	case session.InputRequired:
		j.inputRequired(s, r)
		return false
	default:
		j.report(RuleResultType, m.Method, "", fmt.Sprintf("The result of %s has the resultType %q; expected complete.", line, kind))
	}
	j.requestState(s, r)
	switch m.Method {
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read", "server/discover":
		ttl, ok := result.Get("ttlMs").Int()
		scope, _ := result.Get("cacheScope").Str()
		if !ok || ttl < 0 || scope != "public" && scope != "private" {
			j.report(RuleCaching, m.Method, "", fmt.Sprintf("The result of %s has ttlMs %s and cacheScope %q.", line, text(result.Get("ttlMs")), scope))
		}
	}
	return m.Method != "server/discover"
}

// text returns a value as JSON; "": there is none.
func text(v *mutate.JSON) string {
	if v == nil {
		return "missing"
	}
	return v.String()
}

// errorStatus holds the status of a refusal against its code. incomplete says that the request lacks what each has to say.
func (j *judge) errorStatus(s *script.Sent, r *script.Received, incomplete bool) {
	if s.Status == 0 || r.Message.Error == nil || j.t.Head(s) != "" {
		return
	}
	want, code := 0, script.ErrorCode(r)
	switch {
	case code == codeHeadMismatch, code == codeCapability, code == codeVersion, code == codeInvalidParams && incomplete && !j.speaksEarlier():
		want = http.StatusBadRequest
	case code == codeMethodNotFound && !session.IsMethod(s.Message.Method) && isStamped(&s.Message):
		want = http.StatusNotFound
	}
	if want != 0 && s.Status != want {
		j.report(RuleHTTPStatus, subjectHTTP, fmt.Sprint(want), fmt.Sprintf("%s was answered with %s and status %d; expected %d.",
			jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160), s.Status, want))
	}
}

// unaskedLog judges a log message, which only a request with a level asks for.
func (j *judge) unaskedLog(r *script.Received) {
	for i := range j.t.Sent {
		if (r.Via == 0 || r.Via == i+1) && j.t.Sent[i].Message.Params.Get("_meta").Get(session.MetaLogLevel) != nil {
			return
		}
	}
	j.report(RuleUnaskedLog, "notifications/message", "", fmt.Sprintf("%s came, although no request has %s in params._meta.", jsonrpc.Cut(r.Raw, 160), session.MetaLogLevel))
}

// scopesOfPages holds the cacheScope of the pages of a list against that of the first.
func (j *judge) scopesOfPages() {
	if !j.session.Stateless || j.t.Script == nil || j.t.Script.Check != check.Pagination {
		return
	}
	first := ""
	for i := range j.t.Sent {
		r := j.answer(&j.t.Sent[i])
		if r == nil || r.Message.Result == nil {
			continue
		}
		now, _ := r.Message.Result.Get("cacheScope").Str()
		if first == "" {
			first = now
		} else if now != "" && now != first {
			j.report(RuleCaching, j.t.Sent[i].Message.Method, "pages", fmt.Sprintf("The cacheScope of the first page is %s, and that of another one is %s.", first, now))
		}
	}
}
