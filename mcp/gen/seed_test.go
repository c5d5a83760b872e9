package gen

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func TestSeeds(t *testing.T) {
	s := mcptest.RecordedSession(t, "everything")
	m := NewMutator(MutatorConfig{Session: s})
	seeds := m.Seeds()
	names, labels, subjects := make(map[string]bool), make(map[string]int), make(map[string]bool)
	starts, bytesSent := 0, 0
	shape := regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	for _, seed := range seeds {
		mcptest.WellFormed(t, &seed.Script)
		if names[seed.Name] || !shape.MatchString(seed.Name) {
			t.Errorf("the name %q is another one's or fit for no file", seed.Name)
		}
		names[seed.Name] = true
		labels[seed.Script.Check]++
		if seed.Script.Start == script.Fresh {
			starts++
		}
		for i := range seed.Script.Steps {
			step := &seed.Script.Steps[i]
			bytesSent += len(step.Line) * max(1, step.Times)
			if len(step.Line) < 4096 && seed.Valid {
				msg := jsonrpc.Parse(step.Line)
				subjects[session.Subject(s, &msg)] = true
			}
		}
	}
	t.Logf("%d seeds, %d of them with a process of their own, %d MB in all", len(seeds), starts, bytesSent>>20)
	if starts > 27 {
		t.Errorf("%d seeds want a process of their own", starts)
	}
	for _, c := range check.All {
		label := c.Label
		if labels[label] == 0 && label != check.Undeclared && label != check.HTTP && label != check.Sessions && label != check.SessionState && label != check.GrowthFiles && label != check.Stateless && label != check.BareClient && label != check.EarlierRequests && label != check.Subscriptions && label != check.SideBySide { // the session is over stdio
			t.Errorf("no seed for the check %s", label)
		}
	}
	for _, want := range []string{"initialize", "ping", "tools_list", "resources_list", "prompts_list", "empty_params", "null_id", "string_id", "call_echo"} {
		if !names[want] {
			t.Errorf("no seed %s", want)
		}
	}
	for i := range s.Tools {
		if !subjects["tools/call "+s.Tools[i].Name] {
			t.Errorf("no valid call of %s", s.Tools[i].Name)
		}
	}
	again := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything")}).Seeds()
	if !slices.EqualFunc(seeds, again, func(a, b Seed) bool {
		return a.Name == b.Name && a.Valid == b.Valid && mcptest.ScriptsEqual(a.Script, b.Script)
	}) {
		t.Error("other seeds the second time")
	}
}

func TestSeedsPutExpensiveOnesLast(t *testing.T) {
	m := newTestMutator(t)
	cheap := 0
	for i, seed := range m.Seeds() {
		if seed.Script.Check != "" && !slices.ContainsFunc(check.All, func(c check.Check) bool { return c.Label == seed.Script.Check && c.Expensive }) {
			cheap = i
		}
		if seed.Script.Check == check.Lifecycle || seed.Script.Check == check.GrowthMemory {
			if i < cheap {
				t.Fatalf("%s stands before cheap checks", seed.Name)
			}
		}
	}
	everything := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything")}).Seeds()
	first := slices.IndexFunc(everything, func(s Seed) bool { return strings.HasPrefix(s.Name, "large_huge_") })
	if after := len(everything) - first; first < 0 || after > 3 {
		t.Errorf("the first line that takes seconds to read is seed %d of %d, want one of the last three", first, len(everything))
	}
	quick := NewMutator(MutatorConfig{Session: mcptest.RecordedSession(t, "everything"), Profile: CI})
	for _, seed := range quick.Seeds() {
		if seed.Script.Check == check.GrowthMemory || check.MeasuresTime(seed.Script.Check) {
			t.Errorf("the profile ci measures growth: %s", seed.Name)
		}
	}
}

// Chains appear for tools whose names say that they belong together, with the likeliest guesses of where a handle is.
func TestSeedsHaveChains(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, mcptest.Handles)})
	var all []string
	for _, seed := range m.Seeds() {
		if strings.HasPrefix(seed.Name, "chain_") {
			data, err := script.Codec{}.Encode(seed.Script)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(data))
		}
	}
	for _, want := range []string{
		`(?s)open_log.*append_log.*"handle":"@\{0:/content/0/text/handle\}".*close_log.*append_log`,
		`(?s)open_log.*append_log.*"handle":"@\{0:/content/0/text#0\}".*close_log.*append_log`,
		`(?s)open_log.*close_log.*close_log`,
		`(?s)open_log.*open_log.*close_log.*"@\{0:.*append_log.*"@\{1:`,
	} {
		if !slices.ContainsFunc(all, regexp.MustCompile(want).MatchString) {
			t.Errorf("none of %d chains is like %s", len(all), want)
		}
	}
}

