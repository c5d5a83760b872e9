package mcptest

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// ParseTranscript reads a transcript, which in a test is text, a line of it for each of these:
//
//	> LINE         a line that was sent and awaited; >& is not awaited, >| has no newline, >. ends the input
//	< LINE         a line that was received
//	head TEXT      over HTTP, how the head of the next line's request differs; a change ends with a semicolon
//	stateless      the session is one of 2026-07-28
//	mirror TOOL ARGUMENT LINE  over HTTP, the head of a call has a line that repeats the argument
//	answer         over HTTP, a response to the last line that has no message
//	= STATUS TYPE SESSION  the HTTP response to the last line that was sent; the last two may be left out
//	via < TEXT     a line from the server, in the HTTP response to the last line
//	event ID       the last line from the server was a server-sent event with this id
//	2> TEXT        a line on standard error
//	noise TEXT     a line on standard output that is no message
//	fresh          the script has a process of its own
//	check NAME     the script is a systematic check
//	wait DURATION  time goes by
//	starve DURATION  time goes by in which the server has no processor
//	! exit CODE, ! signal NAME, ! killed, ! gone, ! closed, ! hung, ! hung busy, ! deaf, ! deaf inside, ! deaf outside, ! deaf busy, ! refuses, ! flood
//	growth WHAT SIZE:VALUE[:PROCESSES OR MICROSECONDS]...
//	«text*N» in a line stands for N times the text.
func ParseTranscript(t testing.TB, session *session.Session, text string) *script.Transcript {
	t.Helper()
	b := transcriptBuilder{t: t, tr: &script.Transcript{Script: &script.Script{Start: script.Shared}, Session: session}}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimSpace(line) != "" && line[0] != '#' {
			b.line(expandRepeats(line))
		}
	}
	b.finish()
	return b.tr
}

type transcriptBuilder struct {
	t     testing.TB
	tr    *script.Transcript
	now   time.Duration
	ready bool

	head    string        // of the next line
	starved time.Duration // since the last line from the server
}

func (b *transcriptBuilder) line(line string) {
	t := b.tr
	b.now += time.Millisecond
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case ">", ">&", ">|", ">.":
		b.sent(word, rest)
	case "<":
		b.received([]byte(rest))
	case "via": // what follows came in the response to the last line
		b.line(rest)
		t.Received[len(t.Received)-1].Via = len(t.Sent)
	case "event":
		b.event(rest)
	case "2>":
		t.Stderr = append(t.Stderr, rest+"\n"...)
	case "head":
		b.head = strings.ReplaceAll(strings.TrimSuffix(rest, ";"), "; ", "\n")
	case "stateless":
		s := *t.Session
		s.Stateless, s.Version = true, session.StatelessVersion
		t.Session = &s
	case "mirror":
		words := strings.Fields(rest)
		s := *t.Session
		s.Mirrors = map[string][]session.Mirror{words[0]: {{Path: words[1:2], Head: words[2]}}}
		t.Session = &s
	case "answer": // that has no message
		t.Received = append(t.Received, script.Received{Sent: len(t.Sent) - 1, At: b.now})
		t.Sent[len(t.Sent)-1].Answer = len(t.Received) - 1
	case "=":
		b.response(strings.Fields(rest))
	case "noise":
		b.tr.AddNoise([]byte(unquoteTest(rest)))
	case "asked": // a step for what the server does not ask
		method, text, _ := strings.Cut(rest, " = ")
		t.Script.Steps = append(t.Script.Steps, script.Step{Asked: method, Line: []byte(text)})
	case "fresh":
		t.Script.Start = script.Fresh
	case "check":
		t.Script.Check = rest
	case "wait", "starve":
		d, err := time.ParseDuration(rest)
		if err != nil {
			b.t.Fatal(err)
		}
		if b.now += d; word == "starve" {
			b.starved += d
		}
	case "!":
		b.end(rest)
	case "growth":
		b.growth(rest)
	default:
		b.t.Fatalf("line %q of a transcript begins with nothing known", line)
	}
}

// event gives the last line received, and the response that it came in, the id of an event.
func (b *transcriptBuilder) event(id string) {
	r := &b.tr.Received[len(b.tr.Received)-1]
	if r.EventID = id; r.Via == 0 {
		r.Via = len(b.tr.Sent)
	}
	if s := &b.tr.Sent[r.Via-1]; s.EventID == "" {
		s.EventID = id
	}
}

var plainID = regexp.MustCompile(`"id": ?([1-9][0-9]{0,8})([,}])`)

