package netproto

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// The server that was started to be looked at is the one of the first worker: one that is slow to start is not started twice. It is there once.
func TestReadyServer(t *testing.T) {
	target := Target{Address: "127.0.0.1:{port}", Command: []string{planted(t, "clang", "-DCLEAN"), "{port}"}}
	about, err := target.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	looked := about.Ready.e.Load().server.PID()
	target.Ready = about.Ready
	var pids []int
	for worker := range 2 {
		ex, err := target.Open(t.Context(), teasel.Role{Worker: worker})
		if err != nil {
			t.Fatal(err)
		}
		defer ex.Close()
		pids = append(pids, ex.(*executor).server.PID())
	}
	if pids[0] != looked || pids[1] == looked {
		t.Errorf("the servers of two workers are %d, the one that was looked at is %d", pids, looked)
	}
	if err := about.Ready.Close(); err != nil {
		t.Error(err)
	}
}
