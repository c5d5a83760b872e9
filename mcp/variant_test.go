package mcp

import (
	"strings"
	"testing"
)

const modes = `{
"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"modes","version":"1"}},
"tools":[
{"name":"find","description":"Finds.","inputSchema":{"type":"object","properties":{"glob":{"type":"string"},"mode":{"enum":["plain","regex","fuzzy"]},"deep":{"type":"boolean"}},"required":["glob"]}},
{"name":"note","description":"Notes.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}
]}`

// TestVariants: each choice of a tool is made in every way, conform each time, and tools without choices have none.
func TestVariants(t *testing.T) {
	b := NewMutator(MutatorConfig{Session: parseSession(t, modes)}).e.b
	find := b.find("find")
	seen := map[string]bool{find.full.Get("mode").String(): true, find.full.Get("deep").String(): true}
	for _, v := range find.variants() {
		if err := find.schema.Validate(v); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		seen[v.Get("mode").String()], seen[v.Get("deep").String()] = true, true
	}
	for _, want := range []string{`"plain"`, `"regex"`, `"fuzzy"`, "true", "false"} {
		if !seen[want] {
			t.Errorf("no variant with %s", want)
		}
	}
	if all := b.find("note").variants(); len(all) != 0 {
		t.Errorf("variants of a tool without choices: %v", all)
	}
	if on := find.switchedOn(); on.Get("deep").String() != "true" || find.schema.Validate(on) != nil {
		t.Errorf("switched on: %s", on)
	}
	visits := 0
	b.eachMode(func(name string, line func(string) []byte) {
		if visits++; !strings.HasPrefix(name, "find variant ") || !strings.HasSuffix(name, " /glob") || !strings.Contains(string(line("<text>")), `"glob":"<text>"`) {
			t.Errorf("%s: %s", name, line("<text>"))
		}
	})
	if want := len(find.variants()); visits != want {
		t.Errorf("%d visits, want %d", visits, want)
	}
}
