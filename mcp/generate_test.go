package mcp

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestGenerateSaysEverything(t *testing.T) {
	computes(t)
	s := recordedSession(t, "everything")
	m := NewMutator(MutatorConfig{Session: s})
	r := rand.New(rand.NewPCG(1, 2))
	subjects, checked := make(map[string]int), make(map[string]int)
	var lines bytes.Buffer
	for range 20_000 {
		in := m.Generate(r)
		wellFormed(t, &in)
		checked[in.Check]++
		for i := range in.Steps {
			if len(in.Steps[i].Line) < 4096 {
				msg := ParseMessage(in.Steps[i].Line)
				subjects[Subject(s, &msg)]++
				lines.Write(in.Steps[i].Line)
				lines.WriteByte('\n')
			}
		}
	}
	for i := range s.Tools {
		if n := subjects["tools/call "+s.Tools[i].Name]; n < 100 {
			t.Errorf("%s is called %d times", s.Tools[i].Name, n)
		}
	}
	for _, method := range append(append([]string{}, methods...), notifications...) {
		if method != "tools/call" && method != "prompts/get" && subjects[method] < 5 {
			t.Errorf("%s is said %d times", method, subjects[method])
		}
	}
	for _, subject := range []string{"(unknown method)", "(unknown notification)", "tools/call (unknown tool)", "prompts/get (unknown prompt)", "prompts/get args-prompt", "(response)"} {
		if subjects[subject] == 0 {
			t.Errorf("%s is never said", subject)
		}
	}
	for _, c := range checks {
		if !c.expensive && checked[c.label] == 0 && c.label != CheckUndeclared {
			t.Errorf("check %s is never made", c.label)
		}
	}
	for _, want := range []string{
		`"progressToken":"@id"`, `"cursor":"@\{\d+:/nextCursor\}"`, `"requestId":"@id:\d+"`, `demo://resource/dynamic/text/\d`, `demo://resource/dynamic/[^"]*%2f`,
		regexp.QuoteMeta(canaryPath), regexp.QuoteMeta(canaryRelative), regexp.QuoteMeta(canaryURI), regexp.QuoteMeta(canaryDir), `"ref":\{"type":"ref/prompt","name":"completable-prompt"`, `"level":"debug"`,
		`"type":"ref/resource","uri":"demo://resource/dynamic/text/\{resourceId\}"`, `"uri":"demo://resource/static/document/features.md"`,
	} {
		if !regexp.MustCompile(want).Match(lines.Bytes()) {
			t.Errorf("nothing like %s is ever said", want)
		}
	}
}

func TestGenerateChains(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: parseSession(t, handles)})
	r := rand.New(rand.NewPCG(1, 2))
	after := 0
	for range 5000 {
		in := m.Generate(r)
		closed := false
		for i := range in.Steps {
			line := string(in.Steps[i].Line)
			captures := strings.Contains(line, `"handle":"@{0:`)
			if closed && captures && strings.Contains(line, "append_log") {
				after++
				break
			}
			closed = closed || captures && strings.Contains(line, "close_log")
		}
	}
	if after < 50 {
		t.Errorf("a handle is used after it was closed in %d of 5,000 scripts", after)
	}
}

// Without tools, resources and prompts there still is a protocol.
func TestGenerateForAnEmptyServer(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: parseSession(t, `{"initialize":{"protocolVersion":"2024-11-05","capabilities":{}}}`)})
	r := rand.New(rand.NewPCG(1, 2))
	seen := make(map[string]bool)
	var dst Script
	for range 3000 {
		in := m.Generate(r)
		wellFormed(t, &in)
		dst = m.Mutate(r, dst, in)
		wellFormed(t, &dst)
		msg := ParseMessage(in.Steps[0].Line)
		seen[Subject(nil, &msg)] = true
	}
	for _, want := range []string{"ping", "(unknown method)", "tools/call (unknown tool)"} {
		if !seen[want] {
			t.Errorf("%s is never said", want)
		}
	}
	if len(m.Seeds()) < 50 {
		t.Errorf("%d seeds", len(m.Seeds()))
	}
}

func TestGenerateRepeats(t *testing.T) {
	a := NewMutator(MutatorConfig{Session: recordedSession(t, "memory")})
	b := NewMutator(MutatorConfig{Session: recordedSession(t, "memory")})
	for n := range uint64(500) {
		if x, y := a.Generate(rand.New(rand.NewPCG(9, n))), b.Generate(rand.New(rand.NewPCG(9, n))); !scriptsEqual(x, y) {
			t.Fatalf("script %d is another one the second time", n)
		}
	}
}
