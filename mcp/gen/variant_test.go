package gen

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

const modes = `{
"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"modes","version":"1"}},
"tools":[
{"name":"find","description":"Finds.","inputSchema":{"type":"object","properties":{"glob":{"type":"string"},"mode":{"enum":["plain","regex","fuzzy"]},"deep":{"type":"boolean"}},"required":["glob"]}},
{"name":"note","description":"Notes.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}
]}`

// TestVariants: each choice of a tool is made in every way, conform each time, and tools without choices have none.
func TestVariants(t *testing.T) {
	b := NewMutator(MutatorConfig{Session: mcptest.ParseSession(t, modes)}).e.b
	find := b.Find("find")
	seen := map[string]bool{find.Full.Get("mode").String(): true, find.Full.Get("deep").String(): true}
	for _, v := range find.Variants() {
		if err := find.Schema.Validate(v); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		seen[v.Get("mode").String()], seen[v.Get("deep").String()] = true, true
	}
	for _, want := range []string{`"plain"`, `"regex"`, `"fuzzy"`, "true", "false"} {
		if !seen[want] {
			t.Errorf("no variant with %s", want)
		}
	}
	if all := b.Find("note").Variants(); len(all) != 0 {
		t.Errorf("variants of a tool without choices: %v", all)
	}
	if on := find.SwitchedOn(); on.Get("deep").String() != "true" || find.Schema.Validate(on) != nil {
		t.Errorf("switched on: %s", on)
	}
	visits := 0
	b.EachMode(func(name string, line func(string) []byte) {
		if visits++; !strings.HasPrefix(name, "find variant ") || !strings.HasSuffix(name, " /glob") || !strings.Contains(string(line("<text>")), `"glob":"<text>"`) {
			t.Errorf("%s: %s", name, line("<text>"))
		}
	})
	if want := len(find.Variants()); visits != want {
		t.Errorf("%d visits, want %d", visits, want)
	}
}
