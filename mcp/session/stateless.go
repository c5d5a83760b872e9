package session

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// StatelessVersion is the protocol version from which on there is no handshake: each request says who asks, in which version.
const StatelessVersion = "2026-07-28"

// The members of params._meta that each request of [StatelessVersion] has.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel" // which a request need not have
	MetaClient       = "io.modelcontextprotocol/clientInfo"
)

const statelessMeta = `{"` + MetaVersion + `":"` + StatelessVersion + `","` + MetaCapabilities + `":` + statelessCapabilities + `,"` + MetaClient + `":` + ClientInfo + `}`

// DiscoverLine asks a server of [StatelessVersion] what it is. It stands for ping there.
const DiscoverLine = `{"jsonrpc":"2.0","id":"@id","method":"server/discover","params":{"_meta":` + statelessMeta + `}}`

// ListenMethod asks a server of [StatelessVersion] for notifications. Its answer is the end of them, so that none is due.
const ListenMethod = "subscriptions/listen"

// MetaSubscription is the member of params._meta that says to which request of [ListenMethod] a notification belongs.
const MetaSubscription = "io.modelcontextprotocol/subscriptionId"

// IsRemoved reports whether a method of earlier versions is none of [StatelessVersion].
func IsRemoved(method string) bool {
	switch method {
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "notifications/initialized":
		return true
	}
	return false
}

// Stamp returns a request with what each one of [StatelessVersion] has to have in params._meta, as far as that is missing. A line that is
// no request, or not compact JSON, is returned as it is.
func Stamp(line []byte) []byte {
	root, err := mutate.ParseJSON(line)
	if err != nil || root.Kind != mutate.Object || root.Get("method") == nil || root.Get("id") == nil || !bytes.Equal(root.Append(nil), line) {
		return line
	}
	meta := object(object(root, "params"), "_meta")
	if meta == nil {
		return line
	}
	wanted, _ := mutate.ParseJSON([]byte(statelessMeta))
	for _, m := range wanted.Members {
		if meta.Get(m.Name) == nil {
			meta.Members = append(meta.Members, m)
		}
	}
	return root.Append(nil)
}

// object returns a member of an object that is an object itself, which is added if it is missing; nil: it is something else.
func object(v *mutate.JSON, name string) *mutate.JSON {
	if v == nil {
		return nil
	}
	member := v.Get(name)
	if member == nil {
		member = mutate.NewObject()
		v.Members = append(v.Members, jsonrpc.Member(name, member))
	}
	if member.Kind != mutate.Object {
		return nil
	}
	return member
}

// RequestHead returns the lines that the head of a request of [StatelessVersion] has over HTTP; "": it needs none. mirrors are those of
// the server's tools, by name.
func RequestHead(m *jsonrpc.Message, mirrors map[string][]Mirror) string {
	if m.Method == "" {
		return ""
	}
	head := "MCP-Protocol-Version: " + StatelessVersion + "\nMcp-Method: " + HeadValue(m.Method)
	name, ok := m.Params.Get("name").Str()
	switch m.Method {
	case "tools/call", "prompts/get":
	case "resources/read":
		name, ok = m.Params.Get("uri").Str()
	default:
		ok = false
	}
	if ok {
		head += "\nMcp-Name: " + HeadValue(name)
	}
	if m.Method == "tools/call" {
		for _, mirror := range mirrors[name] {
			head += mirror.line(m.Params.Get("arguments"))
		}
	}
	return head
}

// HeadValue returns a text as the value of a line in a head: what is not plain ASCII, or looks as if it were encoded, in base64.
func HeadValue(s string) string {
	plain := s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !bytes.HasPrefix([]byte(s), []byte("=?base64?"))
	for i := range len(s) {
		plain = plain && s[i] >= ' ' && s[i] <= '~'
	}
	if plain || s == "" {
		return s
	}
	return EncodedHead(s)
}

// EncodedHead returns a text as the value of a line in a head, in base64 whatever it is.
func EncodedHead(s string) string { return "=?base64?" + Base64(s) + "?=" }

// DecodeHead returns the text that a value of a line in a head stands for.
func DecodeHead(value string) string {
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if encoded, end := strings.CutSuffix(encoded, "?="); ok && end {
		if text, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return string(text)
		}
	}
	return value
}
