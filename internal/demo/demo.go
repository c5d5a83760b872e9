// Package demo is a small MCP server for notes with five bugs in it, for a first look at what fuzzing finds. They are
// marked BUG. It speaks version 2025-11-25 of the Model Context Protocol, a message a line.
package demo

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // for tools.json
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strconv"
	"unicode/utf8"
)

// Serve answers the requests that it reads from in until in ends, which is no error, or ctx is done; it looks at ctx
// between two messages. Replies go to out, a word of greeting to errw. It panics where a bug makes it, so give it a
// process of its own. It keeps no state beyond the call, so several may run at once.
func Serve(ctx context.Context, in io.Reader, out, errw io.Writer) error {
	fmt.Fprintln(errw, "demo: the notes are ready")
	s, r := &session{notebooks: map[string]*[]string{}}, bufio.NewReader(in)
	for ctx.Err() == nil {
		line, end := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if _, err := out.Write(s.message(line)); err != nil {
				return fmt.Errorf("writing a reply: %w", err)
			}
		}
		if end == io.EOF {
			return nil
		} else if end != nil {
			return fmt.Errorf("reading a message: %w", end)
		}
	}
	return ctx.Err()
}

type session struct {
	greeted, ready bool
	notes          []string
	notebooks      map[string]*[]string // by handle; nil for one that was closed
}

// list is what tools/list answers.
//
//go:embed tools.json
var list []byte

// tools are the functions of the tools and the arguments that they need.
var tools = map[string]struct {
	run   func(s *session, a object) any
	needs []string
}{
	"add_note":       {addNote, []string{"text", "priority"}},
	"note_stats":     {noteStats, nil},
	"parse_date":     {parseDate, []string{"date"}},
	"open_notebook":  {openNotebook, nil},
	"write_page":     {writePage, []string{"handle", "text"}},
	"close_notebook": {closeNotebook, []string{"handle"}},
}

func addNote(s *session, a object) any {
	text, _ := a.text("text")
	priority, _ := a.integer("priority")
	stars := []string{"", "*", "**", "***", "****", "*****", "******", "*******", "********", "*********"}
	note := stars[priority] + " " + text // BUG: the highest priority, 10, has no stars.
	s.notes = append(s.notes[max(0, len(s.notes)-99):], note)
	return said("noted: "+note, false)
}

func noteStats(s *session, _ object) any {
	var latest any
	if n := len(s.notes); n > 0 {
		latest = s.notes[n-1]
	}
	return structured(map[string]any{"count": len(s.notes), "latest": latest}) // BUG: without a note latest is null.
}

func parseDate(_ *session, a object) (answer any) {
	defer func() {
		if r := recover(); r != nil {
			answer = said(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()), true) // BUG: the client sees the server's stack.
		}
	}()
	date, _ := a.text("date")
	return said("year "+date[0:4]+", month "+date[5:7]+", day "+date[8:10], false)
}

func openNotebook(s *session, _ object) any {
	number := int64(min(len(s.notebooks)+1, 100)) * 2654435761 // The last of a hundred is used again.
	handle := "notebook-" + strconv.FormatInt(number%(1<<32), 36)
	s.notebooks[handle] = &[]string{}
	return structured(map[string]any{"handle": handle})
}

func writePage(s *session, a object) any {
	handle, _ := a.text("handle")
	pages, known := s.notebooks[handle]
	if !known {
		return said("there is no such notebook", true)
	}
	text, _ := a.text("text")
	*pages = append((*pages)[max(0, len(*pages)-99):], text) // BUG: a closed notebook has no pages.
	return said(fmt.Sprintf("page %d is written", len(*pages)), false)
}

func closeNotebook(s *session, a object) any {
	handle, _ := a.text("handle")
	if s.notebooks[handle] == nil {
		return said("there is no open notebook of that handle", true)
	}
	s.notebooks[handle] = nil
	return said("closed", false)
}

func said(text string, isError bool) map[string]any {
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": isError}
}

func structured(v map[string]any) map[string]any {
	text, _ := json.Marshal(v) // strings and numbers, which cannot fail
	answer := said(string(text), false)
	answer["structuredContent"] = v
	return answer
}

