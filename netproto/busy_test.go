package netproto

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server whose queue of connections is full for a while does take connections; one that never looks at it again does not.
func TestBusyServerTakesConnections(t *testing.T) {
	bad, clean := plantedSource(t, "busy.c", "clang"), plantedSource(t, "busy.c", "clang", "-DCLEAN")
	for _, tt := range []struct {
		program, message string
		found            bool
	}{{bad, "busy", false}, {bad, "deaf", true}, {clean, "deaf", false}} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{tt.program, "{port}"}})
		in := dialogue.Raw([]byte(tt.message), []byte("a"), []byte("b"), []byte("c"), []byte("d"))
		for i := range in.Messages {
			in.Messages[i].Reconnect = i > 0
		}
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), in, &o); err != nil {
			t.Fatal(err)
		}
		fs := judge.Detect(&o)
		if tt.found != (len(fs) == 1 && fs[0].Rule == judge.RuleClosed) || !tt.found && len(fs) > 0 {
			t.Errorf("%q: %+v", tt.message, fs)
		}
	}
}
