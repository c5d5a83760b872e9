package mcp

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSeeds(t *testing.T) {
	s := recordedSession(t, "everything")
	m := NewMutator(MutatorConfig{Session: s})
	seeds := m.Seeds()
	names, labels, subjects := make(map[string]bool), make(map[string]int), make(map[string]bool)
	starts, bytesSent := 0, 0
	shape := regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	for _, seed := range seeds {
		wellFormed(t, &seed.Script)
		if names[seed.Name] || !shape.MatchString(seed.Name) {
			t.Errorf("the name %q is another one's or fit for no file", seed.Name)
		}
		names[seed.Name] = true
		labels[seed.Script.Check]++
		if seed.Script.Start == Fresh {
			starts++
		}
		for i := range seed.Script.Steps {
			step := &seed.Script.Steps[i]
			bytesSent += len(step.Line) * max(1, step.Times)
			if len(step.Line) < 4096 && seed.Valid {
				msg := ParseMessage(step.Line)
				subjects[Subject(s, &msg)] = true
			}
		}
	}
	t.Logf("%d seeds, %d of them with a process of their own, %d MB in all", len(seeds), starts, bytesSent>>20)
	if starts > 24 {
		t.Errorf("%d seeds want a process of their own", starts)
	}
	for _, label := range Checks() {
		if labels[label] == 0 && label != CheckUndeclared {
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
	again := NewMutator(MutatorConfig{Session: recordedSession(t, "everything")}).Seeds()
	if !slices.EqualFunc(seeds, again, func(a, b Seed) bool {
		return a.Name == b.Name && a.Valid == b.Valid && scriptsEqual(a.Script, b.Script)
	}) {
		t.Error("other seeds the second time")
	}
}

func TestSeedsPutExpensiveOnesLast(t *testing.T) {
	m := newTestMutator(t)
	cheap := 0
	for i, seed := range m.Seeds() {
		if seed.Script.Check != "" && !slices.ContainsFunc(checks, func(c check) bool { return c.label == seed.Script.Check && c.expensive }) {
			cheap = i
		}
		if seed.Script.Check == CheckLifecycle || seed.Script.Check == CheckGrowthMemory {
			if i < cheap {
				t.Fatalf("%s stands before cheap checks", seed.Name)
			}
		}
	}
	everything := NewMutator(MutatorConfig{Session: recordedSession(t, "everything")}).Seeds()
	first := slices.IndexFunc(everything, func(s Seed) bool { return strings.HasPrefix(s.Name, "large_huge_") })
	if after := len(everything) - first; first < 0 || after > 3 {
		t.Errorf("the first line that takes seconds to read is seed %d of %d, want one of the last three", first, len(everything))
	}
	quick := NewMutator(MutatorConfig{Session: recordedSession(t, "everything"), Profile: CI})
	for _, seed := range quick.Seeds() {
		if seed.Script.Check == CheckGrowthMemory || measuresTime(seed.Script.Check) {
			t.Errorf("the profile ci measures growth: %s", seed.Name)
		}
	}
}

// Chains appear for tools whose names say that they belong together, with the likeliest guesses of where a handle is.
func TestSeedsHaveChains(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: parseSession(t, handles)})
	var all []string
	for _, seed := range m.Seeds() {
		if strings.HasPrefix(seed.Name, "chain_") {
			data, err := Codec{}.Encode(seed.Script)
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
		case CheckUnknownName, CheckVariantKey:
			for i, s := range steps {
				if bytes.Contains(s.Line, []byte(`"`+ControlName)) != (i < 2) && !strings.Contains(seed.Name, "beside") {
					fail("the first two steps are the controls")
				}
			}
			if isKey := strings.HasPrefix(seed.Name, "unknown-name_key_of"); isKey != bytes.Contains(steps[2].Line, []byte(quote(letterControl))) {
				fail("the third control is there, and where a key is probed only")
			}
		case CheckSameAfterGarbage:
			if looks := looksOf(steps); looks == 0 {
				fail("what is compared stands at the beginning twice and again at the end")
			}
		case CheckRepeat:
			for _, s := range steps {
				if !bytes.Equal(s.Line, steps[0].Line) {
					fail("all steps are equal")
				}
			}
		case CheckReadOnly:
			if looks := looksOf(steps); looks == 0 {
				fail("what is compared stands at the beginning twice and again at the end")
			}
		case CheckIDs:
			ids := make(map[string]bool)
			for _, s := range steps {
				msg := ParseMessage(s.Line)
				if msg.ID == "" || ids[msg.ID] {
					fail("each id is another one")
				}
				ids[msg.ID] = true
			}
		case CheckLifecycle, CheckEOF:
			if in.Start != Fresh {
				fail("it has a process of its own")
			}
			if in.Check == CheckEOF && !steps[len(steps)-1].Close {
				fail("the last step closes the input")
			}
		case CheckGrowthTime:
			for i := range steps[1:] {
				if len(steps[i+1].Line) <= len(steps[i].Line) {
					fail("each step is longer than the one before")
				}
			}
		case CheckShapeTime:
			if len(steps) != 4 || len(steps[0].Line) < len(steps[1].Line) {
				fail("a text that is as long as the shape, the shape, and both again")
			}
		case CheckGrowthMemory:
			if len(steps) != 1 || steps[0].Times < 100 {
				fail("one step that is sent many times")
			}
		case CheckInjection:
			for _, s := range steps {
				if bytes.Contains(s.Line, []byte(InjectionMarker)) {
					fail("the marker is never sent")
				}
				if !bytes.Contains(s.Line, []byte(injectionA+"*"+injectionB)) && !bytes.Contains(s.Line, []byte(".__class__}")) {
					fail("the marker's factors or a placeholder are in every step: " + string(s.Line))
				}
			}
		case CheckQuotes:
			for i, text := range quoteTexts() {
				if !bytes.Contains(steps[i].Line, []byte(quote(text)[1:])) {
					fail(text + " is not in " + string(steps[i].Line))
				}
			}
		case CheckTraversal:
			for _, s := range steps {
				if !bytes.Contains(s.Line, []byte("@{canary")) {
					fail("the canary is in every step: " + string(s.Line))
				}
			}
		case CheckCursor, CheckPagination:
			for i, s := range steps {
				if msg := ParseMessage(s.Line); i > 0 && msg.Params.Get("cursor") == nil {
					fail("later steps have a cursor")
				}
			}
		}
	}
}

