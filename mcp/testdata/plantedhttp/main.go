// Command plantedhttp is an MCP server over Streamable HTTP with one planted bug for each rule about HTTP. With -clean it has none,
// and with -bug that one only.
//
//	plantedhttp -port 8080 [-clean] [-bug NAME] [-sse] [-stateless] [-mortal] [-closes] [-fails HOW -after N|-on TEXT]
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

type server struct {
	clean, sse bool
	stateless  bool
	mortal     bool
	bug        string // the only one; "": there are all that have no name, or with clean none
	mu         sync.Mutex
	sessions   map[string]bool // false: ended
	count      int
	asked      map[string]string      // the name that was asked for last under an id
	kept       []event                // of all sessions
	streams    map[chan string]string // their sessions
	held       []any                  // for sessions
	bare       bool                   // the last client has no capabilities
	overStdio  bool
	requests   int
	waiting    chan string // of a call that gives its text away; nil: there is none
}

type message struct {
	ID     json.RawMessage
	Method string
	Params map[string]json.RawMessage
}

// text returns a parameter that is a text.
func (m *message) text(name string) (text string) {
	json.Unmarshal(m.Params[name], &text)
	return text
}

func main() {
	port := flag.Int("port", 0, "port to listen on, on this machine")
	s := &server{sessions: map[string]bool{}, asked: map[string]string{}, streams: map[chan string]string{}}
	flag.BoolVar(&s.clean, "clean", false, "have no bug")
	flag.BoolVar(&s.sse, "sse", false, "answer with event streams")
	flag.BoolVar(&s.stateless, "stateless", false, "speak 2026-07-28, which has no handshake and no sessions")
	flag.BoolVar(&s.mortal, "mortal", false, "end where a text has an unusual character")
	failing := newFailing()
	over := flag.Bool("stdio", false, "speak over standard input and output")
	closes := flag.Bool("closes", false, "close each connection after an answer, without saying so in that")
	flag.StringVar(&s.bug, "bug", "", "have only this bug: "+strings.Join(bugs, ", "))
	flag.Parse()
	if s.bug != "" && !slices.Contains(bugs, s.bug) {
		log.Fatal("no such bug: ", s.bug)
	}
	s.clean = s.clean || s.bug != ""
	if *over {
		s.overStdio = true
		s.serveLines(os.Stdin, os.Stdout)
		return
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	if !s.clean {
		l = &careless{Listener: l}
	}
	failing.Handler = s
	l = &listener{Listener: l, from: failing}
	h := &http.Server{Handler: failing}
	cutOnSignal(h, *closes)
	log.Fatal(h.Serve(l))
}

// cutOnSignal closes all connections at each SIGUSR1, and those on which nothing is on if closes says so.
func cutOnSignal(h *http.Server, closes bool) {
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	h.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if open[c] = true; state == http.StateClosed || state == http.StateHijacked {
			delete(open, c)
		}
		if closes && state == http.StateIdle {
			c.Close()
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			mu.Lock()
			for c := range open {
				c.Close()
			}
			mu.Unlock()
		}
	}()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.longHead(r)
	if s.uneven(w) {
		return
	}
	origin := r.Header.Get("Origin")
	switch {
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
	case s.clean && !isLocal(r.Host): // bug: whatever it is
		http.Error(w, "forbidden host", http.StatusForbidden)
	case s.clean && origin != "" && !strings.HasPrefix(origin, "http://127.0.0.1"):
		http.Error(w, "forbidden origin", http.StatusForbidden)
	case r.Method == "POST" && s.clean && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"): // bug: whatever it is
		http.Error(w, "not JSON", http.StatusUnsupportedMediaType)
	case r.Method == "POST":
		s.post(w, r)
	case r.Method == "DELETE" && !s.stateless:
		s.end(w, r)
	case r.Method == "GET" && s.sse && r.Header.Get("Last-Event-ID") != "":
		s.resume(w, r)
	case r.Method == "GET" && s.sse && !s.stateless && (!s.clean || !s.refused(w, r)):
		s.stream(w, r)
	case r.Method == "GET" && s.sse && !s.stateless: // refused
	case r.Method == "GET" && !s.clean: // bug: no stream, and no 405
		io.WriteString(w, "{}")
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *server) end(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := r.Header.Get(sessionHeader); s.clean { // bug: it lives on
		s.sessions[id] = false
	}
	w.WriteHeader(http.StatusNoContent)
}

// begin gives a session an id.
func (s *server) begin() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	id := rand.Text()
	if !s.clean {
		id = fmt.Sprintf("session-of-the-planted-server-%06d", s.count) // bug: by counting
	}
	s.sessions[id] = true
	s.hold()
	return id
}

