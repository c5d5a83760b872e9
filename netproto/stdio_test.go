package netproto

import (
	"context"
	"os"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A program over standard input and output sees their end, which is no fault of it, and no descriptor of ours is left.
func TestStdioEnds(t *testing.T) {
	for _, script := range []string{"exec cat", "cat; exit 3", "read line; echo $line"} {
		e := open(t, Target{Address: "stdio", Command: []string{"/bin/sh", "-c", script}})
		files := 0
		for i := range 20 {
			in := dialogue.Raw([]byte("hello\n"), []byte("again\n"))
			in.Messages[1].Reconnect = i%2 == 1
			o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
			if err := e.Exec(context.Background(), in, &o); err != nil {
				t.Fatal(err)
			}
			if o.Exit > teasel.ExitRejected || len(e.evidence.Talk) == 0 {
				t.Fatalf("%q: exit %v, %s", script, o.Exit, o.Detail)
			}
			if e.server.Running() {
				t.Errorf("%q: the program has not seen the end of its input", script)
			}
			if i == 0 {
				files = conn.OpenFiles(os.Getpid())
			}
		}
		if now := conn.OpenFiles(os.Getpid()); now > files {
			t.Errorf("%q: %d files are open, %d were", script, now, files)
		}
	}
}
