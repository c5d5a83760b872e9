// Command keeping is an MCP server that keeps notes, in one of the ways that its argument names. Without an argument it lists them. Those
// that begin with "clean" are right.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

var modes = []struct{ name, about string }{
	{"brittle", "a note with a line break spoils the store, and every tool is refused from then on"},
	{"locked", "a refused call never releases its lock, and the same tool is refused from then on"},
	{"fragile", "a tool that only reads breaks the store"},
	{"spoiled", "a style that is refused is kept all the same, and the notes cannot be listed from then on"},
	{"lossy", "of two notes that are added at once one is lost"},
	{"half-done", "a note with a slash is refused and leaves a transaction open, and other notes are refused from then on"},
	{"mixed", "the answer to a note has the one that came last"},
	{"together", "two calls at once end the process"},
	{"growing", "each note is read and written again with each call, in a file of its home"},
	{"growing-elsewhere", "the same, in the directory that the second argument names"},
	{"leaking", "each call keeps 200 kB, in a program of 120 MB"},
	{"late-death", "a call is answered, and ends the process ten milliseconds later"},
	{"slower", "each call goes through all those before it"},
	{"clean", "none of these"},
	{"clean-session", "after logout everything is refused but login"},
	{"clean-echo", "the answer to a note has it"},
	{"clean-full", "a store of a hundred notes is full"},
	{"clean-window", "only the last eight notes are shown"},
	{"clean-style", "a style that is refused is not kept"},
	{"clean-limited", "the rate of calls is limited"},
	{"clean-cache", "what calls keep is a cache that fills up"},
	{"clean-slow", "each call takes as long as the first"},
	{"clean-box", "every fifth note finds the box full, and empties it"},
}

type object = map[string]any

// server keeps notes.
type server struct {
	mode   string
	out    sync.Mutex
	mu     sync.Mutex
	notes  []string
	broken bool
	locked bool
	open   bool   // a transaction is
	last   string // note that was added
	style  string // of the list of notes
	away   bool   // logged out
	calls  int
	inside int
	kept   [][]byte // of past calls, and what the program takes from the start
}

func main() {
	if len(os.Args) < 2 {
		for _, m := range modes {
			fmt.Printf("%s\t%s\n", m.name, m.about)
		}
		return
	}
	s := &server{mode: os.Args[1], style: "plain"}
	if s.mode == "leaking" {
		s.kept = append(s.kept, block(120<<20))
	}
	in := bufio.NewReader(os.Stdin)
	var calls sync.WaitGroup
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		if m.Method != "tools/call" {
			s.answer(m.ID, s.plain(m.Method))
			continue
		}
		var call struct {
			Name      string
			Arguments object
		}
		if json.Unmarshal(m.Params, &call) != nil {
			s.answer(m.ID, refusal("bad parameters"))
			continue
		}
		calls.Go(func() { s.answer(m.ID, s.call(call.Name, call.Arguments)) })
	}
	calls.Wait()
}

func (s *server) answer(id json.RawMessage, result object) {
	s.out.Lock()
	defer s.out.Unlock()
	reply := object{"jsonrpc": "2.0", "id": id, "result": result}
	if result == nil {
		reply = object{"jsonrpc": "2.0", "id": id, "error": object{"code": -32601, "message": "method not found"}}
	}
	b, _ := json.Marshal(reply)
	os.Stdout.Write(append(b, '\n'))
}

