package run

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestWornByLongScripts: a batch comes to its end on a server that ends after a hundred requests, also where these do not suffice for any of the
// scripts that are in flight together: what ran on such a server in vain runs alone.
func TestWornByLongScripts(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // it would go on for ever
	defer stop()
	e := open(t, &Target{Command: server.Command{Args: []string{mcptest.BuildServer(t, plantedtest.Wicked), "exit-each-100"}}, Exact: true})
	ins := make([]script.Script, 12)
	for i := range ins {
		ins[i] = mcptest.ScriptOf(slices.Repeat([]string{ping}, 60)...)
	}
	for at := 0; at < len(ins); {
		obs := make([]teasel.Observation, len(ins)-at)
		n, err := e.ExecBatch(ctx, ins[at:], obs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range obs[:n] {
			if obs[i].Exit != teasel.ExitOK || obs[i].Runs < 60 {
				t.Errorf("script %d: %v, %d runs", at+i, obs[i].Exit, obs[i].Runs)
			}
		}
		at += n
	}
}