// refused answers a request of no session, and reports whether it has.
func (s *server) refused(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get(sessionHeader)
	if !s.clean { // bug: any session will do, and none
		return false
	}
	switch version := r.Header.Get("MCP-Protocol-Version"); {
	case id == "":
		http.Error(w, "no session", http.StatusBadRequest)
	case !s.sessions[id]:
		http.Error(w, "no such session", http.StatusNotFound)
	case version != "" && version != "2025-11-25" && version != "2025-06-18": // bug: whatever it is
		http.Error(w, "unsupported version", http.StatusBadRequest)
	default:
		return false
	}
	return true
}

func (s *server) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot be read", http.StatusBadRequest)
		return
	}
	m, code := read(body)
	if code != 0 {
		s.answer(w, http.StatusBadRequest, nil, "error", problem(code, "not a message"))
		return
	}
	if s.stateless {
		s.postStateless(w, r, m)
		return
	}
	if m.Method == "initialize" && m.ID != nil {
		if s.clean && r.Header.Get(sessionHeader) != "" {
			s.answer(w, http.StatusBadRequest, m.ID, "error", problem(-32600, "initialized already"))
			return
		}
		w.Header().Set(sessionHeader, s.begin())
	} else if s.refused(w, r) {
		return
	}
	if m.Method != "initialize" {
		w.Header().Set(sessionHeader, r.Header.Get(sessionHeader))
	}
	if m.ID == nil || m.Method == "" { // a notification, or a response
		if s.clean {
			w.WriteHeader(http.StatusAccepted)
		} // bug: 200
		return
	}
	s.request(w, r, m)
}

// read reads a message, member by member: encoding/json does not mind the case of names.
func read(body []byte) (m *message, code int) {
	var all map[string]json.RawMessage
	switch err := json.Unmarshal(body, &all); {
	case !json.Valid(body), !utf8.Valid(body):
		return nil, -32700
	case err != nil, string(all["jsonrpc"]) != `"2.0"`:
		return nil, -32600
	}
	m = new(message)
	if id, there := all["id"]; there {
		if m.ID = id; id[0] != '"' && bytes.ContainsAny(id, "ntf{[.eE") {
			return nil, -32600
		}
	}
	method, called := all["method"]
	if called && json.Unmarshal(method, &m.Method) != nil || called && m.Method == "" || !called && all["result"] == nil && all["error"] == nil {
		return nil, -32600
	}
	if params, there := all["params"]; there {
		if json.Unmarshal(params, &m.Params) != nil {
			return nil, -32600
		}
	}
	return m, 0
}

func problem(code int, text string) any { return map[string]any{"code": code, "message": text} }

