package session

import (
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// Methods are all methods of the protocol versions that have a handshake, those that a server sends left out.
var Methods = []string{
	"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete",
	"logging/setLevel", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel",
}

// Notifications are those that a client may send.
var Notifications = []string{
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
}

// Subject names what a message is about in one of a bounded set of ways, whatever a mutation has made of it: "ping",
// "tools/call divide", "tools/call (unknown tool)", "(unknown method)", "(invalid JSON)". Tools and prompts are told
// by name when the session knows them. The session may be nil.
func Subject(s *Session, m *jsonrpc.Message) string {
	switch m.Class {
	case jsonrpc.ClassBatch:
		return "(batch)"
	case jsonrpc.ClassResponse:
		return "(response)"
	}
	if m.Root == nil {
		return "(invalid JSON)"
	}
	if m.Method == "" {
		return "(invalid message)"
	}
	switch m.Method {
	case "tools/call":
		name := CalledName(m)
		if s != nil && s.Tool(name) != nil {
			return "tools/call " + name
		}
		return "tools/call (unknown tool)"
	case "prompts/get":
		name := CalledName(m)
		if s != nil && s.Prompt(name) != nil {
			return "prompts/get " + name
		}
		return "prompts/get (unknown prompt)"
	}
	if IsMethod(m.Method) || isNotification(m.Method) {
		return m.Method
	}
	if m.Class == jsonrpc.ClassNotification {
		return "(unknown notification)"
	}
	return "(unknown method)"
}

// CalledName returns the name of what is called: of several the last, as most readers of JSON have it.
func CalledName(m *jsonrpc.Message) (name string) {
	if m.Params == nil {
		return ""
	}
	for i := range m.Params.Members {
		if p := &m.Params.Members[i]; p.Name == "name" {
			name, _ = p.Value.Str()
		}
	}
	return name
}

// IsMethod reports whether a request has that method in some version of the protocol.
func IsMethod(name string) bool {
	for _, m := range Methods {
		if m == name {
			return true
		}
	}
	return false
}

func isNotification(name string) bool {
	for _, n := range Notifications {
		if n == name {
			return true
		}
	}
	return false
}

// Prompt returns the prompt of that name; nil: there is none.
func (s *Session) Prompt(name string) *Prompt {
	for i := range s.Prompts {
		if s.Prompts[i].Name == name {
			return &s.Prompts[i]
		}
	}
	return nil
}

// TokenOf returns the progress token of a request; nil: it has none.
func TokenOf(m *jsonrpc.Message) *mutate.JSON { return m.Params.Get("_meta").Get("progressToken") }
