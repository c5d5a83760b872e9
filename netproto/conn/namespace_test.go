package conn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// needNamespaces skips a test where no network namespace can be made.
func needNamespaces(t *testing.T) {
	t.Helper()
	if err := NamespaceAllowed(); err != nil {
		t.Skipf("skipped: %v", err)
	}
}

// holders returns the threads that are in a network namespace, of every process that we may look at.
func holders(id string) (threads []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/ns/net")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == id {
			threads = append(threads, link)
		}
	}
	return threads
}

// spares returns what the descriptors of the sockets that nobody has used stand for.
func (n *namespace) spares() map[string]string {
	sockets := map[string]string{}
	if n == nil {
		return nil
	}
	for _, fds := range n.spare {
		for _, fd := range fds {
			link := fmt.Sprintf("/proc/self/fd/%d", fd)
			sockets[link], _ = os.Readlink(link)
		}
	}
	return sockets
}

// gone complains of what is left of a namespace that was closed: threads, and sockets.
func (n *namespace) gone(t *testing.T, spares map[string]string) {
	t.Helper()
	if n == nil {
		return
	}
	if left := holders(n.id); len(left) > 0 {
		t.Errorf("%v are left in the server's network namespace", left)
	}
	for link, socket := range spares {
		if now, err := os.Readlink(link); err == nil && now == socket {
			t.Errorf("%s is left open, %s", link, socket)
		}
	}
}

// Two servers have the same port at the same time, which somebody else has on this machine as well.
func TestNamespaces(t *testing.T) {
	needNamespaces(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for mode, scheme := range map[string]string{"lines": "tcp", "udp": "udp", "tls": "tls"} {
		t.Run(mode, func(t *testing.T) {
			var servers []*Server
			for range 2 {
				s, err := openIn(t, true, mode, scheme+"://"+busy.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				servers = append(servers, s)
			}
			var ids []string
			for i, s := range append(servers, servers...) { // the second time each was started again
				converseWith(t, s, mode)
				if i < len(servers) {
					ids = append(ids, s.network.id)
				}
				if err := s.Restart(context.Background()); err != nil {
					t.Fatal(err)
				}
				if s.network.id != ids[i%2] {
					t.Errorf("started again it is in %s, was in %s", s.network.id, ids[i%2])
				}
			}
			if ids[0] == ids[1] || ids[0] == home || ids[1] == home {
				t.Errorf("the servers' namespaces are %v, ours is %s", ids, home)
			}
		})
	}
}

// converseWith has more connections than the namespace makes sockets at a time.
func converseWith(t *testing.T, s *Server, mode string) {
	t.Helper()
	end := "\n"
	if mode == "udp" {
		end = ""
	}
	for range spareSockets + 2 {
		c, err := s.Connect(context.Background(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if answer, state := talk(t, s, c, "hello"+end); answer != "HELLO"+end || state != Asleep {
			t.Errorf("answer %q, %v", answer, state)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The first thread of a program, whose namespace is that of the process, does not go into a namespace: it could not leave. With one
// processor it is the thread that runs the goroutine.
func TestNamespaceFirstThread(t *testing.T) {
	needNamespaces(t)
	c := exec.Command(os.Args[0], "")
	c.Env = append(os.Environ(), serverMode+"=namespaces", "GOMAXPROCS=1")
	if out, err := c.CombinedOutput(); err != nil || string(out) != "true" {
		t.Errorf("the process has stayed where it was: %s, %v", out, err)
	}
}

// A command of the user's has the server's network, and one that does not start is an error.
func TestNamespaceCommand(t *testing.T) {
	needNamespaces(t)
	s, err := openIn(t, true, "lines", "127.0.0.1:7777")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := exec.Command("readlink", "/proc/self/ns/net")
	c.Stdout = &out
	if err := errors.Join(s.Start(c), c.Wait()); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); got != s.network.id {
		t.Errorf("the command is in %s, the server in %s", got, s.network.id)
	}
	if err := s.Start(exec.Command("/nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A server that listens elsewhere in its namespace is found there.
func TestNamespaceElsewhere(t *testing.T) {
	needNamespaces(t)
	_, err := openIn(t, true, "elsewhere", "127.0.0.1:7777")
	var in *StartError
	if !errors.As(err, &in) || !strings.Contains(in.Reason, "; it listens on tcp port ") {
		t.Errorf("error %v", err)
	}
	_, err = openIn(t, true, "ends", "127.0.0.1:7777")
	if !errors.As(err, &in) || !strings.Contains(in.Hint, "--workers 1") {
		t.Errorf("error %v with hint %q", err, in.Hint)
	}
	if _, err := openIn(t, true, "lines", "192.0.2.1:7777"); !errors.As(err, &in) || !strings.Contains(in.Reason, "not on the loopback interface") {
		t.Errorf("error %v", err)
	}
}

// The tables of a namespace, which are read where the kernel does not answer over netlink, are its own.
func TestNamespaceTables(t *testing.T) {
	needNamespaces(t)
	s, err := openIn(t, true, "lines", "127.0.0.1:7777")
	if err != nil {
		t.Fatal(err)
	}
	if got := bound(s.network.file("net/tcp"), "0A"); len(got) != 1 || got[0].port != 7777 {
		t.Errorf("the table has %v", got)
	}
}

// Where there can be no namespace the reason is reported, and what would help.
func TestNamespaceRefused(t *testing.T) {
	for _, tt := range []struct {
		cause unix.Errno
		hint  string
	}{{unix.EPERM, map[bool]string{true: "--cap-add SYS_ADMIN", false: "--keep-caps"}[os.Geteuid() == 0]}, {unix.ENOSPC, "max_net_namespaces"}, {unix.EINVAL, "CONFIG_NET_NS"}} {
		_, err := newNamespace(func(int) error { return tt.cause })
		var in *StartError
		if !errors.As(err, &in) || !strings.Contains(in.Reason, tt.cause.Error()) || !strings.Contains(in.Hint, tt.hint) {
			t.Errorf("error %v with hint %q, want %q", err, in.Hint, tt.hint)
		}
	}
}