// looksOf returns how many requests a script asks twice at its beginning, after the handshake if there is one, and
// again at its end.
func looksOf(steps []Step) int {
	if ParseMessage(steps[0].Line).Method == "initialize" {
		steps = steps[2:]
	}
	equal := func(a, b Step) bool { return bytes.Equal(a.Line, b.Line) }
	for n := 1; 3*n < len(steps); n++ {
		look := steps[:n]
		if slices.EqualFunc(look, steps[n:2*n], equal) && slices.EqualFunc(look, steps[len(steps)-n:], equal) {
			return n
		}
	}
	return 0
}

func TestChecksAreAll(t *testing.T) {
	if !slices.IsSorted(Checks()) {
		t.Error("labels are not sorted")
	}
	var made []string
	for _, c := range checks {
		made = append(made, c.label)
	}
	slices.Sort(made)
	made = slices.Compact(made)
	if !slices.Equal(made, Checks()) {
		t.Errorf("made are %v, listed %v", made, Checks())
	}
}

func TestUndeclared(t *testing.T) {
	m := NewMutator(MutatorConfig{Session: parseSession(t, `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}}}}`)})
	for _, seed := range m.Seeds() {
		if seed.Script.Check != CheckUndeclared {
			continue
		}
		var asked []string
		for _, s := range seed.Script.Steps {
			msg := ParseMessage(s.Line)
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
		s := recordedSession(t, name)
		m := NewMutator(MutatorConfig{Session: s})
		grows := false
		for _, seed := range m.Seeds() {
			wellFormed(t, &seed.Script)
			grows = grows || strings.Contains(seed.Name, "items_of")
			if !seed.Valid || seed.Script.Start == Fresh {
				continue
			}
			for i := range seed.Script.Steps {
				msg := ParseMessage(seed.Script.Steps[i].Line)
				if c := m.e.b.find(strings.TrimPrefix(Subject(s, &msg), "tools/call ")); c != nil {
					if err := c.schema.Validate(msg.Params.Get("arguments")); err != nil {
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
