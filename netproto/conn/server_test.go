package conn

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
)

// What is wrong with a server that does not come up is said in words.
func TestStartErrors(t *testing.T) {
	for _, tt := range []struct{ mode, reason, hint string }{
		{"ends", "it ended with exit status 3 before it listened on tcp://127.0.0.1:", ""},
		{"aborts", "killed ended it before it listened", ""},
		{"deaf", "it runs, but nothing listens on tcp://127.0.0.1:", "--start-timeout"},
		{"refused", "it runs, but nothing listens on tcp://127.0.0.1:", "root"},
		{"elsewhere", "; it listens on tcp port ", "name the same port"},
		{"restless", "a thread of it never sleeps", "leave the command out"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, tt.mode, "127.0.0.1:{port}")
			var in *StartError
			if !errors.As(err, &in) {
				t.Fatalf("error %v, want a StartError", err)
			}
			if !strings.Contains(in.Reason, tt.reason) || !strings.Contains(in.Hint, tt.hint) {
				t.Errorf("reason %q with hint %q, want %q and %q", in.Reason, in.Hint, tt.reason, tt.hint)
			}
			if tt.mode == "refused" && in.Stderr != "bind: Operation not permitted" {
				t.Errorf("standard error %q", in.Stderr)
			}
			if tt.mode == "ends" && in.Stderr != "no configuration" {
				t.Errorf("standard error %q", in.Stderr)
			}
		})
	}
}

// Where the server's folder cannot be made, TMPDIR is named.
func TestNoTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	_, err := newPlace(os.Geteuid(), "")
	var in *StartError
	if !errors.As(err, &in) || !strings.Contains(in.Reason, "TMPDIR") || !strings.Contains(in.Hint, "TMPDIR") {
		t.Errorf("%v, want a StartError that names TMPDIR", err)
	}
}

// A command that an ordinary user may not run gets another hint than one that may not write its files.
func TestStartForbidden(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root starts servers as another user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := ParseAddress("127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), Command{Args: []string{program}, Address: a})
	var in *StartError
	if !errors.As(err, &in) || !strings.Contains(in.Hint, "may not run the command") && !strings.Contains(in.Hint, "has to be allowed into the folders") {
		t.Errorf("error %v with hint %q", err, in.Hint)
	}
}

// In a user namespace there may be nobody but root.
func TestUserNotMapped(t *testing.T) {
	c := exec.Command(os.Args[0], "")
	c.Env = append(os.Environ(), serverMode+"=unmapped")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}}
	out, err := c.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("skipped: a user namespace cannot be made: %v", err)
	}
	if want := "starting the server: it is to run as user 1, who does not exist in this user namespace <nil>"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

// A server that somebody else runs on the port is never talked to.
func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = open(t, "lines", "127.0.0.1:"+strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	if err == nil || !strings.Contains(err.Error(), "another program already listens") {
		t.Errorf("error %v", err)
	}
}

