package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Members of _meta with this prefix, but for one, mark requests of the versions without a handshake.
const (
	reservedMeta = "io.modelcontextprotocol/"
	relatedTask  = reservedMeta + "related-task"
)

// isStateless reports whether a request says that it is one of those versions, or is half of one, with the client's
// capabilities and no version. A server that knows them judges it by other rules than those of the session.
func isStateless(m *jsonrpc.Message) bool {
	meta := m.Params.Get("_meta")
	return meta != nil && slices.ContainsFunc(meta.Members, func(m mutate.Member) bool {
		return strings.HasPrefix(m.Name, reservedMeta) && m.Name != relatedTask
	})
}

// initialize judges the answer to initialize.
func (j *judge) initialize(s *script.Sent, r *script.Received) {
	if r.Message.Error != nil {
		j.initializeRefusal(s, r)
		return
	}
	if j.phase.opened {
		j.report(RuleSecondInitialize, "initialize", "", fmt.Sprintf(
			"A second initialize was accepted: %s was answered with %s.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
	}
	version, _ := r.Message.Result.Get("protocolVersion").Str()
	if why := resultFault(version, "initialize", r.Message.Result); why != "" {
		j.report(RuleInitialize, "initialize", "", fmt.Sprintf("The result of initialize is wrong: %s.", why)).Static = r.Message.Result.Equal(j.session.Initialize)
		return
	}
	j.negotiated(s, r)
}

func (j *judge) initializeRefusal(s *script.Sent, r *script.Received) {
	fault := j.faultOf(&s.Message)
	if fault.text != "" && !j.phase.opened && isInternal(s, r) {
		j.wrongCode(s, r, fault.text)
	}
}

// negotiated judges the version that a server chose.
func (j *judge) negotiated(s *script.Sent, r *script.Received) {
	asked, ok := s.Message.Params.Get("protocolVersion").Str()
	got, _ := r.Message.Result.Get("protocolVersion").Str()
	switch {
	case !ok:
	case got == asked && !isVersion(asked):
		j.report(RuleVersion, "initialize", "", fmt.Sprintf(
			"The server agreed to version %s, which does not exist; expected one that it supports.", jsonrpc.Quote(asked, 60)))
	case got != asked && !isVersion(got) && slices.Contains(session.Versions, asked):
		j.report(RuleVersion, "initialize", "", fmt.Sprintf(
			"The server answered version %s with %s, which does not exist.", asked, jsonrpc.Quote(got, 60)))
	case got != asked && asked == j.session.Version && j.fresh() && !j.phase.asked && j.session.Version != "":
		j.report(RuleVersion, "initialize", "", fmt.Sprintf(
			"The server supports version %s and was asked for it, but answered %s.", asked, jsonrpc.Cut(got, 60)))
	}
}

// isVersion reports whether a text can be the name of a protocol version: a date since there is one.
func isVersion(v string) bool {
	v = strings.TrimPrefix(v, "DRAFT-")
	date, err := time.Parse(time.DateOnly, strings.TrimSuffix(v, "-draft"))
	if err != nil {
		// Drafts have had names like 2026-v1.
		return strings.HasPrefix(v, "202") && strings.Contains(v, "-v")
	}
	return date.Year() >= 2024 && date.Year() < 2030
}

// beforeInitialize judges a request that was answered before the session was open.
func (j *judge) beforeInitialize(s *script.Sent, r *script.Received) {
	m := &s.Message
	if j.phase.asked || !script.Succeeded(r) || m.Method == "ping" || !session.IsMethod(m.Method) || isStateless(m) {
		return
	}
	j.reportCause(RuleBeforeInitialize, teasel.Info, m.Method, "before", s.Raw, fmt.Sprintf(
		"%s was served before initialize: it was answered with %s.", jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(r.Raw, 160)))
}

// serverRequest judges a request from the server.
func (j *judge) serverRequest(r *script.Received) {
	method := r.Message.Method
	if j.session.Stateless {
		j.report(RuleServerRequest, method, "", fmt.Sprintf("The server sent %s; in this version it has no requests to send.", jsonrpc.Cut(r.Raw, 160)))
		return
	}
	if method == "ping" {
		return
	}
	// A client that tells of other roots says by that that it has some.
	provoked := method == "roots/list" && j.sentBefore("notifications/roots/list_changed", r)
	if name := session.ClientMethods[method]; name != "" && !j.clientHas(name) && !provoked {
		j.reportCause(RuleClientCapability, j.rules[RuleClientCapability].Severity, method, "undeclared", r.Raw, fmt.Sprintf(
			"The server sent %s, although the client did not declare the capability %s.", jsonrpc.Cut(r.Raw, 160), name))
	}
	j.requestShape(method, jsonrpc.Cut(r.Raw, 160), r.Message.Params)
	if j.fresh() && !j.sentBefore("notifications/initialized", r) {
		j.report(RuleEarlyRequest, method, "", fmt.Sprintf(
			"The server sent %s before it was told that the client is initialized.", jsonrpc.Cut(r.Raw, 160)))
	}
}

// clientHas reports whether the client side of the session declared a capability.
func (j *judge) clientHas(name string) bool {
	if !j.fresh() {
		declared, _ := mutate.ParseJSON([]byte(session.ClientCapabilities(j.session.Asked)))
		return declared.Get(name) != nil
	}
	for i := range j.t.Sent {
		m := &j.t.Sent[i].Message
		if m.Method == "initialize" && m.Params.Get("capabilities").Get(name) != nil {
			return true
		}
	}
	return false
}

func (j *judge) sentBefore(method string, r *script.Received) bool {
	return slices.ContainsFunc(j.before(r), func(s script.Sent) bool { return s.Message.Method == method })
}

// announcing are the notifications that only a server with the capability sends, and the switch in it.
var announcing = map[string][2]string{
	"notifications/tools/list_changed":     {"tools", "listChanged"},
	"notifications/prompts/list_changed":   {"prompts", "listChanged"},
	"notifications/resources/list_changed": {"resources", "listChanged"},
	"notifications/resources/updated":      {"resources", "subscribe"},
	"notifications/message":                {"logging", ""},
}

// serverNotification judges a notification from the server.
func (j *judge) serverNotification(i int, r *script.Received) {
	m := &r.Message
	if !saysJSONRPC(m.Root) {
		j.report(RuleMalformedReply, "(notification)", "", fmt.Sprintf(`The server sent %s, whose "jsonrpc" is not "2.0".`, jsonrpc.Cut(r.Raw, 160)))
		return
	}
	if need, ok := announcing[m.Method]; ok {
		j.announced(r, need)
	}
	switch m.Method {
	case "notifications/progress":
		j.progress(i, r)
	case "notifications/message":
		j.logMessage(i, r)
		if j.session.Stateless {
			j.unaskedLog(r)
		}
	case "notifications/resources/updated":
		j.updated(r)
	}
}

func (j *judge) announced(r *script.Received, need [2]string) {
	capabilities := j.capabilitiesOf()
	if capabilities == nil {
		return
	}
	declared := capabilities.Get(need[0])
	if declared != nil && need[1] != "" {
		if v := declared.Get(need[1]); v == nil || v.Kind != mutate.Bool || v.Text != "true" {
			declared = nil
		}
	}
	if declared == nil {
		j.report(RuleCapability, r.Message.Method, "", fmt.Sprintf("The server sent %s, although it did not declare the capability %s.",
			jsonrpc.Cut(r.Raw, 160), strings.TrimSuffix(need[0]+"."+need[1], ".")))
	}
}

// capabilitiesOf returns what the server declared in the session of the script; nil when that is not clear.
func (j *judge) capabilitiesOf() *mutate.JSON {
	// By the time notifications are judged, all lines have been walked through.
	if j.phase.opened && !j.phase.blurred {
		return j.phase.capabilities
	}
	return nil
}