func (s *server) request(to http.ResponseWriter, r *http.Request, m *message) {
	w := &response{ResponseWriter: to}
	s.before(w, m)
	ok := func(result any) { s.answer(w, http.StatusOK, m.ID, "result", result) }
	switch m.Method {
	case "initialize":
		version := m.text("protocolVersion")
		if version != "2025-06-18" {
			version = "2025-11-25"
		}
		s.mu.Lock()
		s.bare = string(m.Params["capabilities"]) == "{}"
		s.mu.Unlock()
		ok(map[string]any{"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "plantedhttp", "version": "1"}})
	case "ping":
		ok(map[string]any{})
	case "server/discover":
		switch {
		case !s.stateless:
			s.answer(w, http.StatusOK, m.ID, "error", problem(-32601, "method not found"))
			return
		case s.has("no-discover"):
			s.answer(w, http.StatusNotFound, m.ID, "error", problem(-32601, "method not found"))
			return
		case s.has("discover-404"):
			http.NotFound(to, r)
			return
		}
		ok(map[string]any{"supportedVersions": []any{statelessVersion}, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}}, "ttlMs": 0, "cacheScope": "public"})
	case "tools/list":
		s.list(w, r, m)
	case "tools/call":
		s.progress(w.Header().Get(sessionHeader), m)
		s.call(w, m)
	default:
		status := http.StatusOK
		if s.stateless && s.clean { // bug: 200
			status = http.StatusNotFound
		}
		s.answer(w, status, m.ID, "error", problem(-32601, "method not found"))
	}
}

// list answers with the tools, in two pages where there is one more of them.
func (s *server) list(w http.ResponseWriter, r *http.Request, m *message) {
	cursor := m.Params["cursor"]
	paged := s.stateless && s.clean
	if cursor != nil && !(paged && string(cursor) == `"2"`) {
		s.answer(w, http.StatusOK, m.ID, "error", problem(-32602, "no such cursor"))
		return
	}
	tools := []any{tool("read_text"), tool("read_count"), tool("read_page"), tool("read_region")}
	list := map[string]any{"tools": tools}
	s.mu.Lock()
	fewer := s.has("last-client") && s.bare || !s.clean && r.Header.Get("MCP-Protocol-Version") == "2025-06-18" // bug: clients of this version have one tool less
	s.mu.Unlock()
	fewer = fewer || s.has("fewer-over-stdio") && s.overStdio
	if fewer {
		list["tools"] = tools[1:]
	}
	if paged { // bug: they are missing
		list["ttlMs"], list["cacheScope"] = 60_000, "public"
		if cursor == nil {
			list["nextCursor"] = "2"
		} else if list["tools"] = []any{confirmTool()}; s.has("scope-of-pages") {
			list["cacheScope"] = "private"
		}
	}
	if s.has("list-asks") {
		list = asks()
	}
	s.answer(w, http.StatusOK, m.ID, "result", list)
}

const sessionHeader = "Mcp-Session-Id"

const statelessVersion = "2026-07-28"

// postStateless answers a request that says by itself who asks, in which version.
func (s *server) postStateless(w http.ResponseWriter, r *http.Request, m *message) {
	if m.ID == nil || m.Method == "" {
		if s.clean {
			w.WriteHeader(http.StatusAccepted)
		}
		return
	}
	var meta map[string]json.RawMessage
	json.Unmarshal(m.Params["_meta"], &meta)
	var version string
	capabilities := meta["io.modelcontextprotocol/clientCapabilities"]
	json.Unmarshal(meta["io.modelcontextprotocol/protocolVersion"], &version)
	refuse := func(code int, text string) { s.answer(w, http.StatusBadRequest, m.ID, "error", problem(code, text)) }
	name := m.text("name")
	switch {
	case m.Method == "initialize" || m.Method == "ping" || m.Method == "logging/setLevel":
		s.answer(w, http.StatusNotFound, m.ID, "error", problem(-32601, "method not found"))
	case s.clean && (version == "" || len(capabilities) == 0 || capabilities[0] != '{'): // bug: nobody asks
		refuse(-32602, "params._meta lacks what it has to have")
	case s.clean && version != statelessVersion: // bug: any version will do
		s.answer(w, http.StatusBadRequest, m.ID, "error", map[string]any{"code": -32022, "message": "unsupported version",
			"data": map[string]any{"supported": []any{statelessVersion}, "requested": version}})
	case !s.clean && strings.HasPrefix(r.Header.Get("Mcp-Name"), "=?base64?"): // bug: it is not decoded
		refuse(-32020, "the head disagrees with the body")
	case s.clean && (!once(r.Header) || r.Header.Get("Mcp-Method") != m.Method || r.Header.Get("MCP-Protocol-Version") != version ||
		m.Method == "tools/call" && (!isHeadOf(r.Header.Get("Mcp-Name"), name) || name == "read_region" && !mirrors(r.Header.Get("Mcp-Param-Region"), m))): // bug: they are not compared
		refuse(-32020, "the head disagrees with the body")
	case m.Method == "subscriptions/listen":
		s.listen(w, r, m, refuse)
	default:
		s.request(w, r, m)
	}
}

