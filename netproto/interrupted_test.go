package netproto

import (
	"context"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server whose start is interrupted, as at the end of a campaign, is started again for what comes next, and not said to take no
// connections.
func TestInterruptedStart(t *testing.T) {
	const script = `import socket, sys, time
time.sleep(1)
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    c, _ = s.accept()
    c.sendall(c.recv(100))
    c.close()
`
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/usr/bin/python3", "-c", script, "{port}"}})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := e.Reset(ctx); err == nil {
		t.Fatal("the start was not interrupted")
	}
	var o teasel.Observation
	if err := e.Exec(t.Context(), dialogue.Raw([]byte("hello")), &o); err != nil {
		t.Fatal(err)
	}
	if fs := judge.Detect(&o); len(fs) > 0 {
		t.Errorf("findings %+v", fs)
	}
}
