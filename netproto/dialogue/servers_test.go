package dialogue

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/servertest"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// serverTest is a conversation with a real server, and how its answers to the seeds of a model are judged.
type serverTest struct {
	servertest.Server
	refused func(sent string, r *Response) bool // the server did not understand what was sent
}

// refusals say by server which answers to a message mean that the server did not understand it, or would not do what it says.
var refusals = map[string]func(sent string, r *Response) bool{
	"mosquitto": func(_ string, r *Response) bool { return r.Name == "connack" && r.Code != "accepted" },
	"dnsmasq":   func(_ string, r *Response) bool { return r.Code == "format_error" },
	"redis":     func(_ string, r *Response) bool { return r.Code == "-" },
	"vsftpd":    func(_ string, r *Response) bool { return r.Code == "500" || r.Code == "501" },
	"aiosmtpd":  func(_ string, r *Response) bool { return r.Code >= "400" },
	"kamailio":  func(_ string, r *Response) bool { return r.Code != "200" },
	"libcoap": func(sent string, r *Response) bool {
		return (sent == "ping") != (r.Name == "reset") || r.Code >= "400" && r.Code != "404"
	},
	"tftpd-hpa": func(_ string, r *Response) bool { return r.Name == "error" },
	"nginx":     func(_ string, r *Response) bool { return r.Code == "400" || r.Code >= "500" },
	"snmpd":     func(_ string, r *Response) bool { return r.Code != "0" },
	"chrony":    func(_ string, r *Response) bool { return r.Name != "time" },
	"zeroconf":  func(_ string, r *Response) bool { return r.Code != "no_error" },
	"pymodbus":  func(_ string, r *Response) bool { return r.Name == "exception" },
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
	for _, server := range servertest.All() {
		test := serverTest{server, refusals[server.Name]}
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			test.Require(t)
			m, err := model.Load("../../examples/net/" + test.Model + ".yaml")
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
	test := serverTest{Server: servertest.Find(t, "mosquitto")}
	test.Require(t)
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
	dir := servertest.Folder(t)
	if err := os.Chmod(dir, 0o777); err != nil { // the server may run as somebody else
		t.Fatal(err)
	}
	port := freePort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	args := servertest.Fill(test.Command(t, servertest.Folder(t)), port, dir)
	cmd := exec.Command(args[0], args[1:]...)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Dir = &output, &output, dir
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with what it has forked
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", test.Name, output.String())
		}
	})
	for range 200 {
		if listens(t, test.Network, port) {
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen on %s", test.Name, address)
	return ""
}

// listens reports whether somebody has bound a port of the loopback address.
func listens(t *testing.T, network string, port int) bool {
	t.Helper()
	state := map[string]string{"tcp": "0A", "udp": "07"}[network]
	table, err := os.ReadFile("/proc/net/" + network)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(table), fmt.Sprintf("0100007F:%04X 00000000:0000 %s", port, state))
}

// dial connects to the server. Datagrams go to the port that the last one came from, as TFTP has it.
func (test *serverTest) dial(t *testing.T, address string) net.Conn {
	t.Helper()
	if test.Network == "tcp" {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.Addr(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	return &datagrams{c, to}
}

type datagrams struct {
	*net.UDPConn
	to netip.AddrPort
}

func (d *datagrams) Write(b []byte) (int, error) { return d.WriteToUDPAddrPort(b, d.to) }

func (d *datagrams) Read(b []byte) (n int, err error) {
	n, from, err := d.ReadFromUDPAddrPort(b)
	if err == nil {
		d.to = from
	}
	return n, err
}

// converse runs one dialogue.
func (test *serverTest) converse(t *testing.T, m *model.Model, d *Dialogue, name, address string) {
	t.Helper()
	c := test.dial(t, address)
	defer c.Close()
	s := NewSession(m)
	s.Begin(d)
	var buf []byte
	var err error
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
			switch r := s.Silent(i); {
			case !r.Expected:
				t.Errorf("%s[%d] in state %s: %s", name, i, before, r.Problem)
			case before == "":
				t.Errorf("%s[%d]: there is no answer", name, i)
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
	got, sent := false, ""
	if i >= 0 {
		sent = s.in.Messages[i].Name
	}
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
			if test.Network != "udp" {
				n, complete = s.Frame(buf, err != nil)
			}
			if !complete {
				break
			}
			r := s.Receive(i, buf[:n])
			got, buf = true, buf[n:]
			if r.Name == "" || !r.Expected || test.refused(sent, &r) {
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
