package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The error codes of JSON-RPC and MCP.
const (
	codeParse          = -32700
	codeInvalid        = -32600
	codeMethod         = -32601
	codeParams         = -32602
	codeInternal       = -32603
	codeResourceAbsent = -32002
)

type object = map[string]any

// fields are the members of an object as they came. Their names count letter by letter.
type fields = map[string]json.RawMessage

// failure is an error that is answered.
type failure struct {
	code    int
	message string
}

// tool is one tool. A call of it gets arguments that conform to its schema, and returns a text.
type tool struct {
	name, description string
	annotations       object // nil: none
	properties        object // of the input schema
	required          []string
	call              func(arguments fields) (text string, failed bool, f *failure)
}

// resource is one resource, with what reading it returns.
type resource struct {
	uri, name string
	read      func() []object
}

// server is a plain server, whose fields a mode changes.
type server struct {
	tools        []tool
	resources    []resource
	prompts      []object
	capabilities object
	async        bool // each request has a goroutine of its own
	pageSize     int  // of tools/list; 0: all on one page

	lax           bool                                     // requests are served before initialize, initialize again, cursors are ignored
	unreadable    func(line []byte) bool                   // lines that are refused with -32600 as a lax reader would; nil: none
	before        func(method string)                      // runs before a request is served; nil: nothing does
	unknownTool   func(name string) (text string, ok bool) // answers calls of tools that are not there; nil: they are refused
	refuseUnknown func(tool, argument string) string       // refuses an argument that is not declared; nil: they are ignored
	exitBefore    bool                                     // it exits when initialize does not come first
	onInitialized func(params fields)                      // runs when the client is initialized; nil: nothing does
	handlers      map[string]func(params fields) (any, *failure)

	mu     sync.Mutex
	out    io.Writer
	opened bool
	client fields // the parameters of initialize
	wait   sync.WaitGroup
}

func newServer(out io.Writer) *server {
	return &server{out: out, capabilities: object{"tools": object{}}, handlers: map[string]func(fields) (any, *failure){}}
}

func (s *server) write(message object) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(message) != nil {
		os.Exit(3)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(b.Bytes()) // a client that has gone needs no answer
}

