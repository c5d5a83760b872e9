// Command obedient is an MCP server over stdio whose tools misbehave when they are called, each in the way of its name, so that a
// test can say when, and how often; some do so only after others were called. Its arguments are the tools that it lists and serves; without any it lists all. What a test
// has to wait for can be observed: a call of hold is answered when release is called, and not by the clock.
//
// It ends after ten minutes at the latest.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	time.AfterFunc(lifetime, func() { os.Exit(4) })
	s := &server{held: map[string][]json.RawMessage{}}
	for _, t := range append(tools(), stateTools()...) {
		if len(os.Args) < 2 || slices.Contains(os.Args[1:], t.name) {
			s.tools = append(s.tools, t)
		}
	}
	s.serve()
}

// lifetime is how long the process may last that nobody stops.
const lifetime = 10 * time.Minute

// A tool does what its description says. What call returns is the text of the answer; later says that it answers by itself, or never.
type tool struct {
	name, description string
	schema            string // of the arguments; "": those that any tool may have
	call              func(s *server, id json.RawMessage, a arguments) (text string, later bool)
}

// arguments are those of all tools.
type arguments struct {
	Text string `json:"text"`
	Key  string `json:"key"`
	MS   int    `json:"ms"`

	Button string `json:"button"`
	Kind   string `json:"kind"`
}

type server struct {
	tools []tool
	mu    sync.Mutex
	held  map[string][]json.RawMessage // ids of calls, by key
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string    `json:"protocolVersion"`
		Name            string    `json:"name"`
		Arguments       arguments `json:"arguments"`
	} `json:"params"`
}

func (s *server) serve() {
	r := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			s.line(line)
		}
		if err != nil {
			return
		}
	}
}

func (s *server) line(line []byte) {
	var m struct {
		request
		Params json.RawMessage `json:"params"`
	}
	if !json.Valid(line) {
		s.refuse(nil, -32700, "parse error")
		return
	}
	if json.Unmarshal(line, &m) != nil {
		s.refuse(nil, -32600, "invalid request")
		return
	}
	if m.ID == nil || m.Method == "" {
		return
	}
	if string(m.ID) == "null" || strings.ContainsAny(string(m.ID[:1]), "{[tf") {
		s.refuse(nil, -32600, "an id is a string or a number")
		return
	}
	if m.Params != nil && json.Unmarshal(m.Params, &m.request.Params) != nil {
		s.refuse(m.ID, -32602, "invalid parameters")
		return
	}
	s.request(&m.request)
}

func (s *server) request(m *request) {
	switch m.Method {
	case "initialize":
		version := "2025-11-25"
		if slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18"}, m.Params.ProtocolVersion) {
			version = m.Params.ProtocolVersion
		}
		s.answer(m.ID, map[string]any{"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "obedient", "version": "1"}})
	case "ping":
		s.answer(m.ID, map[string]any{})
	case "tools/list":
		list := []any{}
		for _, t := range s.tools {
			list = append(list, map[string]any{"name": t.name, "description": t.description, "annotations": map[string]any{"readOnlyHint": true},
				"inputSchema": json.RawMessage(cmp.Or(t.schema, `{"type":"object","properties":{"text":{"type":"string"},"key":{"type":"string"},"ms":{"type":"integer"}}}`))})
		}
		s.answer(m.ID, map[string]any{"tools": list})
	case "tools/call":
		i := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == m.Params.Name })
		if i < 0 {
			s.refuse(m.ID, -32602, "unknown tool")
			return
		}
		if text, later := s.tools[i].call(s, m.ID, m.Params.Arguments); !later {
			s.say(m.ID, text)
		}
	default:
		s.refuse(m.ID, -32601, "method not found")
	}
}

// say answers a call with a text.
func (s *server) say(id json.RawMessage, text string) {
	s.answer(id, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

// sayLater answers a call after some milliseconds; 0, and what is no sensible time: 200.
func (s *server) sayLater(id json.RawMessage, ms int, text string) {
	if ms <= 0 || ms > 1000 {
		ms = 200
	}
	time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { s.say(id, text) })
}

func (s *server) answer(id json.RawMessage, result any) {
	s.put(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s *server) refuse(id json.RawMessage, code int, message string) {
	s.put(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
}

// put writes a message. A client that is gone is no concern of ours.
func (s *server) put(message map[string]any) {
	line, err := json.Marshal(message)
	if err != nil {
		fmt.Fprintln(os.Stderr, "obedient:", err)
		os.Exit(3)
	}
	s.write(string(line))
}

func (s *server) write(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(os.Stdout, line+"\n")
}
