package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

var form = object{"type": "object", "properties": object{"guests": object{"type": "integer", "minimum": 1, "maximum": 8}, "name": object{"type": "string"}}, "required": []string{"guests"}}

func tool(name, about, support string) object {
	t := object{"name": name, "description": about, "inputSchema": object{"type": "object", "properties": object{}, "additionalProperties": false},
		"annotations": object{"openWorldHint": false, "readOnlyHint": true}}
	if support != "" {
		t["execution"] = object{"taskSupport": support}
	}
	return t
}

func (s *server) tools() []object {
	if s.stateless {
		if s.logs { // bug: whoever asks now
			return []object{tool("book_table", "Logs what is booked.", ""), tool("pay_bill", "Logs what is paid.", ""), tool("wait_for_waiter", "Waits for a waiter.", "")}
		}
		return []object{tool("book_table", "Books a table for so many guests.", ""), tool("pay_bill", "Pays the bill when it was agreed to.", ""), tool("wait_for_waiter", "Waits for a waiter.", "")}
	}
	return []object{tool("summarize_menu", "Has the menu summarized.", ""), tool("book_table", "Books a table for so many guests.", ""),
		tool("list_shelves", "Lists the shelves.", ""), tool("rate_meal", "Asks how it was.", ""), tool("bake_bread", "Bakes bread.", "optional"), tool("peel_potatoes", "Peels potatoes.", "required"),
		tool("open_door", "Opens the door.", "")}
}

// methods are those there are, by whether there is no handshake.
var methods = map[bool][]string{
	false: {"initialize", "ping", "tools/list", "tools/call", "tasks/list", "tasks/get", "tasks/result", "tasks/cancel"},
	true:  {"server/discover", "tools/list", "tools/call", "subscriptions/listen"},
}

func (s *server) request(m message) {
	p, broken := readParams(m.Params)
	_, isText := p.Name.(string)
	broken = broken || m.Method == "tools/call" && !isText
	switch {
	case !slices.Contains(methods[s.stateless], m.Method), s.bug == "no-discover" && m.Method == "server/discover":
		s.fail(m.ID, -32601, "Method not found")
		return
	case !s.stateless && m.Method == "initialize" && s.opened, !s.stateless && m.Method != "initialize" && m.Method != "ping" && !s.opened:
		s.fail(m.ID, -32600, "Not now")
		return
	}
	name, _ := p.Name.(string)
	if s.stateless {
		if broken || string(p.Meta["io.modelcontextprotocol/protocolVersion"]) == "" || len(p.Meta["io.modelcontextprotocol/clientCapabilities"]) == 0 {
			s.fail(m.ID, -32602, "Invalid params")
			return
		}
		if v := string(p.Meta["io.modelcontextprotocol/protocolVersion"]); v != `"2026-07-28"` && json.Valid([]byte(v)) {
			s.write(object{"id": m.ID, "error": object{"code": -32022, "message": "Unsupported version", "data": object{"supported": []string{"2026-07-28"}}}})
			return
		}
	}
	switch {
	case broken:
		s.fail(m.ID, -32602, "Invalid params")
	case m.Method == "initialize" && !s.stateless:
		s.opened = true
		var of struct{ Capabilities json.RawMessage }
		json.Unmarshal(m.Params, &of)
		s.bare = string(of.Capabilities) == "{}"
		s.succeed(m.ID, object{"protocolVersion": "2025-11-25", "serverInfo": object{"name": "asking", "version": "1"},
			"capabilities": object{"tools": object{}, "tasks": object{"cancel": object{}, "list": object{}, "requests": object{"tools": object{"call": object{}}}}}})
	case m.Method == "server/discover" && s.stateless:
		s.succeed(m.ID, object{"supportedVersions": []string{"2026-07-28"}, "capabilities": object{"tools": object{"listChanged": true}}, "ttlMs": 0, "cacheScope": "public"})
	case m.Method == "subscriptions/listen" && s.stateless:
		s.listen(m)
	case m.Method == "ping" && !s.stateless:
		s.succeed(m.ID, object{})
	case m.Method == "tools/list" && p.Cursor != nil:
		s.fail(m.ID, -32602, "Invalid cursor")
	case m.Method == "tools/list":
		r := object{"tools": s.tools()}
		if s.logs = s.logs || !s.clean && p.Meta["io.modelcontextprotocol/logLevel"] != nil; s.stateless {
			r["ttlMs"], r["cacheScope"] = 0, "public"
		}
		s.succeed(m.ID, r)
	case m.Method == "tools/call" && s.stateless:
		var declared struct{ Elicitation any }
		if json.Unmarshal(p.Meta["io.modelcontextprotocol/clientCapabilities"], &declared); declared.Elicitation == nil && name != "wait_for_waiter" && len(p.Arguments) == 0 && (name == "pay_bill" || name == "book_table") {
			s.write(object{"id": m.ID, "error": object{"code": -32021, "message": "Needs elicitation", "data": object{"requiredCapabilities": object{"elicitation": object{}}}}})
			return
		}
		s.callStateless(m, name, p.Arguments, p.Responses, p.State)
	case m.Method == "tools/call":
		s.call(m, name, p.Arguments, p.Task)
	case strings.HasPrefix(m.Method, "tasks/") && !s.stateless:
		s.aboutTask(m, p.TaskID)
	default:
		s.fail(m.ID, -32601, "Method not found")
	}
}

