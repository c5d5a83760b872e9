package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
)

// A tool may have something open for its caller, whatever its name is, unless it says that it is idempotent or only reads.
func TestKeptOpenTools(t *testing.T) {
	tools := `{"name":"get_item","inputSchema":{"type":"object"}},{"name":"submit_job","inputSchema":{"type":"object"}},` +
		`{"name":"login","inputSchema":{"type":"object"}},{"name":"mount","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true,"destructiveHint":false}}`
	for i := range 40 { // which are not called do not take their places
		tools += fmt.Sprintf(`,{"name":"submit_job_%d","inputSchema":{"type":"object"}}`, i)
	}
	session := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+tools+`]}`)
	var called []string
	for _, seed := range gen.NewMutator(gen.MutatorConfig{Session: session}).Seeds() {
		if seed.Script.Check == check.KeptOpen {
			called = append(called, string(seed.Script.Steps[0].Line))
		}
	}
	names := func(name string) bool {
		return slices.ContainsFunc(called, func(line string) bool { return strings.Contains(line, name) })
	}
	if len(called) != 2 || !names("get_item") || !names("mount") {
		t.Errorf("called %q, want get_item and mount", called)
	}
}
