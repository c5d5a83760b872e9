package run

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// A line that is no message is put down to the request that the server was at when it came, not to what was sent meanwhile.
func TestNoiseOfPending(t *testing.T) {
	const search = `{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"search_items","arguments":{"query":"b","limit":0}}}`
	program := mcptest.BuildServer(t, plantedtest.Planted)
	for _, tt := range []struct {
		name   string
		noWait bool
		next   string
		want   string
	}{
		{"by itself", false, "", "tools/call search_items"},
		{"before another", false, `{"jsonrpc":"2.0","id":"@id","method":"ping"}`, "tools/call search_items"},
		{"while another is sent", true, `{"jsonrpc":"2.0","id":"@id","method":"no/such"}`, "tools/call search_items"},
		{"while a notification is sent", true, `{"jsonrpc":"2.0","method":"notifications/no_such"}`, "tools/call search_items"},
		{"while it is cancelled", true, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"@id:0"}}`, "tools/call search_items"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, planted(program, "stdout-noise"))
			in := lineScript(search)
			in.Steps[0].NoWait = tt.noWait
			if tt.next != "" {
				in.Steps = append(in.Steps, script.Send([]byte(tt.next)))
			}
			_, obs := execute(t, e, in)
			if got := told(&obs, judge.RuleNoise); len(got) != 1 || got[0].Subject != tt.want {
				t.Errorf("told of %+v, want %q", got, tt.want)
			}
		})
	}
}
