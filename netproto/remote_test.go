package netproto

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// unusedPort is a port that nobody listens on.
func unusedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// startElsewhere starts a server as somebody else would, and returns what kills it.
func startElsewhere(t *testing.T, program, port string) (kill func()) {
	t.Helper()
	c := exec.Command(program, port)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		ended = true
	}
	t.Cleanup(kill)
	for deadline := time.Now().Add(10 * time.Second); ; {
		if l, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return kill
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not listen")
		}
	}
}

// After a fault the command of --reset starts a server of somebody else's again.
func TestResetStartsServerAgain(t *testing.T) {
	program, port := planted(t, "clang", "-DCLEAN"), unusedPort(t)
	kill := startElsewhere(t, program, port)
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Cleanup(func() {
		if text, err := os.ReadFile(pidFile); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
	})
	// What it starts has the command's output, as long as it runs.
	e := open(t, Target{Address: "127.0.0.1:" + port, Reset: []string{"/bin/sh", "-c", program + " " + port + " & echo $! > " + pidFile}})
	for i, want := range []teasel.Exit{teasel.ExitOK, teasel.ExitHang, teasel.ExitOK} {
		if i == 1 {
			kill()
		}
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw(request(1, "me")), &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit != want {
			t.Errorf("dialogue %d: exit %v, want %v; %s", i, o.Exit, want, o.Detail)
		}
	}
}

// A server of somebody else's that is gone, and stays so, ends the campaign.
func TestRemoteServerIsGone(t *testing.T) {
	program, port := planted(t, "clang", "-DCLEAN"), unusedPort(t)
	kill := startElsewhere(t, program, port)
	e := open(t, Target{Address: "127.0.0.1:" + port, Start: 10 * time.Millisecond})
	kill()
	in := dialogue.Raw(request(1, "me"))
	var o teasel.Observation
	if err := e.Exec(context.Background(), in, &o); err != nil || o.Exit != teasel.ExitHang {
		t.Fatalf("exit %v, %v", o.Exit, err)
	}
	var gone *StartError
	if err := e.Exec(context.Background(), in, &o); !errors.As(err, &gone) || gone.Hint == "" {
		t.Errorf("error %v", err)
	}
}
