package judge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

const metadataSource = specification + "2026-07-28/basic/transports/streamable-http"

var mirrorRules = []teasel.Rule{
	{ID: RuleHTTPMismatch, Severity: teasel.Medium, Title: "Head that disagrees with the body is served",
		Help:   "A request whose Mcp-Method, Mcp-Name, Mcp-Param or MCP-Protocol-Version line is missing, or says something else than its body, was carried out. It is low when the right line stands beside one that says something else.\n\nWhat stands between client and server decides by the head, and the server by the body.\n\nCompare them; answer status 400 and -32020.",
		Source: metadataSource + "#server-validation"},
	{ID: RuleHTTPEncoding, Severity: teasel.Medium, Title: "Encoded head is not decoded",
		Help:   "A request whose Mcp-Name or Mcp-Param line is the value of the body in base64, as =?base64?...?=, was refused because the head disagrees with the body.\n\nClients have to write names and arguments so that are not plain ASCII: these cannot be used.\n\nDecode the line before you compare it.",
		Source: metadataSource + "#value-encoding"},
}

// A mirrored is a part of a message that the head of its request repeats.
type mirrored struct{ head, body string }

// mirroredOf returns what the head of a request has to repeat.
func (j *judge) mirroredOf(m *jsonrpc.Message, version string) []mirrored {
	all := []mirrored{{"Mcp-Method", m.Method}, {"Mcp-Name", nameOf(m)}, {"MCP-Protocol-Version", version}}
	if m.Method == "tools/call" {
		for _, mirror := range j.session.Mirrors[nameOf(m)] {
			if text, ok := mirror.Value(m.Params.Get("arguments")); ok {
				all = append(all, mirrored{mirror.Head, text})
			}
		}
	}
	return all
}

// agrees reports whether the value of a line is the part of the body that it repeats. Numbers are compared as such.
func (v *mirrored) agrees(value string) bool {
	text := session.DecodeHead(value)
	if text == v.body {
		return true
	}
	a, err := strconv.ParseFloat(text, 64)
	b, other := strconv.ParseFloat(v.body, 64)
	return err == nil && other == nil && a == b
}

// heads judges what became of a request whose head was changed.
func (j *judge) heads(s *script.Sent, r *script.Received, head, version string) {
	change, line := conn.ParseHead(head), jsonrpc.Cut(s.Raw, 160)
	for _, v := range j.mirroredOf(&s.Message, version) {
		value, ok := change.Get(v.head)
		if v.body == "" {
			continue
		}
		switch {
		case ok && value == "" && v.head == "MCP-Protocol-Version": // it may be taken for an earlier version, which had no such line
		case ok && !v.agrees(value):
			if script.Succeeded(r) {
				j.report(RuleHTTPMismatch, subjectHTTP, v.head, fmt.Sprintf("%s%s was carried out; expected status 400 and error %d.", line, withHead(head), codeHeadMismatch))
			}
		case ok && value == session.EncodedHead(v.body) && isStamped(&s.Message) && script.ErrorCode(r) == codeHeadMismatch && strings.Count(head, "\n") == 0:
			j.report(RuleHTTPEncoding, subjectHTTP, v.head, fmt.Sprintf("%s%s was answered with %s, although that is %s in base64.", line, withHead(head), jsonrpc.Cut(r.Raw, 160), jsonrpc.Quote(v.body, 40)))
		}
		for _, more := range change.Behind {
			name, value, _ := strings.Cut(more, ":")
			if strings.EqualFold(name, v.head) && !v.agrees(strings.TrimSpace(value)) && script.Succeeded(r) {
				j.reportAs(RuleHTTPMismatch, teasel.Low, subjectHTTP, "twice", fmt.Sprintf("%s%s, beside the line that agrees with the body, was carried out; expected status 400 and error %d.", line, withHead(head), codeHeadMismatch))
			}
		}
	}
}
