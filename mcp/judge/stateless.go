package judge

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

const (
	statelessSource = specification + "draft/basic"

	codeHeadMismatch = -32020
	codeVersion      = -32022
	codeLastReserved = -32099 // by this version
)

var statelessRules = []teasel.Rule{
	{ID: RuleMeta, Severity: teasel.Medium, Title: "Request without its version or capabilities is served",
		Help:   "A request of 2026-07-28 that does not say the protocol version, or the client's capabilities, in params._meta was carried out.\n\nThere is no handshake any more: nobody knows what the answer means to this client.\n\nAnswer -32602, over HTTP with status 400.",
		Source: statelessSource},
	{ID: RuleMetaCode, Severity: teasel.Low, Title: "Unsupported version is refused with another code",
		Help:   "A request in a version that does not exist was carried out, or refused with a code other than -32022.\n\nClients look for this code, and for the versions beside it, to ask again.\n\nAnswer -32022 with data.supported.",
		Source: statelessSource},
	{ID: RuleResultType, Severity: teasel.Medium, Title: "Result has no resultType",
		Help:   "A result of 2026-07-28 has no resultType, or one other than complete and input_required.\n\nClients cannot tell an answer from a question.\n\nSet it to complete.",
		Source: statelessSource},
	{ID: RuleCaching, Severity: teasel.Low, Title: "Result does not say how long it may be kept",
		Help:   "The result of a list, or of resources/read, has no ttlMs that is a number of 0 or more, or no cacheScope that is public or private.\n\nClients keep what they must not, or ask each time.\n\nReturn both.",
		Source: statelessSource},
	{ID: RuleHTTPMismatch, Severity: teasel.Medium, Title: "Head that disagrees with the body is served",
		Help:   "A request whose Mcp-Method, Mcp-Name or MCP-Protocol-Version says something else than its body was carried out.\n\nWhat stands between client and server decides by the head, and the server by the body.\n\nCompare them; answer status 400 and -32020.",
		Source: statelessSource},
}

// withoutMeta judges requests that lack what each has to say, and those whose head says something else.
func (j *judge) withoutMeta(s *script.Sent, r *script.Received) {
	m := &s.Message
	if m.Class != jsonrpc.ClassRequest || m.Twice || !saysJSONRPC(m.Root) || session.IsRemoved(m.Method) || m.Params != nil && m.Params.Kind != mutate.Object {
		return
	}
	meta, line := m.Params.Get("_meta"), jsonrpc.Cut(s.Raw, 160)
	version, capabilities := meta.Get(session.MetaVersion), meta.Get(session.MetaCapabilities)
	text, _ := version.Str()
	switch head := j.t.Head(s); {
	case version == nil || capabilities == nil:
		if script.Succeeded(r) && head == "" {
			j.report(RuleMeta, subjectMessage, "", fmt.Sprintf("%s was carried out; expected error -32602.", line))
		}
	case text == check.NoVersion:
		if r.Message.Result != nil || r.Message.Error != nil && script.ErrorCode(r) != codeVersion && s.Status != 404 {
			j.report(RuleMetaCode, subjectMessage, "", fmt.Sprintf("%s was answered with %s; expected error %d.", line, jsonrpc.Cut(r.Raw, 160), codeVersion))
		}
	case script.Succeeded(r) && s.Status != 0:
		change := conn.ParseHead(head)
		for _, f := range []struct{ name, own string }{{"Mcp-Method", m.Method}, {"Mcp-Name", nameOf(m)}, {"MCP-Protocol-Version", text}} {
			if value, ok := change.Get(f.name); ok && value != f.own && f.own != "" && value != session.HeadValue(f.own) {
				j.report(RuleHTTPMismatch, subjectHTTP, f.name, fmt.Sprintf("%s%s was carried out; expected status 400 and error %d.", line, withHead(head), codeHeadMismatch))
			}
		}
	}
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
		code := script.ErrorCode(r)
		return code > codeHeadMismatch || code < codeLastReserved
	}
	line := jsonrpc.Cut(s.Raw, 160)
	kind, _ := result.Get("resultType").Str()
	switch kind {
	case "complete":
	case "input_required":
		return false
	default:
		j.report(RuleResultType, m.Method, "", fmt.Sprintf("The result of %s has the resultType %q; expected complete.", line, kind))
	}
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