// What a label promises, detectors rely on.
func TestChecksKeepTheirPromises(t *testing.T) {
	m := newTestMutator(t)
	for _, seed := range m.Seeds() {
		in := &seed.Script
		steps := in.Steps
		fail := func(what string) { t.Errorf("%s: %s", seed.Name, what) }
		switch in.Check {
		case check.UnknownName, check.VariantKey:
			for i, s := range steps {
				if bytes.Contains(s.Line, []byte(`"`+check.ControlName)) != (i < 2 || bytes.Equal(s.Line, steps[0].Line)) && !strings.Contains(seed.Name, "beside") {
					fail("the first two steps are the controls, and the first of them may come again")
				}
			}
			if isKey := strings.HasPrefix(seed.Name, "unknown-name_key_of"); isKey != bytes.Contains(steps[2].Line, []byte(`"teaselnoone"`)) {
				fail("the third control is there, and where a key is probed only")
			}
		case check.SameAfterGarbage:
			if looks := looksOf(steps); looks == 0 {
				fail("what is compared stands at the beginning twice and again at the end")
			}
		case check.Repeat:
			for _, s := range steps {
				if !bytes.Equal(s.Line, steps[0].Line) {
					fail("all steps are equal")
				}
			}
		case check.ReadOnly:
			if looks := looksOf(steps); looks == 0 {
				fail("what is compared stands at the beginning twice and again at the end")
			}
		case check.IDs:
			ids := make(map[string]bool)
			for _, s := range steps {
				msg := jsonrpc.Parse(s.Line)
				if msg.ID == "" || ids[msg.ID] {
					fail("each id is another one")
				}
				ids[msg.ID] = true
			}
		case check.Lifecycle, check.EOF:
			if in.Start != script.Fresh {
				fail("it has a process of its own")
			}
			if in.Check == check.EOF && !steps[len(steps)-1].Close {
				fail("the last step closes the input")
			}
		case check.GrowthTime:
			for i := range steps[1:] {
				if len(steps[i+1].Line) <= len(steps[i].Line) {
					fail("each step is longer than the one before")
				}
			}
		case check.ShapeTime:
			if len(steps) != 6 || len(steps[0].Line) < len(steps[1].Line) {
				fail("a text that is as long as the shape, the shape, and both twice again")
			}
		case check.GrowthMemory:
			if len(steps) != 1 || steps[0].Times < 100 {
				fail("one step that is sent many times")
			}
		case check.Injection:
			for _, s := range steps {
				if bytes.Contains(s.Line, []byte(check.InjectionMarker)) {
					fail("the marker is never sent")
				}
				if !bytes.Contains(s.Line, []byte(check.InjectionA+"*"+check.InjectionB)) && !bytes.Contains(s.Line, []byte(".__class__}")) {
					fail("the marker's factors or a placeholder are in every step: " + string(s.Line))
				}
			}
		case check.Quotes:
			for i, text := range check.QuoteTexts() {
				if !bytes.Contains(steps[i].Line, []byte(check.Quote(text)[1:])) {
					fail(text + " is not in " + string(steps[i].Line))
				}
			}
		case check.Traversal:
			for _, s := range steps {
				if !bytes.Contains(s.Line, []byte("@{canary")) && !strings.HasSuffix(seed.Name, "_above") {
					fail("the canary is in every step: " + string(s.Line))
				}
			}
		case check.Cursor, check.Pagination:
			for i, s := range steps {
				if msg := jsonrpc.Parse(s.Line); i > 0 && msg.Params.Get("cursor") == nil {
					fail("later steps have a cursor")
				}
			}
		}
	}
}

// looksOf returns how many requests a script asks twice at its beginning, after the handshake if there is one, and
// again at its end.
func looksOf(steps []script.Step) int {
	if jsonrpc.Parse(steps[0].Line).Method == "initialize" {
		steps = steps[2:]
	}
	equal := func(a, b script.Step) bool { return bytes.Equal(a.Line, b.Line) }
	for n := 1; 3*n < len(steps); n++ {
		look := steps[:n]
		if slices.EqualFunc(look, steps[n:2*n], equal) && slices.EqualFunc(look, steps[len(steps)-n:], equal) {
			return n
		}
	}
	return 0
}

func TestUndeclared(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}}}}`)})
	for _, seed := range m.Seeds() {
		if seed.Script.Check != check.Undeclared {
			continue
		}
		var asked []string
		for _, s := range seed.Script.Steps {
			msg := jsonrpc.Parse(s.Line)
			asked = append(asked, msg.Method)
		}
		want := strings.Fields("resources/subscribe resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel tasks/get tasks/list tasks/result tasks/cancel")
		if !slices.Equal(asked, want) {
			t.Errorf("asked %v, want %v", asked, want)
		}
		return
	}
	t.Error("nothing is asked that was not declared")
}

// Every kind of server has seeds that can be written and read, and whose valid part is valid.
func TestSeedsOfOtherServers(t *testing.T) {
	for _, name := range []string{"memory", "filesystem", "sequential-thinking"} {
		s := mcptest.RecordedSession(t, name)
		m := NewMutator(MutatorConfig{Session: s})
		grows := false
		for _, seed := range m.Seeds() {
			mcptest.WellFormed(t, &seed.Script)
			grows = grows || strings.Contains(seed.Name, "items_of")
			if !seed.Valid || seed.Script.Start == script.Fresh {
				continue
			}
			for i := range seed.Script.Steps {
				msg := jsonrpc.Parse(seed.Script.Steps[i].Line)
				if c := m.e.b.Find(strings.TrimPrefix(session.Subject(s, &msg), "tools/call ")); c != nil {
					if err := c.Schema.Validate(msg.Params.Get("arguments")); err != nil {
						t.Errorf("%s, %s: %v", name, seed.Name, err)
					}
				}
			}
		}
		if !grows && name != "sequential-thinking" {
			t.Errorf("%s: no array grows", name)
		}
	}
}