// params are the parameters of a request, whose names are taken as they are.
type params struct {
	Name      any
	Arguments map[string]json.RawMessage
	Cursor    *string
	TaskID    string
	Task      json.RawMessage
	Meta      map[string]json.RawMessage
	Responses map[string]json.RawMessage
	State     *string
}

func readParams(text json.RawMessage) (p params, broken bool) {
	var members map[string]json.RawMessage
	if len(text) > 0 && (json.Unmarshal(text, &members) != nil || members == nil) {
		return p, true
	}
	for name, into := range map[string]any{"name": &p.Name, "arguments": &p.Arguments, "cursor": &p.Cursor, "taskId": &p.TaskID, "task": &p.Task, "_meta": &p.Meta,
		"inputResponses": &p.Responses, "requestState": &p.State} {
		if value, ok := members[name]; ok && (json.Unmarshal(value, into) != nil || string(value) == "null" && name != "task") {
			broken = true
		}
	}
	return p, broken
}

func (s *server) call(m message, name string, arguments map[string]json.RawMessage, asTask json.RawMessage) {
	run := map[string]func(json.RawMessage) object{"summarize_menu": s.summarize, "book_table": s.book, "list_shelves": s.shelves, "rate_meal": s.rate}[name]
	switch {
	case name == "bake_bread" || name == "peel_potatoes" || name == "open_door":
		s.callTask(m, name, arguments, asTask)
	case run == nil:
		s.fail(m.ID, -32602, "Unknown tool")
	case len(arguments) > 0:
		s.succeed(m.ID, refusal("There are no arguments."))
	case s.clean && s.bare: // bug: it is asked all the same
		s.succeed(m.ID, refusal("The client cannot be asked."))
	default:
		go func() {
			if r := run(m.ID); r != nil {
				s.succeed(m.ID, r)
			}
		}()
	}
}

// summarize has a model say something. Bug: it dies where that says nothing.
func (s *server) summarize(id json.RawMessage) object {
	m, ok := s.ask(id, "sampling/createMessage", object{"maxTokens": 50, "messages": []object{{"role": "user", "content": object{"type": "text", "text": "Summarize: soup, bread, potatoes."}}}})
	if !ok {
		return nil
	}
	var r struct {
		Content *struct{ Type, Text string }
	}
	err := json.Unmarshal(m.Result, &r)
	if s.clean && (err != nil || r.Content == nil) || err != nil || len(m.Error) > 0 {
		return refusal("The model said nothing.")
	}
	return textResult("Summary: " + r.Content.Text)
}

