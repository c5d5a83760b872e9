package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestUnmarked: annotations count unless an SDK has written the same ones on all tools.
func TestUnmarked(t *testing.T) {
	const defaults = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
	for _, tt := range []struct {
		name        string
		annotations []string // of the tools show_a, show_b, ...
		blocked     string
	}{
		{"the only tool has all defaults", []string{defaults}, ""},
		{"all tools have all defaults", []string{defaults, defaults, defaults}, ""},
		{"and a title of their own", []string{`{"title":"A",` + defaults[1:], `{"title":"B",` + defaults[1:]}, ""},
		{"all tools have nothing but a title", []string{`{"title":"A"}`, `{"title":"B"}`}, "show_a show_b"},
		{"one tool says something else", []string{defaults, `{"readOnlyHint":true}`}, "show_a"},
		{"one hint is not the default", []string{strings.Replace(defaults, `"idempotentHint":false`, `"idempotentHint":true`, 1)}, "show_a"},
		{"somebody has written one hint", []string{`{"destructiveHint":true}`, `{"destructiveHint":true}`}, "show_a show_b"},
		{"not all have annotations", []string{defaults, ""}, "show_a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tools []string
			for i, a := range tt.annotations {
				tool := `{"name":"show_` + string(rune('a'+i)) + `","inputSchema":{"type":"object"}`
				if a != "" {
					tool += `,"annotations":` + a
				}
				tools = append(tools, tool+"}")
			}
			s := mcptest.ParseSession(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{}},"tools":[`+strings.Join(tools, ",")+`]}`)
			c, err := session.Selection{}.Apply(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := blockedNames(c.Blocked); !slices.Equal(got, strings.Fields(tt.blocked)) {
				t.Errorf("blocked: %v, want %s", c.Blocked, tt.blocked)
			}
		})
	}
}
