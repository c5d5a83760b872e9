package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mutate"
)

func TestRepertoirePreparesTools(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything")})
	for _, skip := range m.Skipped() {
		t.Errorf("skipped %s: %s", skip.Subject, skip.Reason)
	}
	if len(m.e.b.Tools) != 13 {
		t.Fatalf("%d tools, want 13", len(m.e.b.Tools))
	}
	for _, c := range m.e.b.Tools {
		for what, v := range map[string]*mutate.JSON{"plain": c.Plain, "full": c.Full} {
			if err := c.Schema.Validate(v); err != nil {
				t.Errorf("%s: %s arguments %s do not conform: %v", c.Name, what, v, err)
			}
		}
		for _, v := range c.Broken {
			if c.Schema.Validate(v) == nil {
				t.Errorf("%s: %s was to break the schema and conforms", c.Name, v)
			}
		}
	}
	texts := map[string][]string{"echo": {"/message"}, "get-sum": nil, "get-annotated-message": nil, "simulate-research-query": {"/topic"}}
	for name, want := range texts {
		if got := m.e.b.Find(name).Texts; !slices.Equal(got, want) {
			t.Errorf("texts of %s: %v, want %v", name, got, want)
		}
	}
	if !m.e.b.Find("trigger-long-running-operation").Slow || m.e.b.Find("echo").Slow {
		t.Error("the long running operation is slow, and echo is not")
	}
}

func TestRepertoireSkips(t *testing.T) {
	s := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}},"tools":[
		{"name":"broken","inputSchema":{"$ref":"https://external.example/schema.json","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}},
		{"name":"fine","inputSchema":{"type":"object"}},
		{"name":"none"}]}`)
	m := NewMutator(MutatorConfig{Session: s})
	skipped := m.Skipped()
	if len(skipped) != 1 || skipped[0].Subject != "tools/call broken" || !strings.Contains(skipped[0].Reason, "external") {
		t.Errorf("skipped %v, want the broken tool for its external reference", skipped)
	}
	if got := m.e.b.Find("broken").Full.String(); got != `{"n":1,"s":"a"}` {
		t.Errorf("arguments guessed for the broken tool: %s", got)
	}
}

func TestGuessChains(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	if len(m.e.b.chains) != 1 {
		t.Fatalf("%d chains, want one", len(m.e.b.chains))
	}
	c := &m.e.b.chains[0]
	if c.opener.Name != "open_log" {
		t.Errorf("opened by %s", c.opener.Name)
	}
	var users, closes []string
	for _, l := range c.users {
		users = append(users, l.tool.Name+" "+l.property)
	}
	for _, l := range c.closes {
		closes = append(closes, l.tool.Name+" "+l.property)
	}
	if want := []string{"append_log handle", "count_lines number"}; !slices.Equal(users, want) {
		t.Errorf("used by %v, want %v", users, want)
	}
	if want := []string{"close_log handle"}; !slices.Equal(closes, want) {
		t.Errorf("closed by %v, want %v", closes, want)
	}
	found := false
	for _, q := range c.sequences() {
		in, ok := c.script(q, 0, plainArguments)
		if !ok {
			t.Errorf("%s: no script", q.name)
		}
		if q.name == "use after close" && q.calls[0].tool.Name == "append_log" {
			found = true
			for i, want := range []string{"open_log", `"handle":"@{0:/content/0/text/handle}"`, "close_log", "append_log"} {
				if !strings.Contains(string(in.Steps[i].Line), want) {
					t.Errorf("step %d is %s, want %s in it", i, in.Steps[i].Line, want)
				}
			}
		}
	}
	if !found {
		t.Error("nothing is appended after closing")
	}
}

func TestCaptureOfNumberFromWords(t *testing.T) {
	l := link{number: true}
	if got := l.capture(2, "/content/0/text#1").String(); got != "@{2:/content/0/text#1}" {
		t.Errorf("a number out of a sentence is %s, and must not be quoted", got)
	}
	if got := l.capture(2, "/structuredContent/id").String(); got != `"@{2:/structuredContent/id}"` {
		t.Errorf("a structured value is %s", got)
	}
}