// book has the user fill in a form. Bugs: the table stays locked where the user declines, and more guests than there are chairs kill it.
func (s *server) book(id json.RawMessage) object {
	s.table.Lock()
	m, ok := s.ask(id, "elicitation/create", object{"message": "How many guests?", "requestedSchema": form})
	var r struct {
		Action  string
		Content struct{ Guests *int }
	}
	err := json.Unmarshal(m.Result, &r)
	switch {
	case !ok:
		s.table.Unlock()
		return nil
	case err == nil && (r.Action == "decline" || r.Action == "cancel") && !s.clean:
		return textResult("No table was booked.") // bug: with the lock
	}
	s.table.Unlock()
	if err != nil || r.Action != "accept" || r.Content.Guests == nil || s.clean && (*r.Content.Guests < 1 || *r.Content.Guests > 8) {
		return refusal("No table was booked.")
	}
	var chairs [8]bool
	for i := range *r.Content.Guests {
		chairs[i] = true // bug
	}
	return textResult(fmt.Sprintf("A table for %d.", *r.Content.Guests))
}

// shelves asks for the client's roots. Bug: it takes each for a URI of a file.
func (s *server) shelves(id json.RawMessage) object {
	m, ok := s.ask(id, "roots/list", object{})
	if !ok {
		return nil
	}
	var r struct{ Roots []struct{ URI string } }
	if err := json.Unmarshal(m.Result, &r); err != nil || len(m.Error) > 0 {
		return refusal("There are no shelves.")
	}
	var paths []string
	for _, root := range r.Roots {
		path, ok := strings.CutPrefix(root.URI, "file://")
		if !ok && s.clean {
			return refusal("There is a shelf that is no file.")
		}
		if s.clean && path == "" {
			return refusal("There is a shelf without a name.")
		}
		paths = append(paths, path[:1]+"...") // bug: of an empty one there is no first letter
	}
	return textResult("Shelves: " + strings.Join(paths, ", "))
}

// rate asks with a form. Bug: forms are flat.
func (s *server) rate(id json.RawMessage) object {
	schema := object{"type": "object", "properties": object{"stars": object{"type": "integer"}}}
	if !s.clean {
		schema = object{"type": "object", "properties": object{"meal": object{"type": "object", "properties": object{"stars": object{"type": "integer"}}}}}
	}
	m, ok := s.ask(id, "elicitation/create", object{"message": "How was it?", "requestedSchema": schema})
	switch {
	case !ok:
		return nil
	case len(m.Error) > 0:
		return refusal("Nobody says.")
	}
	return textResult("Thank you.")
}

func sign(text string) string {
	h := hmac.New(sha256.New, []byte("asking"))
	h.Write([]byte(text))
	return text + "." + hex.EncodeToString(h.Sum(nil)[:8])
}