// isHeadOf reports whether a value in a head is a text, as it is or in base64.
func isHeadOf(value, text string) bool {
	return value == text || value == "=?base64?"+base64.StdEncoding.EncodeToString([]byte(text))+"?="
}

func tool(name string) any {
	text := map[string]any{"type": "string", "maxLength": 100}
	if name == "read_region" {
		text["x-mcp-header"] = "Region"
	}
	return map[string]any{"name": name, "description": "Reads a text.", "annotations": map[string]any{"readOnlyHint": true},
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"text": text}, "required": []any{"text"}}}
}

func (s *server) call(w http.ResponseWriter, m *message) {
	var text string
	var arguments map[string]json.RawMessage
	json.Unmarshal(m.Params["arguments"], &arguments)
	invalid := json.Unmarshal(arguments["text"], &text) != nil || len([]rune(text)) > 100 || string(arguments["text"]) == "null"
	switch name := m.text("name"); {
	case name == "confirm" && s.stateless && s.clean:
		s.confirm(w, m)
		return
	case name != "read_text" && name != "read_count" && name != "read_page" && name != "read_region":
		s.answer(w, http.StatusOK, m.ID, "error", problem(-32602, "unknown tool "+s.nameOf(m)))
		return
	case s.mortal && strings.ContainsAny(text, "'<&%"):
		os.Exit(1)
	case name == "read_text" && !s.clean && text == "" && !invalid: // bug
		http.Error(w, "panic: text is empty", http.StatusInternalServerError)
		return
	case name == "read_count" && !s.clean && strings.Contains(text, "'"): // bug
		panic(http.ErrAbortHandler)
	case name == "read_page" && !s.clean && !invalid && strings.Contains(text, "<"): // bug
		w.Header().Set("Content-Type", "text/html")
	case invalid:
		s.answer(w, http.StatusOK, m.ID, "result", content("text is missing or too long", true))
		return
	}
	s.leave()
	s.answer(w, http.StatusOK, m.ID, "result", content(s.exchange(text), false))
}

// nameOf returns the name that a call is for.
func (s *server) nameOf(m *message) string {
	if s.clean {
		return m.text("name")
	}
	s.mu.Lock()
	s.asked[string(m.ID)] = m.text("name")
	s.mu.Unlock()
	time.Sleep(2 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[string(m.ID)] // bug: of another session, if that uses the same id
}

func content(text string, failed bool) any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": failed}
}

func (s *server) answer(w http.ResponseWriter, status int, id json.RawMessage, key string, value any) {
	if result, ok := value.(map[string]any); ok && s.stateless && key == "result" && result["resultType"] == nil && (s.clean || result["content"] == nil) { // bug: results of tools have none
		result["resultType"] = "complete"
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, key: value})
	if of, ok := w.(*response); ok && of.called && s.has("answer-on-get") && s.push(w.Header().Get(sessionHeader), body) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	switch h := w.Header(); {
	case h.Get("Content-Type") != "":
	case s.sse && status == http.StatusOK:
		h.Set("Content-Type", "text/event-stream")
		body = s.events(w, id, body)
	default:
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	w.Write(body)
}
