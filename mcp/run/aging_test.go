package run

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestAging: a server that gets slow by what it has collected is replaced by one that has collected nothing; once, where that is no help; and
// never, where it stays as fast as it was.
func TestAging(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	for _, tt := range []struct {
		mode    string
		behind  bool // another process, as npx is
		batches int  // of 32 scripts, after which it is enough: on a busy machine even a new server's scripts may take long
		old     bool
		helps   bool // to replace it
	}{
		{"growing", false, 480, true, true}, {"growing", true, 480, true, true}, {"growing-elsewhere", false, 480, true, false},
		{"clean", false, 40, false, false}, {"clean", true, 40, false, false},
	} {
		t.Run(fmt.Sprint(tt.mode, " ", tt.behind), func(t *testing.T) {
			args := []string{program, tt.mode, t.TempDir()}
			if tt.behind {
				args = append([]string{"sh", "-c", `"$@"; exit $?`, "sh"}, args...)
			}
			e := open(t, &Target{Command: server.Command{Args: args, Scratch: t.TempDir(), Timeout: 20 * time.Second}})
			ins := slices.Repeat([]script.Script{call("add_note", `{"note":"a"}`)}, 32)
			first := e.live
			for n := 0; n < tt.batches && e.live == first; n++ {
				executeBatch(t, e, ins...)
			}
			if old := e.live != first; old != tt.old {
				t.Fatalf("it is old: %v", old)
			}
			if tt.helps || !tt.old {
				return
			}
			executeBatch(t, e, ins...)
			second := e.live
			for range 10 { // five spans: it has not collected eight times as much
				executeBatch(t, e, ins...)
			}
			if e.live != second {
				t.Error("it is replaced again, which does not help")
			}
		})
	}
}

// TestAgingSpans: it takes two slow spans in a row, and a script that takes little is never slow.
func TestAgingSpans(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spans []time.Duration // of the processor, for each script
		want  int             // the span after which it is old; 0: never
	}{
		{"loads", []time.Duration{9e6, 1e6, 9e6, 9e6}, 4},
		{"once", []time.Duration{9e6, 1e6, 9e6, 1e6, 9e6, 1e6}, 0},
		{"quick", []time.Duration{1e5, 1e4, 1e6, 1e6, 1e6}, 0},
		{"always slow", []time.Duration{9e6, 9e6, 9e6, 9e6}, 0},
	} {
		var a aging
		used, old := time.Duration(0), 0
		for i, span := range tt.spans {
			used += agingScripts * span
			if a.ran(agingScripts, func() time.Duration { return used }) && old == 0 {
				old = i + 1
			}
		}
		if old != tt.want {
			t.Errorf("%s: it is old after %d spans, want %d", tt.name, old, tt.want)
		}
	}
}