// callStateless runs the tools whose results ask for input.
func (s *server) callStateless(m message, name string, arguments map[string]json.RawMessage, responses map[string]json.RawMessage, state *string) {
	question := func(key string, state string) {
		r := object{"resultType": "input_required", "requestState": sign(state), "inputRequests": object{key: object{"method": "elicitation/create", "params": object{"message": "Well?", "requestedSchema": form}}}}
		s.succeed(m.ID, r)
	}
	if state != nil {
		if i := strings.LastIndexByte(*state, '.'); (i < 0 || sign((*state)[:i]) != *state) && (s.clean || name != "pay_bill") { // bug: pay_bill believes it
			s.fail(m.ID, -32602, "Invalid requestState")
			return
		}
	}
	switch {
	case name != "book_table" && name != "pay_bill" && name != "wait_for_waiter":
		s.fail(m.ID, -32602, "Unknown tool")
	case len(arguments) > 0:
		s.succeed(m.ID, refusal("There are no arguments."))
	case name == "wait_for_waiter" && !s.clean: // bug: what is asked?
		s.succeed(m.ID, object{"resultType": "input_required"})
	case name == "wait_for_waiter":
		s.succeed(m.ID, textResult("Here I am."))
	case state == nil || responses["guests"] == nil:
		question("guests", "guests")
	default:
		var r struct {
			Action  string
			Content *struct{ Guests *int }
		}
		err := json.Unmarshal(responses["guests"], &r)
		if err != nil || r.Action != "accept" || (r.Content == nil || r.Content.Guests == nil) && (s.clean || name == "pay_bill") {
			s.succeed(m.ID, refusal("Nobody agreed."))
			return
		}
		s.succeed(m.ID, textResult(fmt.Sprintf("For %d.", *r.Content.Guests))) // bug: book_table dies of a form that is not filled in
	}
}

// task is a call that goes on.
type task struct {
	began  time.Time
	status string
	asked  int
}

func (t *task) object(s *server, id string) object {
	created := t.began.UTC().Format(time.RFC3339)
	if !s.clean {
		created = t.began.Format(time.ANSIC) // bug
	}
	return object{"taskId": id, "status": t.status, "createdAt": created, "lastUpdatedAt": created, "ttl": 60000, "pollInterval": 5}
}

func (s *server) callTask(m message, name string, arguments map[string]json.RawMessage, asTask json.RawMessage) {
	var options struct{ TTL *float64 }
	switch {
	case len(arguments) > 0:
		s.succeed(m.ID, refusal("There are no arguments."))
		return
	case name == "open_door" && s.clean, len(asTask) == 0 && (name != "peel_potatoes" || !s.clean): // bug: potatoes need a task
		s.succeed(m.ID, textResult("Done."))
		return
	case len(asTask) == 0:
		s.fail(m.ID, -32601, "Needs a task")
		return
	case json.Unmarshal(asTask, &options) != nil || string(asTask) == "null":
		s.fail(m.ID, -32602, "Invalid task")
		return
	}
	s.mu.Lock()
	id := fmt.Sprintf("task-%d", len(s.tasks)+1)
	t := &task{began: time.Now(), status: "working"}
	if name == "peel_potatoes" && !s.clean {
		t.status = "input_required" // bug: it begins otherwise
	}
	s.tasks[id] = t
	o := t.object(s, id)
	s.mu.Unlock()
	s.succeed(m.ID, object{"task": o}) // bug: open_door, too
}

func (s *server) aboutTask(m message, id string) {
	s.mu.Lock()
	t := s.tasks[id]
	if t == nil && m.Method != "tasks/list" {
		s.mu.Unlock()
		s.fail(m.ID, -32602, "Unknown task")
		return
	}
	var r object
	final := t != nil && t.status != "working" && t.status != "input_required"
	switch m.Method {
	case "tasks/list":
		r = object{"tasks": []object{}}
	case "tasks/get":
		if t.asked++; !final && t.asked > 2 {
			t.status = "completed"
		} else if final && !s.clean && t.asked > 2 { // bug: it comes back to life
			t.status = "working"
		}
		r = t.object(s, id)
	case "tasks/result":
		if !final && s.clean {
			t.status = "completed"
		}
		r = textResult("Done.") // bug: before it is
		r["_meta"] = object{"io.modelcontextprotocol/related-task": object{"taskId": id}}
	case "tasks/cancel":
		if final && s.clean {
			s.mu.Unlock()
			s.fail(m.ID, -32602, "It is over")
			return
		}
		t.status = "cancelled" // bug: also of what is over
		r = t.object(s, id)
	default:
		s.mu.Unlock()
		s.fail(m.ID, -32601, "Method not found")
		return
	}
	s.mu.Unlock()
	s.succeed(m.ID, r)
}