// A server that does not set SO_REUSEADDR cannot listen again where it has ended a connection a moment ago. It gets another port.
func TestRestartWhereConnectionsLinger(t *testing.T) {
	s, err := open(t, "alone", "127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(context.Background(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	talk(t, s, c, "bye\n")
	if c.End() != EndClosed {
		t.Fatalf("the connection is %v", c.End())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c, err = s.Connect(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if answer, _ := talk(t, s, c, "hello\n"); answer != "HELLO\n" {
		t.Errorf("the answer is %q", answer)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// talk sends a message and returns what the server has said when it sleeps.
func talk(t *testing.T, s *Server, c *Connection, message string) (string, State) {
	t.Helper()
	if n, err := c.Send([]byte(message)); err != nil || n != len(message) {
		t.Fatalf("%d bytes of %q sent, %v", n, message, err)
	}
	state, err := s.Settle(context.Background(), c, 200*time.Millisecond, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	answer, _, err := c.Receive(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer), state
}

// An answer that is written in small pieces is heard to its end, though the kernel of the server keeps one back until we have acknowledged the
// piece before.
func TestPieces(t *testing.T) {
	s, err := open(t, "lines", "127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(context.Background(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := range 50 {
		if answer, _ := talk(t, s, c, "pieces\n"); answer != "PIECES\n" {
			t.Fatalf("the answer to message %d is %q", n, answer)
		}
	}
}

func TestConversations(t *testing.T) {
	for mode, address := range map[string]string{"lines": "127.0.0.1:{port}", "udp": "udp://127.0.0.1:{port}", "unix": "unix:{socket}", "stdio": "stdio", "tls": "tls://127.0.0.1:{port}"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, err := open(t, mode, address)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second one is new
				c, err := s.Connect(context.Background(), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				rests := func(state State) bool { // now and then a thread of Go's runtime waits for a timer, but not for long
					for tries := 0; state == Waiting && tries < 10; tries++ {
						if state, err = s.Settle(t.Context(), c, 200*time.Millisecond, 200*time.Millisecond); err != nil {
							t.Fatal(err)
						}
					}
					return state == Asleep
				}
				newline := "\n"
				if mode == "udp" {
					newline = ""
				}
				for range 100 {
					if answer, state := talk(t, s, c, "hello"+newline); answer != "HELLO"+newline || !rests(state) {
						t.Fatalf("answer %q, %v", answer, state)
					}
					if answer, state := talk(t, s, c, "silence"+newline); answer != "" || !rests(state) {
						t.Fatalf("answer %q to silence, %v", answer, state)
					}
				}
				if c.End() != EndOpen {
					t.Errorf("the connection is %v", c.End())
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Whatever a server does, what it is doing is told apart.
func TestStates(t *testing.T) {
	for _, tt := range []struct {
		message, answer string
		state           State
		end             End
	}{
		{"bye", "", Asleep, EndClosed},
		{"reset", "", Asleep, EndReset},
		{"half", "HAL", Asleep, EndOpen},
		{"fork", "20000\n", Asleep, EndOpen},
		{"late", "LATE\n", Asleep, EndOpen},
		{"later", "", Waiting, EndOpen},
		{"spin", "", Spinning, EndOpen},
		{"die", "", Ended, EndReset},
	} {
		t.Run(tt.message, func(t *testing.T) {
			t.Parallel()
			s, err := open(t, "lines", "127.0.0.1:{port}")
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Connect(context.Background(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answer, state := talk(t, s, c, tt.message+"\n")
			if answer != tt.answer || state != tt.state || c.End() != tt.end && tt.end != EndReset {
				t.Errorf("answer %q, server %v, connection %v; want %q, %v, %v", answer, state, c.End(), tt.answer, tt.state, tt.end)
			}
			if tt.end == EndReset && c.End() == EndOpen {
				t.Error("the connection is open")
			}
			if tt.state == Ended {
				if err := s.Stop(); err != nil {
					t.Error(err)
				}
				if text := string(s.Output()); s.Death().Code == 0 || !strings.Contains(text, "it dies") {
					t.Errorf("it ended with %+v and said %q", s.Death(), text)
				}
			}
			if err := s.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
			again, err := s.Connect(context.Background(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if answer, _ := talk(t, s, again, "x\n"); answer != "X\n" {
				t.Errorf("started again it answers %q", answer)
			}
		})
	}
}

// A server that never stops talking is cut short.
func TestFlood(t *testing.T) {
	s, err := open(t, "lines", "127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(context.Background(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Send([]byte("flood\n")); err != nil {
		t.Fatal(err)
	}
	var text []byte
	over := false
	for range 50 {
		if _, err := s.Settle(context.Background(), c, time.Second, time.Second); err != nil {
			t.Fatal(err)
		}
		var more bool
		if text, more, err = c.Receive(text); err != nil {
			t.Fatal(err)
		}
		over = over || more
	}
	if !over || len(text) < flood {
		t.Errorf("%d bytes came, more %v", len(text), over)
	}
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAddress(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Dial(context.Background(), a, time.Second); !Refused(err) {
		t.Errorf("error %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:1883": "tcp://127.0.0.1:1883", ":{port}": "tcp://127.0.0.1:{port}", "udp://[::1]:53": "udp://[::1]:53", "unix:/a/b": "unix:/a/b",
		"unix://{dir}/x": "unix:{dir}/x", "stdio": "stdio", "tls://localhost:1": "tls://localhost:1",
	} {
		a, err := ParseAddress(text)
		if err != nil || a.String() != want || !a.Loopback() {
			t.Errorf("%q is %v, loopback %v, %v; want %s", text, a, a.Loopback(), err, want)
		}
	}
	for _, text := range []string{"", "host", "http://x:1", "x:0", "x:99999", "x:y", "unix:"} {
		if a, err := ParseAddress(text); err == nil {
			t.Errorf("%q is %v, want an error", text, a)
		}
	}
	if a, err := ParseAddress("192.0.2.1:1"); err != nil || a.Loopback() {
		t.Errorf("%v is the loopback, %v", a, err)
	}
}

// A command that cannot be run, or is not told the port, gets words and a hint.
func TestStartOfNoServer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, err := ParseAddress("127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "root" // others are not let into the folders above
	}
	for _, c := range []struct{ program, argument, reason, hint string }{
		{filepath.Join(dir, "missing"), "{port}", "no such file or directory: ", "check the path"},
		{file("text", "hello", 0o644), "{port}", "not executable: ", "chmod +x"},
		{file("script", "#!/no/such/interpreter\n", 0o755), "{port}", "the interpreter in the first line of ", "name the interpreter"},
		{file("elf", "\x7fELF\x02\x01\x01\x00\x00", 0o755), "{port}", "not a program for this machine: ", "build it for this one"},
		{file("ends", "#!/bin/sh\nexit 3\n", 0o755), "{port}", "it ended with exit status 3", "by hand"},
		{file("unaddressed", "#!/bin/sh\nexit 3\n", 0o755), "4000", "it ended with exit status 3", "has no {port} in it"},
		{file("mute", "#!/bin/sh\nexec sleep 100\n", 0o755), "4000", "it runs, but nothing listens", "has no {port} in it"},
	} {
		_, err := Open(t.Context(), Command{Args: []string{c.program, c.argument}, Address: a, User: user, Start: time.Second})
		var in *StartError
		if !errors.As(err, &in) || !strings.Contains(in.Reason, c.reason) || !strings.Contains(in.Hint, c.hint) {
			t.Errorf("%s: %+v, want %q and %q", c.program, err, c.reason, c.hint)
			if in != nil {
				t.Logf("hint %q", in.Hint)
			}
		}
	}
}
