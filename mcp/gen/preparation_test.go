package gen_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// manyTools is a session of n tools that take four texts each.
func manyTools(t testing.TB, n int) *session.Session {
	var tools []string
	for i := range n {
		tools = append(tools, mcptest.TextTool("get_thing_"+strconv.Itoa(i), "Get a thing.", `,"annotations":{"readOnlyHint":true}`, "owner", "repo", "query", "path"))
	}
	return mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[`+strings.Join(tools, ",")+`]}`)
}

// TestSeedsAreBounded: the scripts of many tools fit into memory, since those that are large are made for some of them only.
func TestSeedsAreBounded(t *testing.T) {
	mcptest.Computes(t)
	sizes := make(map[string]int) // by check, bytes of lines
	for _, seed := range gen.NewMutator(gen.MutatorConfig{Session: manyTools(t, 400)}).Seeds() {
		for i := range seed.Script.Steps {
			sizes[seed.Script.Check] += len(seed.Script.Steps[i].Line)
		}
	}
	for check, size := range sizes {
		if most := 40 << 20; size > most {
			t.Errorf("the scripts of the check %q have %d bytes, want %d at most", check, size, most)
		}
	}
	if sizes[check.GrowthTime] == 0 || sizes[check.Large] == 0 {
		t.Error("nothing grows, or nothing is large")
	}
}

// TestPreparationStops: who interrupts the preparation of a session does not wait for its end.
func TestPreparationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sess := manyTools(t, 2)
	if _, err := gen.NewMutatorContext(ctx, gen.MutatorConfig{Session: sess}); !errors.Is(err, context.Canceled) {
		t.Errorf("NewMutatorContext: %v, want %v", err, context.Canceled)
	}
	if _, err := gen.NewMutator(gen.MutatorConfig{Session: sess}).SeedsContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("SeedsContext: %v, want %v", err, context.Canceled)
	}
}

// TestTextsAreBounded: a schema of thousands of strings is validated in bounded time, so that not all of its strings are tried,
// and one of ordinary size in full.
func TestTextsAreBounded(t *testing.T) {
	mcptest.Computes(t)
	for _, tt := range []struct{ strings, least, most int }{{40, 40, 40}, {3000, 10, 200}} {
		var properties, required []string
		for i := range tt.strings {
			properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
			required = append(required, fmt.Sprintf(`"p%d"`, i))
		}
		sess := mcptest.SessionOf(t, `{"initialize":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}},"tools":[{"name":"a","inputSchema":{"type":"object","properties":{`+
			strings.Join(properties, ",")+`},"required":[`+strings.Join(required, ",")+`]}}]}`)
		c := new(session.Catalog).Prepare(&sess.Tools[0])
		if n := len(c.Texts); n < tt.least || n > tt.most {
			t.Errorf("%d strings: %d are texts, want %d to %d", tt.strings, n, tt.least, tt.most)
		}
	}
}
