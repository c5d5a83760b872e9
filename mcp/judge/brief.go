package judge

import (
	"encoding/json"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// briefLength is how many bytes of a line stand in a message. The line as a whole is in the exchange below.
const briefLength = 160

// brief names what was sent in a message: a request or notification by its method and what it asks for, such as tools/call add {"a":1}; any other line
// is quoted, for what is wrong may be in any part of it.
func brief(s *script.Sent) string {
	m := &s.Message
	if m.Class != jsonrpc.ClassRequest && m.Class != jsonrpc.ClassNotification || m.Twice || !saysJSONRPC(m.Root) {
		return jsonrpc.Cut(s.Raw, briefLength)
	}
	var call struct {
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(s.Raw, &call) != nil {
		return jsonrpc.Cut(s.Raw, briefLength)
	}
	words := []string{m.Method}
	var named map[string]json.RawMessage
	if json.Unmarshal(call.Params, &named) == nil {
		for _, key := range [...]string{"name", "uri"} {
			var name string
			if raw, ok := named[key]; ok && json.Unmarshal(raw, &name) == nil && name != "" && !strings.ContainsAny(name, " \t\n") {
				words = append(words, jsonrpc.Cut(name, briefLength))
				delete(named, key)
			}
		}
		if raw, ok := named["arguments"]; ok && len(named) == 1 && len(words) > 1 {
			call.Params = raw
		} else if len(words) > 1 {
			call.Params, _ = json.Marshal(named) // it was JSON before
		}
	}
	if len(call.Params) > 0 && string(call.Params) != "{}" {
		words = append(words, jsonrpc.Cut([]byte(call.Params), briefLength))
	}
	return strings.Join(words, " ")
}
