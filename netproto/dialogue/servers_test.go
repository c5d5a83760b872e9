package dialogue

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// serverTest is a real server, and how its answers to the seeds of a model are judged.
type serverTest struct {
	program string
	model   string
	network string
	start   func(t *testing.T, dir string, port int) *exec.Cmd
	refused func(r *Response) bool // the server did not understand what was sent
}

func servers() []serverTest {
	return []serverTest{
		{"mosquitto", "mqtt", "tcp", startMosquitto, func(r *Response) bool { return r.Name == "connack" && r.Code != "accepted" }},
		{"dnsmasq", "dns", "udp", startDnsmasq, func(r *Response) bool { return r.Code == "format_error" }},
		{"redis-server", "redis", "tcp", func(t *testing.T, dir string, port int) *exec.Cmd {
			return exec.Command("redis-server", "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
		}, func(r *Response) bool { return r.Code == "-" }},
		{"vsftpd", "ftp", "tcp", startVsftpd, func(r *Response) bool { return r.Code == "500" || r.Code == "501" }},
	}
}

func config(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func startMosquitto(t *testing.T, dir string, port int) *exec.Cmd {
	return exec.Command("mosquitto", "-c", config(t, dir, fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest none\n", port)))
}

func startDnsmasq(t *testing.T, dir string, port int) *exec.Cmd {
	return exec.Command("dnsmasq", "-k", "-C", config(t, dir, fmt.Sprintf(
		"port=%d\nlisten-address=127.0.0.1\nbind-interfaces\nno-resolv\nno-hosts\naddress=/test.local/10.0.0.1\npid-file=%s/pid\nuser=nobody\n", port, dir)))
}

func startVsftpd(t *testing.T, dir string, port int) *exec.Cmd {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return exec.Command("vsftpd", config(t, dir, fmt.Sprintf("listen=YES\nlisten_ipv6=NO\nlisten_address=127.0.0.1\nlisten_port=%d\nbackground=NO\n"+
		"anonymous_enable=YES\nlocal_enable=NO\nanon_root=%s\nsecure_chroot_dir=%s\nseccomp_sandbox=NO\nxferlog_enable=NO\n", port, root, root)))
}

// freePort returns a port of the loopback address that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// The seeds of the example models are dialogues that real servers accept.
func TestRealServersAcceptTheSeeds(t *testing.T) {
	for _, test := range servers() {
		t.Run(test.program, func(t *testing.T) {
			if _, err := exec.LookPath(test.program); err != nil {
				if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
					t.Fatal(err)
				}
				t.Skipf("%v: scripts/setup-test.sh installs it", err)
			}
			m, err := model.Load("../../examples/net/" + test.model + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			address := test.run(t)
			for i, seed := range Seeds(m) {
				test.converse(t, m, seed, m.Seeds[i].Name, address)
			}
		})
	}
}

// Mutants whose derived fields are right are what a server looks at closely: most of them must not be turned away at the
// door. Accepted is a message after which mosquitto keeps the connection, as it does until a packet is malformed.
func TestMosquittoAcceptsMutants(t *testing.T) {
	test := servers()[0]
	if _, err := exec.LookPath(test.program); err != nil {
		t.Skipf("%v: scripts/setup-test.sh installs it", err)
	}
	m, err := model.Load("../../examples/net/mqtt.yaml")
	if err != nil {
		t.Fatal(err)
	}
	address := test.run(t)
	mut := &Mutator{Model: m, Mode: Structure, OrderShare: -1, Weights: map[Operator]int{OpLie: 0, OpStale: 0}}
	seeds := Seeds(m)
	sent, accepted := 0, 0
	for i := range 600 {
		d := mut.Mutate(random(uint64(i)), nil, seeds[i%len(seeds)])
		mendAll(d)
		n, ok := accepts(t, m, d, address)
		sent, accepted = sent+n, accepted+ok
	}
	t.Logf("mosquitto accepts %d of %d messages", accepted, sent)
	if accepted*100 < 60*sent {
		t.Errorf("mosquitto accepts %d of %d messages, expected are 60 %%", accepted, sent)
	}
}

func mendAll(d *Dialogue) {
	for i := range d.Messages {
		mend(&d.Messages[i].Tree)
	}
}

// accepts sends a dialogue and returns how many messages were sent, and after how many the connection was still there. The
// broker ends it by itself after a disconnect, which therefore does not count.
func accepts(t *testing.T, m *model.Model, d *Dialogue, address string) (sent, accepted int) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := NewSession(m)
	s.Begin(d)
	for i := range d.Messages {
		data := s.Render(i)
		if len(data) == 0 || data[0]>>4 == 14 {
			continue
		}
		sent++
		if _, err := c.Write(data); err != nil {
			return sent, accepted
		}
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var chunk [65536]byte
		if _, err := c.Read(chunk[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return sent, accepted
		}
		accepted++
	}
	return sent, accepted
}

// run starts the server and returns where it listens. The server ends with the test.
func (test *serverTest) run(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "teasel-server")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the server may run as somebody else
		t.Fatal(err)
	}
	port := freePort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := test.start(t, dir, port)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Dir = &output, &output, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 { // vsftpd has a process for each connection, which it waits for
			if children, err := proc.Children(cmd.Process.Pid); err != nil || len(children) == 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", test.program, output.String())
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for range 200 { // each attempt fails at once until the server listens; dnsmasq listens on TCP too
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen on %s", test.program, address)
	return ""
}

// converse runs one dialogue.
func (test *serverTest) converse(t *testing.T, m *model.Model, d *Dialogue, name, address string) {
	t.Helper()
	c, err := net.Dial(test.network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := NewSession(m)
	s.Begin(d)
	var buf []byte
	if m.Connection.Greeting {
		if buf, err = test.receive(c, s, -1, buf, name, t); err != nil {
			t.Fatalf("%s: greeting: %v", name, err)
		}
	}
	for i := range d.Messages {
		if _, err := c.Write(s.Render(i)); err != nil {
			t.Fatalf("%s[%d]: %v", name, i, err)
		}
		before := s.State()
		buf, err = test.receive(c, s, i, buf, name, t)
		silent := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case silent:
			if r := s.Silent(i); !r.Expected {
				t.Errorf("%s[%d] in state %s: %s", name, i, before, r.Problem)
			}
		case errors.Is(err, io.EOF) && i == len(d.Messages)-1:
		case err != nil:
			t.Fatalf("%s[%d]: the server ended the connection: %v", name, i, err)
		}
	}
}

// receive takes all that the server answers until it is silent, and returns what is left over. It is an error if there was nothing.
func (test *serverTest) receive(c net.Conn, s *Session, i int, buf []byte, name string, t *testing.T) ([]byte, error) {
	t.Helper()
	got := false
	for {
		patience := 2 * time.Second
		if got || i >= 0 && s.transition(i) != nil && len(s.transition(i).Expect) == 0 {
			patience = 50 * time.Millisecond
		}
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return buf, err
		}
		var chunk [65536]byte
		n, err := c.Read(chunk[:])
		buf = append(buf, chunk[:n]...)
		for len(buf) > 0 {
			n, complete := len(buf), true
			if test.network != "udp" {
				n, complete = s.Frame(buf, err != nil)
			}
			if !complete {
				break
			}
			r := s.Receive(i, buf[:n])
			got, buf = true, buf[n:]
			if r.Name == "" || !r.Expected || test.refused(&r) {
				t.Errorf("%s[%d]: %+v", name, i, r)
			}
		}
		if err != nil {
			if got && errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			return buf, err
		}
	}
}
