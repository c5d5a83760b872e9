// Command asking is an MCP server over standard input and output whose tools ask the client, or run as tasks, with a planted bug for each way
// in which that goes wrong. With -clean it has none, and with -bug that one only.
//
//	asking [-clean] [-stateless] [-bug none|no-acknowledgment|early|other-id|no-discover]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"unicode/utf8"
)

type object = map[string]any

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

type server struct {
	clean     bool
	stateless bool
	bug       string // of the version without a handshake, the only one; "": there are all others, or with clean none; "none"
	opened    bool   // initialize was answered
	bare      bool   // the client has no capabilities
	logs      bool   // some request has asked for log messages

	mu      sync.Mutex // of what is written, and of what follows
	asked   int
	waiting map[string]*question // by id
	running map[string]string    // the question of a request, by the request's id
	tasks   map[string]*task

	table sync.Mutex
}

// question is a request to the client that has no answer.
type question struct {
	answer    chan message
	answered  bool
	cancelled bool
}

func main() {
	s := &server{waiting: map[string]*question{}, running: map[string]string{}, tasks: map[string]*task{}}
	flag.BoolVar(&s.clean, "clean", false, "have no bug")
	flag.BoolVar(&s.stateless, "stateless", false, "speak 2026-07-28, in which results ask for input")
	flag.StringVar(&s.bug, "bug", "", "have only this bug of the version without a handshake, or none: no-acknowledgment, early, other-id, no-discover")
	flag.Parse()
	s.clean = s.clean || s.bug != ""
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, valid := read(line)
		var id any
		json.Unmarshal(m.ID, &id)
		_, isText := id.(string)
		_, isNumber := id.(float64)
		switch {
		case !json.Valid(line) || !utf8.Valid(line):
			s.fail(nil, -32700, "Parse error")
		case !valid && (isText || isNumber):
			s.fail(m.ID, -32600, "Invalid request")
		case !valid && m.ID == nil && m.Result == nil && m.Error == nil: // perhaps a notification
		case !valid:
			s.fail(nil, -32600, "Invalid request")
		case m.Method == "" && (len(m.Result) > 0 || len(m.Error) > 0):
			s.answered(m)
		case len(m.ID) == 0:
			s.notified(m)
		case !isText && !isNumber:
			s.fail(nil, -32600, "Invalid request")
		default:
			s.request(m)
		}
	}
}

// read reads a message, whose names are taken as they are, and reports whether it is one.
func read(line []byte) (m message, valid bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil || members == nil {
		return m, false
	}
	valid = string(members["jsonrpc"]) == `"2.0"`
	m = message{ID: members["id"], Params: members["params"], Result: members["result"], Error: members["error"]}
	if method, ok := members["method"]; ok {
		valid = valid && json.Unmarshal(method, &m.Method) == nil && m.Method != "" && string(method) != "null"
	} else {
		valid = valid && (m.Result != nil || m.Error != nil)
	}
	return m, valid
}

func (s *server) write(v object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(v)
}

func (s *server) writeLocked(v object) {
	v["jsonrpc"] = "2.0"
	line, _ := json.Marshal(v)
	os.Stdout.Write(append(line, '\n'))
}

func (s *server) fail(id json.RawMessage, code int, text string) {
	s.write(object{"id": id, "error": object{"code": code, "message": text}})
}

func (s *server) succeed(id json.RawMessage, result object) {
	if s.stateless {
		if _, ok := result["resultType"]; !ok {
			result["resultType"] = "complete"
		}
	}
	s.write(object{"id": id, "result": result})
}

func textResult(text string) object {
	return object{"content": []object{{"type": "text", "text": text}}}
}

func refusal(text string) object {
	r := textResult(text)
	r["isError"] = true
	return r
}

// ask asks the client and waits for the answer.
func (s *server) ask(request json.RawMessage, method string, params object) (message, bool) {
	s.mu.Lock()
	s.asked++
	id := fmt.Sprintf("%d", s.asked)
	q := &question{answer: make(chan message, 1)}
	s.waiting[id], s.running[string(request)] = q, id
	s.writeLocked(object{"id": s.asked, "method": method, "params": params})
	s.mu.Unlock()
	m, ok := <-q.answer
	return m, ok
}

// answered gives an answer to who waits for it.
func (s *server) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.waiting[string(m.ID)]
	switch {
	case q == nil:
		return
	case q.cancelled:
		if !s.clean { // bug: what was cancelled has nobody who waits
			var gone *question
			gone.answered = true
		}
		return
	case q.answered:
		if !s.clean { // bug: answered twice
			close(q.answer)
		}
		return
	}
	q.answered = true
	q.answer <- m
	if s.clean {
		delete(s.waiting, string(m.ID))
	}
	close(q.answer)
}

func (s *server) notified(m message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	var p struct{ RequestID json.RawMessage }
	json.Unmarshal(m.Params, &p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.waiting[s.running[string(p.RequestID)]]; q != nil && !q.answered && !q.cancelled {
		q.cancelled = true
		close(q.answer)
	}
}
