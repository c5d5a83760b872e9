package jsonrpc

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mutate"
)

// Bounds of what every JSON parser reads.
const (
	maxReadableDepth  = 50
	maxReadableNumber = 17
)

// HardToRead says what keeps some JSON parsers from reading the line; "": nothing. One that cannot answers with the id
// null, and is right to: no answer with the request's own id is due then.
func HardToRead(line []byte, root *mutate.JSON) string {
	switch {
	case !utf8.Valid(line):
		return "encoding"
	case bytes.Contains(line, []byte(`\ud`)), bytes.Contains(line, []byte(`\uD`)):
		return "surrogate"
	}
	return hardTree(root, maxReadableDepth)
}

// hardTree says what is hard to read in a tree that may be so deep; "": nothing.
func hardTree(v *mutate.JSON, depth int) string {
	switch {
	case v == nil:
		return ""
	case depth < 0:
		return "depth"
	}
	switch v.Kind {
	case mutate.Number:
		if len(v.Text) > maxReadableNumber || strings.ContainsAny(v.Text, "eE") {
			return "number"
		}
	case mutate.Array:
		for _, item := range v.Items {
			if hard := hardTree(item, depth-1); hard != "" {
				return hard
			}
		}
	case mutate.Object:
		if HasTwice(v) {
			return "member twice"
		}
		for i := range v.Members {
			if hard := hardTree(v.Members[i].Value, depth-1); hard != "" {
				return hard
			}
		}
	}
	return ""
}

// UnusualEnvelope says what is odd about a message that JSON-RPC allows, so that many a server drops it without a word;
// "": nothing.
func UnusualEnvelope(m *Message) string {
	if version, _ := m.Root.Get("jsonrpc").Str(); version != "2.0" {
		return "version"
	}
	for i := range m.Root.Members {
		switch m.Root.Members[i].Name {
		case "jsonrpc", "id", "method", "params":
		default:
			return "member"
		}
	}
	if m.Params == nil {
		return ""
	}
	if m.Params.Kind != mutate.Object {
		return "params"
	}
	meta := m.Params.Get("_meta")
	if meta == nil {
		return ""
	}
	token := meta.Get("progressToken")
	if meta.Kind != mutate.Object || token != nil && !(IsID(token) && IsUsualID(token)) {
		return UnusualMeta
	}
	return ""
}

// What is odd about a line, where it matters in which way.
const (
	UnusualTwice = "twice"
	UnusualMeta  = "meta"
	UnusualID    = "id"
)

// Unusual says in a word what is odd about a line.
func Unusual(m *Message) string {
	switch {
	case m.Root == nil:
		return "not JSON"
	case m.Class == ClassInvalid:
		return m.Why
	case m.Class == ClassBatch:
		return "batch"
	case m.Class == ClassResponse:
		return "response"
	case m.Twice:
		return UnusualTwice
	case m.Class == ClassNotification:
		return "notification"
	}
	if odd := UnusualEnvelope(m); odd != "" {
		return odd
	}
	if m.HasFreshID() {
		return "hard to read"
	}
	return UnusualID
}