func (b *transcriptBuilder) sent(mark, line string) {
	t := b.tr
	line = unquoteTest(line)
	m := jsonrpc.Parse([]byte(line))
	step := script.Step{Line: plainID.ReplaceAll([]byte(line), []byte(`"id":"@id"$2`)), NoWait: mark == ">&", NoNewline: mark == ">|", Close: mark == ">.", Head: b.head}
	b.head = ""
	t.Script.Steps = append(t.Script.Steps, step)
	_, regular := script.PlanLine(&step, &m)
	if m.Class == jsonrpc.ClassRequest {
		_, ours := jsonrpc.IntegerID(m.ID)
		s := step
		parsed := jsonrpc.Parse(step.Line)
		_, regular = script.PlanLine(&s, &parsed)
		regular = regular && ours && (t.Script.Start == script.Shared || b.ready || m.Method == "initialize" || m.Method == "ping")
	}
	t.Sent = append(t.Sent, script.Sent{
		Step: len(t.Script.Steps) - 1, Raw: []byte(line), Message: m, Regular: regular && m.Class == jsonrpc.ClassRequest, Answer: -1, At: b.now, Logged: len(t.Stderr),
	})
	switch m.Method {
	case "notifications/initialized":
		b.ready = true
	}
	for i := range t.Sent {
		for _, id := range m.Withdrawn() {
			if s := &t.Sent[i]; s.Answer < 0 && s.Message.Root.Get("id").Equal(id) {
				s.Regular, s.Withdrawn = false, true
			}
		}
	}
}

func (b *transcriptBuilder) received(line []byte) {
	t := b.tr
	line = []byte(unquoteTest(string(line)))
	m := jsonrpc.Parse(line)
	if id, ok := jsonrpc.SalvageID(line); ok && m.Root == nil { // as an executor takes it
		m.ID = strconv.FormatInt(id, 10)
	}
	r := script.Received{Raw: line, Message: m, Sent: -1, At: b.now, Starved: b.starved}
	b.starved = 0
	if m.Class == jsonrpc.ClassResponse || m.Class == jsonrpc.ClassInvalid && m.ID != "" {
		if m.ID == "" {
			b.t.Fatal("a response without an id")
		}
		r.Sent, r.Loose = t.Answers(m.ID)
	}
	t.Received = append(t.Received, r)
	if r.Sent >= 0 && t.Sent[r.Sent].Answer < 0 {
		t.Sent[r.Sent].Answer = len(t.Received) - 1
	}
}

func (b *transcriptBuilder) response(words []string) {
	t := b.tr
	if !t.Session.HTTP {
		s := *t.Session
		s.HTTP, s.HasID = true, true
		t.Session = &s
	}
	s := &t.Sent[len(t.Sent)-1]
	s.Header = http.Header{}
	for i, name := range []string{"", "Content-Type", "Mcp-Session-Id"} {
		switch {
		case i >= len(words):
		case i == 0:
			s.Status, _ = strconv.Atoi(words[i])
		default:
			s.Header.Set(name, words[i])
		}
	}
}

func (b *transcriptBuilder) end(what string) {
	t := b.tr
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "exit":
		code, err := strconv.Atoi(rest)
		if err != nil {
			b.t.Fatal(err)
		}
		t.End = script.End{Kind: script.EndExited, Code: code, Stderr: t.Stderr}
	case "signal":
		t.End = script.End{Kind: script.EndSignalled, Signal: rest, Stderr: t.Stderr}
	case "gone":
		t.End.Kind = script.EndGone
	case "killed":
		t.End.Kind = script.EndKilled
	case "closed":
		t.End.Closed = true
	case "hung":
		t.Hung, t.Busy = true, rest == "busy"
	case "refuses":
		t.End.Kind, t.Refuses = script.EndKilled, "did not answer initialize: HTTP status 500 Internal Server Error"
	case "deaf":
		t.Unresponsive, t.Idle = true, true
		switch rest {
		case "inside":
			t.Waits = script.WaitsInside
		case "outside":
			t.Waits = script.WaitsOutside
		case "busy":
			t.Idle, t.Busy = false, true
		case "child":
			t.Idle, t.Busy, t.Waits = false, true, script.WaitsOutside
		}
		t.End.Kind = script.EndKilled
	case "flood":
		t.Flood = true
	default:
		b.t.Fatalf("no end is called %q", what)
	}
}

func (b *transcriptBuilder) growth(text string) {
	words := strings.Fields(text)
	g := &script.Growth{What: words[0]}
	for _, w := range words[1:] {
		var size, value, beside float64
		switch n, err := fmt.Sscanf(w, "%g:%g:%g", &size, &value, &beside); {
		case n < 2:
			b.t.Fatalf("%s: %v", w, err)
		case n == 3 && g.What == "memory":
			g.Used = append(g.Used, beside)
		case n == 3:
			g.Processes = append(g.Processes, beside)
		}
		g.Sizes, g.Values = append(g.Sizes, size), append(g.Values, value)
	}
	b.tr.Growth = g
}

func (b *transcriptBuilder) finish() {
	t := b.tr
	if n := len(t.Script.Steps); n > 0 && t.Script.Steps[n-1].Close {
		t.End.EOF = true
	}
}

var repeated = regexp.MustCompile(`«([^*»]+)\*(\d+)»`)

func expandRepeats(line string) string {
	return repeated.ReplaceAllStringFunc(line, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
}

var testByte = regexp.MustCompile(`⟨([0-9a-f]{2})⟩`)

// unquoteTest puts bytes where a test has them as ⟨hex⟩.
func unquoteTest(s string) string {
	return testByte.ReplaceAllStringFunc(s, func(s string) string {
		n, _ := strconv.ParseUint(testByte.FindStringSubmatch(s)[1], 16, 8)
		return string([]byte{byte(n)})
	})
}
