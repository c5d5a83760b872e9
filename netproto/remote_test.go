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
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
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
	startProcess(t, c, port)
	return func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// startProcess starts a server, and returns when it listens. It ends with the test.
func startProcess(t *testing.T, c *exec.Cmd, port string) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; {
		if l, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return
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
	for i, want := range []teasel.Exit{teasel.ExitOK, teasel.ExitCrash, teasel.ExitOK} {
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
	if err := e.Exec(context.Background(), in, &o); err != nil || o.Exit != teasel.ExitCrash {
		t.Fatalf("exit %v, %v", o.Exit, err)
	}
	var gone *GoneError
	if err := e.Exec(context.Background(), in, &o); !errors.As(err, &gone) {
		t.Errorf("error %v", err)
	}
}

// A server of somebody else's that stops is gone too: connections to it are still made. What it had last is in the finding, whose message
// does not say that it runs.
func TestRemoteServerStops(t *testing.T) {
	program, port := planted(t, "clang", "-DCLEAN"), unusedPort(t)
	for _, how := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		c := exec.Command(program, port)
		startProcess(t, c, port)
		e := open(t, Target{Address: "127.0.0.1:" + port, Start: 10 * time.Millisecond, Timeout: 100 * time.Millisecond})
		in := dialogue.Raw(request(1, "me"))
		exec := func() (o teasel.Observation, err error) {
			o.Ask.Quiet = true
			err = e.Exec(t.Context(), in, &o)
			return o, err
		}
		if o, err := exec(); err != nil || o.Exit != teasel.ExitOK {
			t.Fatalf("exit %v, %v", o.Exit, err)
		}
		if err := c.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		var fs []teasel.Finding
		for range silentDialogues + 1 {
			o, err := exec()
			if err != nil {
				t.Fatal(err)
			}
			if fs = judge.Detect(&o); len(fs) > 0 {
				break
			}
		}
		if len(fs) != 1 || fs[0].Rule != judge.RuleGone || !strings.Contains(fs[0].Message, "after one of the last") || strings.Count(fs[0].Detail, "> ") < 2 {
			t.Errorf("%v: findings %+v", how, fs)
		}
		var gone *GoneError
		if _, err := exec(); !errors.As(err, &gone) {
			t.Errorf("%v: error %v", how, err)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// A server of somebody else's that takes its time for the first answer after it was started again serves, as long as that is within the time limit.
func TestRemoteServerComesBackSlowly(t *testing.T) {
	address := "127.0.0.1:" + unusedPort(t)
	serve := func(pause time.Duration) net.Listener {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					if n, _ := c.Read(make([]byte, 64)); n > 0 {
						time.Sleep(pause)
						_, _ = c.Write([]byte("ok\n"))
						_, _ = c.Read(make([]byte, 64))
					}
				}()
			}
		}()
		return l
	}
	l := serve(0)
	e := open(t, Target{Address: address, Start: 10 * time.Millisecond, Timeout: 2 * time.Second})
	for i, want := range []teasel.Exit{teasel.ExitOK, teasel.ExitCrash, teasel.ExitOK} {
		switch l.Close(); i {
		case 0:
			l = serve(0)
		case 2:
			l = serve(time.Second)
		}
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(t.Context(), dialogue.Raw([]byte("hello\n")), &o); err != nil || o.Exit != want {
			t.Fatalf("dialogue %d: exit %v, %v, want %v", i, o.Exit, err, want)
		}
	}
}
