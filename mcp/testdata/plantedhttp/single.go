package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// bugs are those that -bug plants in a server that has no other, for rules whose violation would hide those of the rest.
var bugs = []string{
	"answer-on-get",      // the answer to a call comes on the stream of a GET
	"resumed-stream",     // a stream may be resumed in any session
	"resumed-all",        // and has what was sent on all streams, in any session
	"last-client",        // which tools there are depends on who has begun a session last
	"session-file",       // a file is open for each session, ended or not
	"session-memory",     // so much memory is kept for each
	"long-head-exit",     // a long head ends the server
	"long-head-hang",     // and here it stops to answer
	"server-request",     // a call leads to a request to the client
	"unasked-log",        // log messages come unasked
	"unasked-change",     // list_changed comes unasked
	"scope-of-pages",     // the pages of a list differ in their scope
	"list-asks",          // a list asks for input
	"asks-undeclared",    // a tool asks for what the client did not declare
	"refuses-missing",    // a question that is not answered is not asked again
	"needs-other-code",   // what the client would need is said with another code
	"needs-other-status", // and with another status
	"no-discover",        // server/discover is no method
	"discover-404",       // and the response says so with nothing but its status

	"declines-some",      // every third request is answered with 401
	"progress-elsewhere", // progress comes on the stream of another session
	"fewer-over-stdio",   // over standard input and output there is one tool less
	"third-stream",       // the third stream that is open ends the server
	"swapped-answers",    // of two calls in flight each gets the text of the other
	"slower",             // each call takes longer than the one before
	"call-file",          // a file is open for each call
	"call-zombie",        // a child that has ended is left of each
	"slow",               // each call takes 200 ms, which is no bug
}

// has reports whether the server has one of the bugs.
func (s *server) has(bug string) bool { return s.bug == bug }

// A response is an answer before which other messages come on its stream.
type response struct {
	http.ResponseWriter
	before [][]byte
	called bool // it is that of a tool
}

// say has a message sent before the answer.
func (r *response) say(method string, id, params any) {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id != nil {
		m["id"] = id
	}
	body, _ := json.Marshal(m)
	r.before = append(r.before, body)
}

// before says what comes before the answer to a request.
func (s *server) before(r *response, m *message) {
	if m.Method != "tools/call" {
		return
	}
	r.called = true
	switch s.bug {
	case "server-request":
		r.say("roots/list", "ask-1", map[string]any{})
	case "unasked-log":
		r.say("notifications/message", nil, map[string]any{"level": "info", "data": "called"})
	case "unasked-change":
		r.say("notifications/tools/list_changed", nil, map[string]any{})
	}
}

// asks returns a result that asks for input.
func asks() map[string]any {
	return map[string]any{"resultType": "input_required", "requestState": "asked", "inputRequests": map[string]any{"go": map[string]any{
		"method": "elicitation/create", "params": map[string]any{"message": "Go on?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}}}}}}
}

func confirmTool() any {
	return map[string]any{"name": "confirm", "description": "Asks whether to go on.", "annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false},
		"inputSchema": map[string]any{"type": "object"}}
}

// answers reports whether a request has an answer to a question in its inputResponses.
func (m *message) answers(question string) bool {
	var responses map[string]json.RawMessage
	return json.Unmarshal(m.Params["inputResponses"], &responses) == nil && responses[question] != nil
}

// confirm is the tool that asks whether to go on, of a client that has said that it can be asked.
func (s *server) confirm(w http.ResponseWriter, m *message) {
	var meta struct {
		Capabilities struct{ Elicitation any } `json:"io.modelcontextprotocol/clientCapabilities"`
	}
	json.Unmarshal(m.Params["_meta"], &meta)
	able := meta.Capabilities.Elicitation != nil
	needs := map[string]any{"code": -32021, "message": "needs elicitation", "data": map[string]any{"requiredCapabilities": map[string]any{"elicitation": map[string]any{}}}}
	var arguments map[string]json.RawMessage
	switch {
	case m.Params["arguments"] != nil && json.Unmarshal(m.Params["arguments"], &arguments) != nil || string(m.Params["arguments"]) == "null":
		s.answer(w, http.StatusOK, m.ID, "error", problem(-32602, "arguments are no object"))
	case m.Params["inputResponses"] != nil && m.text("requestState") == "asked" && !m.answers("go"):
		if s.has("refuses-missing") {
			s.answer(w, http.StatusOK, m.ID, "error", problem(-32602, "go was not answered"))
			return
		}
		s.answer(w, http.StatusOK, m.ID, "result", asks())
	case m.Params["inputResponses"] != nil && m.text("requestState") == "asked":
		s.answer(w, http.StatusOK, m.ID, "result", content("went on", false))
	case m.Params["requestState"] != nil && m.text("requestState") != "asked":
		s.answer(w, http.StatusOK, m.ID, "error", problem(-32602, "no such state"))
	case able || s.has("asks-undeclared"):
		s.answer(w, http.StatusOK, m.ID, "result", asks())
	case s.has("needs-other-code"):
		s.answer(w, http.StatusOK, m.ID, "error", problem(-32603, "the client cannot be asked"))
	case s.has("needs-other-status"):
		s.answer(w, http.StatusOK, m.ID, "error", needs)
	default:
		s.answer(w, http.StatusBadRequest, m.ID, "error", needs)
	}
}

// hold takes what a session needs, with one of the bugs for ever.
func (s *server) hold() {
	switch s.bug {
	case "session-file":
		if f, err := os.Open(os.DevNull); err == nil {
			s.held = append(s.held, f)
		}
	case "session-memory":
		s.held = append(s.held, bytes.Repeat([]byte{1}, 1<<18))
	}
}

// longHead meets a head that is longer than most.
func (s *server) longHead(r *http.Request) {
	size := 0
	for name, values := range r.Header {
		size += len(name) + len(strings.Join(values, ""))
	}
	switch {
	case size < 32<<10:
	case s.has("long-head-exit"):
		fmt.Fprintln(os.Stderr, "head is too long")
		os.Exit(1)
	case s.has("long-head-hang"):
		s.mu.Lock()
		select {}
	}
}