func (s *server) notify(method string, params object) {
	s.write(object{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *server) answer(id json.RawMessage, result any) {
	s.write(object{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *server) refuse(id json.RawMessage, code int, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	s.write(object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": message}})
}

func (s *server) serve(in io.Reader) {
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 && err == nil {
			s.line(line)
		}
		if err != nil {
			s.wait.Wait()
			return
		}
	}
}

func isID(raw json.RawMessage) bool {
	switch raw[0] {
	case '"':
		return true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return !bytes.ContainsAny(raw, ".eE")
	}
	return false
}

func (s *server) line(line []byte) {
	if s.unreadable != nil && s.unreadable(line) {
		s.refuse(nil, codeInvalid, "invalid request")
		return
	}
	if !utf8.Valid(line) || !json.Valid(line) {
		s.refuse(nil, codeParse, "parse error")
		return
	}
	var m fields
	if bytes.TrimSpace(line)[0] != '{' || json.Unmarshal(line, &m) != nil {
		s.refuse(nil, codeInvalid, "a message is an object")
		return
	}
	id, asked := m["id"]
	method, named := text(m["method"])
	switch {
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil): // an answer, though nothing was asked
		return
	case asked && !isID(id):
		s.refuse(nil, codeInvalid, "an id is a string or an integer")
		return
	case !asked && m["method"] != nil:
		s.notified(method, objectOf(m["params"]))
		return
	case m["jsonrpc"] == nil || !isTwo(m["jsonrpc"]):
		s.refuse(id, codeInvalid, `jsonrpc is "2.0"`)
		return
	case !named || m["result"] != nil || m["error"] != nil:
		s.refuse(id, codeInvalid, "a request has a method and no result")
		return
	}
	if s.async {
		s.wait.Go(func() { s.request(id, method, m["params"]) })
		return
	}
	s.request(id, method, m["params"])
}

// objectOf returns the members of an object, nil if it is none.
func objectOf(raw json.RawMessage) fields {
	var f fields
	if len(raw) == 0 || bytes.TrimSpace(raw)[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

func text(raw json.RawMessage) (string, bool) {
	var v string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	return v, true
}

func (s *server) notified(method string, params fields) {
	if method == "notifications/initialized" && s.isOpen() && s.onInitialized != nil {
		s.onInitialized(s.client)
	}
}

func (s *server) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (s *server) request(id json.RawMessage, method string, raw json.RawMessage) {
	params := fields{}
	if raw != nil {
		if params = objectOf(raw); params == nil {
			s.refuse(id, codeParams, "params is an object")
			return
		}
	}
	if meta := params["_meta"]; meta != nil && objectOf(meta) == nil {
		s.refuse(id, codeParams, "_meta is an object")
		return
	}
	open := s.isOpen()
	if !open && !s.lax && method != "initialize" && method != "ping" {
		if s.exitBefore {
			os.Stderr.WriteString("Error: expected initialize request\n")
			os.Exit(1)
		}
		s.refuse(id, codeInvalid, "initialize comes first")
		return
	}
	if s.before != nil {
		s.before(method)
	}
	result, f := s.handle(method, params)
	if f != nil {
		s.refuse(id, f.code, f.message)
		return
	}
	s.answer(id, result)
}

func (s *server) handle(method string, params fields) (any, *failure) {
	if h := s.handlers[method]; h != nil {
		return h(params)
	}
	switch {
	case method == "ping":
		return object{}, nil
	case method == "initialize":
		return s.initialize(params)
	case method == "tools/list":
		return s.listTools(params)
	case method == "tools/call":
		return s.callTool(params)
	case s.capabilities["resources"] != nil && method == "resources/list":
		return s.listResources(params)
	case s.capabilities["resources"] != nil && method == "resources/templates/list":
		if f := s.noCursor(params); f != nil {
			return nil, f
		}
		return object{"resourceTemplates": []object{}}, nil
	case s.capabilities["resources"] != nil && method == "resources/read":
		return s.readResource(params)
	case s.capabilities["prompts"] != nil && method == "prompts/list":
		if f := s.noCursor(params); f != nil {
			return nil, f
		}
		return object{"prompts": s.prompts}, nil
	case s.capabilities["prompts"] != nil && method == "prompts/get":
		return s.getPrompt(params)
	}
	return nil, &failure{codeMethod, "method not found"}
}

var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

func (s *server) initialize(params fields) (any, *failure) {
	version, ok := text(params["protocolVersion"])
	if !ok || objectOf(params["capabilities"]) == nil || objectOf(params["clientInfo"]) == nil {
		return nil, &failure{codeParams, "initialize has protocolVersion, capabilities and clientInfo"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened && !s.lax {
		return nil, &failure{codeInvalid, "already initialized"}
	}
	if s.opened, s.client = true, params; !slices.Contains(versions, version) {
		version = versions[len(versions)-1]
	}
	return object{"protocolVersion": version, "capabilities": s.capabilities, "serverInfo": object{"name": "orderly", "version": "1"}}, nil
}

// noCursor refuses a cursor: there is one page.
func (s *server) noCursor(params fields) *failure {
	if params["cursor"] == nil || s.lax {
		return nil
	}
	return &failure{codeParams, "there is no such page"}
}

func (s *server) listTools(params fields) (any, *failure) {
	s.mu.Lock()
	all := slices.Clone(s.tools)
	s.mu.Unlock()
	from := 0
	if raw := params["cursor"]; raw != nil && !s.lax {
		cursor, ok := text(raw)
		if from = slices.IndexFunc(all, func(t tool) bool { return "after-"+t.name == cursor }) + 1; !ok || from == 0 || s.pageSize == 0 {
			return nil, &failure{codeParams, "there is no such page"}
		}
	}
	result, items := object{}, []object{}
	for i, t := range all[from:] {
		item := object{"name": t.name, "description": t.description,
			"inputSchema": object{"type": "object", "properties": orEmpty(t.properties), "required": append([]string{}, t.required...)}}
		if t.annotations != nil {
			item["annotations"] = t.annotations
		}
		items = append(items, item)
		if s.pageSize > 0 && i+1 == s.pageSize && from+i+1 < len(all) {
			result["nextCursor"] = "after-" + t.name
			break
		}
	}
	result["tools"] = items
	return result, nil
}

func orEmpty(o object) object {
	if o == nil {
		return object{}
	}
	return o
}

func (s *server) tool(name string) *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.tools {
		if s.tools[i].name == name {
			return &s.tools[i]
		}
	}
	return nil
}

func said(text string, failed bool) object {
	result := object{"content": []object{{"type": "text", "text": text}}}
	if failed {
		result["isError"] = true
	}
	return result
}

func (s *server) callTool(params fields) (any, *failure) {
	name, ok := text(params["name"])
	if !ok {
		return nil, &failure{codeParams, "name is a string"}
	}
	if params["task"] != nil {
		return nil, &failure{codeMethod, "there are no tasks"}
	}
	t := s.tool(name)
	if t == nil {
		if s.unknownTool != nil {
			if answer, ok := s.unknownTool(name); ok {
				return said(answer, true), nil
			}
		}
		return nil, &failure{codeParams, "unknown tool"}
	}
	arguments := fields{}
	if raw := params["arguments"]; raw != nil {
		if arguments = objectOf(raw); arguments == nil {
			return nil, &failure{codeParams, "arguments is an object"}
		}
	}
	if why := s.wrong(t, arguments); why != "" {
		return said(why, true), nil
	}
	answer, failed, f := t.call(arguments)
	if f != nil {
		return nil, f
	}
	return said(answer, failed), nil
}

// wrong says what is wrong with arguments, "" if nothing is.
func (s *server) wrong(t *tool, arguments fields) string {
	for _, name := range t.required {
		if arguments[name] == nil {
			return "Invalid arguments: " + name + " is required"
		}
	}
	names := make([]string, 0, len(arguments))
	for name := range arguments {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		property, declared := t.properties[name].(object)
		if !declared {
			if s.refuseUnknown != nil {
				return s.refuseUnknown(t.name, name)
			}
			continue
		}
		raw := arguments[name]
		_, isText := text(raw)
		switch kind := property["type"]; {
		case kind == "string" && !isText, kind == "integer" && !(raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'),
			kind == "integer" && (strings.ContainsAny(string(raw), ".eE") || len(raw) > 15),
			kind == "boolean" && string(raw) != "true" && string(raw) != "false":
			return "Invalid arguments: " + name + " has the wrong type"
		}
	}
	return ""
}

func (s *server) listResources(params fields) (any, *failure) {
	if f := s.noCursor(params); f != nil {
		return nil, f
	}
	items := []object{}
	for _, r := range s.resources {
		items = append(items, object{"uri": r.uri, "name": r.name})
	}
	return object{"resources": items}, nil
}

func (s *server) readResource(params fields) (any, *failure) {
	uri, ok := text(params["uri"])
	if !ok {
		return nil, &failure{codeParams, "uri is a string"}
	}
	for _, r := range s.resources {
		if r.uri == uri {
			return object{"contents": r.read()}, nil
		}
	}
	return nil, &failure{codeResourceAbsent, "resource not found"}
}

func (s *server) getPrompt(params fields) (any, *failure) {
	name, ok := text(params["name"])
	if !ok {
		return nil, &failure{codeParams, "name is a string"}
	}
	arguments := fields{}
	if raw := params["arguments"]; raw != nil {
		if arguments = objectOf(raw); arguments == nil {
			return nil, &failure{codeParams, "arguments is an object"}
		}
	}
	for _, p := range s.prompts {
		if p["name"] != name {
			continue
		}
		for _, a := range p["arguments"].([]object) {
			if _, ok := text(arguments[a["name"].(string)]); !ok {
				return nil, &failure{codeParams, "an argument is missing or is no string"}
			}
		}
		return object{"messages": []object{{"role": "user", "content": object{"type": "text", "text": "Please review it."}}}}, nil
	}
	return nil, &failure{codeParams, "unknown prompt"}
}

// isTwo reports whether a value is the text 2.0, however it is written.
func isTwo(raw json.RawMessage) bool {
	version, ok := text(raw)
	return ok && version == "2.0"
}