// object is a JSON object that was read; the names of its members count exactly.
type object map[string]json.RawMessage

func (o object) text(name string) (s string, ok bool) {
	return s, o[name] != nil && o[name][0] == '"' && json.Unmarshal(o[name], &s) == nil
}

func (o object) object(name string) (m object, ok bool) {
	return m, o[name] != nil && o[name][0] == '{' && json.Unmarshal(o[name], &m) == nil
}

func (o object) integer(name string) (n int, ok bool) {
	f, err := strconv.ParseFloat(string(o[name]), 64)
	return int(min(max(f, math.MinInt32), math.MaxInt32)), err == nil && f == math.Trunc(f)
}

// fault is an error of the protocol, to be answered instead of a result.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// message returns the reply to a line; nothing for a notification and for a reply of the client.
func (s *session) message(line []byte) []byte {
	var m object
	_ = json.Unmarshal(line, &m) // It leaves m empty if the line is no object.
	_, isInteger := m.integer("id")
	_, isText := m.text("id")
	method, named := m.text("method")
	version, _ := m.text("jsonrpc")
	params, isObject := m.object("params")
	switch {
	case !utf8.Valid(line) || !json.Valid(line):
		return reply(nil, fault{-32700, "the line is not JSON"})
	case line[0] != '{':
		return reply(nil, fault{-32600, "a message is an object"})
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil):
		return nil
	case named && m["id"] == nil:
		s.ready = s.ready || s.greeted && method == "notifications/initialized"
		return nil
	case !isInteger && !isText:
		return reply(nil, fault{-32600, "id must be a string or an integer"})
	case !named || version != "2.0":
		return reply(m["id"], fault{-32600, "no request of JSON-RPC 2.0"})
	case m["params"] != nil && !isObject:
		return reply(m["id"], fault{-32602, "params must be an object"})
	}
	return reply(m["id"], s.serve(method, params))
}

func reply(id json.RawMessage, answer any) []byte {
	member := "result"
	if _, bad := answer.(fault); bad {
		member = "error"
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // or the id would change
	if err := e.Encode(map[string]any{"jsonrpc": "2.0", "id": id, member: answer}); err != nil {
		panic(err) // Nothing that is put in can fail.
	}
	return line.Bytes()
}

func (s *session) serve(method string, params object) any {
	switch {
	case method == "ping":
		return object{}
	case method == "initialize" && s.greeted:
		return fault{-32600, "the session is initialized already"}
	case method == "initialize":
		return s.initialize(params)
	case method != "tools/list" && method != "tools/call":
		return fault{-32601, "there is no such method"}
	case !s.ready:
		return fault{-32600, "the session is not initialized"}
	case method == "tools/call":
		return s.call(params)
	case params["cursor"] != nil:
		return fault{-32602, "there is only one page"}
	}
	return json.RawMessage(list)
}

func (s *session) initialize(params object) any {
	_, version := params.text("protocolVersion")
	_, capabilities := params.object("capabilities")
	_, client := params.object("clientInfo")
	if !version || !capabilities || !client {
		return fault{-32602, "protocolVersion, capabilities and clientInfo are needed"}
	}
	s.greeted = true
	return json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"teasel-demo","version":"1.0.0"}}`)
}

// call checks a call's arguments and runs its tool.
func (s *session) call(params object) any {
	name, named := params.text("name")
	given, isObject := params.object("arguments")
	if !named || params["arguments"] != nil && !isObject {
		return fault{-32602, "a call needs a name, and arguments in an object"}
	}
	t, known := tools[name]
	if !known {
		return fault{-32603, "there is no such tool"} // BUG: bad params have the code -32602.
	}
	ok, longest := len(given) == len(t.needs), map[string]int{"text": 200, "handle": 40, "date": 40}
	for _, need := range t.needs {
		text, isText := given.text(need)
		number, isInteger := given.integer(need)
		if limit, ofText := longest[need]; ofText {
			ok = ok && isText && utf8.RuneCountInString(text) <= limit
		} else {
			ok = ok && isInteger && number >= 1 && number <= 10
		}
	}
	if !ok {
		return said("the arguments do not fit the schema", true)
	}
	return t.run(s, given)
}