func (s *server) plain(method string) object {
	switch method {
	case "initialize":
		return object{"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "keeping", "version": "1"}}
	case "ping":
		return object{}
	case "tools/list":
		text := func(name string) object {
			return object{"type": "object", "properties": object{name: object{"type": "string"}}, "required": []string{name}}
		}
		tools := []object{
			{"name": "add_note", "description": "Adds a note.", "inputSchema": text("note")},
			{"name": "list_notes", "description": "Lists the notes.", "annotations": object{"readOnlyHint": true}, "inputSchema": object{"type": "object"}},
			{"name": "count_words", "description": "Counts the words of a text.", "annotations": object{"readOnlyHint": true}, "inputSchema": text("text")},
		}
		if s.mode == "spoiled" || s.mode == "clean-style" {
			tools = append(tools, object{"name": "choose_style", "description": "Chooses how notes are listed.", "inputSchema": text("style")})
		}
		if s.mode == "clean-session" {
			for _, name := range []string{"login", "logout"} {
				tools = append(tools, object{"name": name, "annotations": object{"destructiveHint": false}, "inputSchema": object{"type": "object"}})
			}
		}
		return object{"tools": tools}
	}
	return nil
}

func refusal(why string) object {
	r := said(why)
	r["isError"] = true
	return r
}

func said(text string) object { return object{"content": []object{{"type": "text", "text": text}}} }

func (s *server) call(name string, arguments object) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.weigh()
	switch {
	case s.mode == "clean-session" && name == "login", s.mode == "clean-session" && name == "logout":
		s.away = name == "logout"
		return said("done")
	case s.away:
		return refusal("not logged in")
	case s.broken:
		return refusal("the store cannot be read")
	case s.mode == "clean-limited" && s.calls > 40:
		return refusal("too many calls, try again later")
	}
	switch name {
	case "add_note":
		return s.add(arguments["note"])
	case "choose_style":
		style, _ := arguments["style"].(string)
		valid := style == "plain" || style == "bold"
		if valid || s.mode == "spoiled" {
			s.style = style
		}
		if !valid {
			return refusal("no such style")
		}
		return said("done")
	case "list_notes":
		if s.style != "plain" && s.style != "bold" {
			return refusal("cannot list notes in the style " + s.style)
		}
		shown := s.notes
		if s.mode == "clean-window" {
			shown = shown[max(0, len(shown)-8):]
		}
		return said(strings.Join(shown, "\n") + "\n")
	case "count_words":
		text, ok := arguments["text"].(string)
		if !ok {
			return refusal("text must be a string")
		}
		s.broken = s.mode == "fragile" && strings.Contains(text, "/")
		if s.mode == "late-death" && strings.Contains(text, "/") {
			time.AfterFunc(10*time.Millisecond, func() { os.Exit(7) })
		}
		return said(fmt.Sprint(len(strings.Fields(text))))
	}
	return refusal("no such tool")
}

// weigh takes the memory and the time that a call takes beside what it does.
func (s *server) weigh() {
	const cached = 300 // of 200 kB each
	switch {
	case s.mode == "leaking", s.mode == "clean-cache" && len(s.kept) < cached:
		s.kept = append(s.kept, block(200_000))
	case s.mode == "slower":
		compute(s.calls)
	case s.mode == "clean-slow":
		compute(512)
	}
}

// compute takes some 5 µs for each of n.
func compute(n int) (sum int) {
	for i := range n * 10_000 {
		sum ^= sum<<1 + i
	}
	return sum
}

// block returns so much memory that is written to, or it would not count.
func block(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < size; i += 1024 {
		b[i] = 1
	}
	return b
}

// add adds a note; what it reads, it writes back a moment later.
func (s *server) add(note any) object {
	if s.locked {
		return refusal("the store is busy")
	}
	text, ok := note.(string)
	if !ok {
		s.locked = s.mode == "locked"
		return refusal("note must be a string")
	}
	if s.mode == "half-done" && s.open {
		return refusal("a transaction is open already")
	}
	if s.mode == "half-done" && strings.Contains(text, "/") {
		s.open = true
		return refusal("bad note")
	}
	if s.mode == "clean-full" && len(s.notes) >= 100 {
		return refusal("the store is full")
	}
	if s.mode == "clean-box" && len(s.notes) == 4 {
		s.notes = nil
		return refusal("the box was full")
	}
	if strings.HasPrefix(s.mode, "growing") {
		return s.grow(text)
	}
	read := slices.Clone(s.notes)
	if s.mode == "mixed" || s.mode == "clean-echo" {
		s.notes, s.last = append(read, text), text
		s.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		s.mu.Lock()
		if s.mode == "mixed" {
			text = s.last
		}
		return said("added " + text)
	}
	if s.mode == "lossy" || s.mode == "together" {
		if s.inside++; s.mode == "together" && s.inside > 1 {
			panic("two calls at once")
		}
		s.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		s.mu.Lock()
		s.inside--
	}
	s.notes = append(read, text)
	s.broken = s.mode == "brittle" && strings.Contains(text, "\n")
	return said("added")
}

// grow adds a note to a file that is read and written whole, some times over, as indexes do.
func (s *server) grow(text string) object {
	dir := os.Getenv("HOME")
	if s.mode == "growing-elsewhere" {
		dir = os.Args[2]
	}
	file, all := filepath.Join(dir, "notes.json"), []string{}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !os.IsNotExist(err) {
		return refusal(err.Error())
	}
	all = append(all, text+strings.Repeat("x", 100))
	for range 4 {
		b, _ = json.Marshal(all)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return refusal(err.Error())
	}
	return said("added")
}
