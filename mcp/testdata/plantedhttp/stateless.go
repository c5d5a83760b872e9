package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// once reports whether no line that repeats a part of the body stands there twice.
func once(h http.Header) bool {
	for _, name := range []string{"Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Mcp-Protocol-Version"} {
		if len(h[name]) > 1 {
			return false
		}
	}
	return true
}

// mirrors reports whether a line is what the argument text of a call is.
func mirrors(value string, m *message) bool {
	var arguments map[string]json.RawMessage
	json.Unmarshal(m.Params["arguments"], &arguments)
	var text any
	if json.Unmarshal(arguments["text"], &text) != nil || text == nil {
		return value == ""
	}
	if s, ok := text.(string); ok {
		return isHeadOf(value, s)
	}
	return isHeadOf(value, fmt.Sprint(text))
}

// listen answers a request for notifications. There never is one to send.
func (s *server) listen(w http.ResponseWriter, r *http.Request, m *message, refuse func(code int, text string)) {
	var filter map[string]json.RawMessage
	if json.Unmarshal(m.Params["notifications"], &filter) != nil || filter == nil {
		refuse(-32602, "no filter")
		return
	}
	wanted := map[string]any{}
	if string(filter["toolsListChanged"]) == "true" {
		wanted["toolsListChanged"] = true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(method string, params map[string]any) {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/subscriptionId": m.ID}
		body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
		fmt.Fprintf(w, "data: %s\n\n", body)
		w.(http.Flusher).Flush()
	}
	if !s.clean { // bug: nobody has asked for it
		say("notifications/prompts/list_changed", map[string]any{})
	}
	say("notifications/subscriptions/acknowledged", map[string]any{"notifications": wanted})
	<-r.Context().Done()
}
