package netproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// fixedTarget is a target of the planted server whose port is fixed, and a listener that has it on this machine.
func fixedTarget(t *testing.T, program string) (Target, net.Listener) {
	t.Helper()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	port := strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)
	target := plantedTarget(t, program)
	target.Address, target.Command, target.Timeout = "127.0.0.1:"+port, []string{program, port}, 200*time.Millisecond
	return target, busy
}

func needNamespaces(t *testing.T) {
	t.Helper()
	if err := conn.NamespaceAllowed(); err != nil {
		t.Skipf("skipped: %v", err)
	}
}

// nothingLeft complains of threads of ours in another network namespace, and of processes that we have started.
func nothingLeft(t *testing.T) {
	t.Helper()
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	threads, _ := filepath.Glob("/proc/self/task/*/ns/net")
	for _, thread := range threads {
		if to, err := os.Readlink(thread); err == nil && to != home {
			t.Errorf("%s is still %s", thread, to)
		}
	}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(proc.MarkerPrefix())) {
			t.Errorf("a process is left: %s", file)
		}
	}
}

// share notes how many executions each worker has made.
type share map[int]uint64

func (s share) Report(e teasel.Event) error {
	for _, w := range e.Workers {
		s[w.Number] = w.Executions
	}
	return nil
}

// sideBySide runs a campaign of two workers and looks whether both have fuzzed and left nothing.
func sideBySide(t *testing.T, target Target, stop int, runs uint64) teasel.Summary {
	t.Helper()
	c, executions := Campaign(target, &dialogue.Mutator{Model: target.Model}), share{}
	for _, s := range target.Seeds() {
		c.Seeds = append(c.Seeds, s.Input)
	}
	c.Seed, c.StopAfter, c.Runs, c.Workers, c.Reporters = 1, stop, runs, 2, []teasel.Reporter{executions}
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t)
	if len(executions) != 2 || executions[0] == 0 || executions[1] == 0 {
		t.Errorf("executions by worker: %v", executions)
	}
	return sum
}

// Two workers fuzz a server with a fixed port, which another program has on this machine. What they find is reproduced on one
// server without a namespace.
func TestNamespaceCampaign(t *testing.T) {
	needNamespaces(t)
	target, busy := fixedTarget(t, planted(t, "afl-clang-fast"))
	target.Namespace = true
	about, err := target.Inspect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	target.Ready = about.Ready
	if !about.Own || !about.Namespace || len(about.Warnings) > 0 || !strings.Contains(about.String(), "network namespace") {
		t.Errorf("the server is %v, %+v", about, about)
	}
	sum := sideBySide(t, target, 1, 200_000)
	if len(sum.Findings) == 0 || !sum.Findings[0].Confirmed() {
		t.Fatalf("%d findings after %d executions:%s", len(sum.Findings), sum.Executions, brief(sum.Findings))
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	target.Namespace, target.Thorough, target.Ready = false, true, nil
	in, err := (dialogue.Codec{Model: target.Model}).Decode(sum.Findings[0].Input)
	if err != nil {
		t.Fatal(err)
	}
	fs, _, err := teasel.Replay(context.Background(), open(t, target), Detectors(), in)
	if err != nil || len(fs) != 1 || fs[0].ID() != sum.Findings[0].ID() {
		t.Errorf("without a namespace: %+v, %v; want %s", fs, err, sum.Findings[0].ID())
	}
}

// Real servers, over TCP and UDP, do in a namespace what they do elsewhere.
func TestNamespaceServers(t *testing.T) {
	needNamespaces(t)
	for _, tt := range []struct{ model, network, program, arguments string }{
		{"mqtt", "tcp", "mosquitto", "-p PORT"},
		{"redis", "tcp", "redis-server", "--port PORT --bind 127.0.0.1 --save --appendonly no"},
		{"dns", "udp", "dnsmasq", "-k -C /dev/null -p PORT --listen-address 127.0.0.1 --bind-interfaces --no-resolv --no-hosts --user=nobody"},
	} {
		t.Run(tt.program, func(t *testing.T) {
			path, err := exec.LookPath(tt.program)
			if err != nil {
				if path, err = exec.LookPath("/usr/sbin/" + tt.program); err != nil && os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
					t.Fatal(err)
				}
			}
			if err != nil {
				t.Skipf("skipped: %v: scripts/setup-test.sh installs it", err)
			}
			m, err := model.Load("../examples/net/" + tt.model + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			target, _ := fixedTarget(t, path)
			port := target.Command[1]
			target.Address, target.Model, target.Namespace = tt.network+"://127.0.0.1:"+port, m, true
			target.Command = append([]string{path}, strings.Fields(strings.ReplaceAll(tt.arguments, "PORT", port))...)
			sum := sideBySide(t, target, 0, 3000)
			if sum.Features == 0 {
				t.Errorf("no feature in %d executions", sum.Executions)
			}
		})
	}
}

// The user's commands reach the server in its namespace.
func TestNamespaceCommands(t *testing.T) {
	needNamespaces(t)
	target, busy := fixedTarget(t, planted(t, "clang", "-DCLEAN"))
	if err := busy.Close(); err != nil { // so that the commands do not reach it in place of the server
		t.Fatal(err)
	}
	reach := func(port string) []string { return []string{"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + port} }
	target.Model, target.Namespace, target.Thorough = nil, true, true
	for _, tt := range []struct {
		port, rule string
	}{{target.Command[1], ""}, {"1", judge.RuleHealth}} {
		target.Health, target.Reset = reach(target.Command[1]), reach(target.Command[1])
		e := open(t, target)
		e.target.Health = reach(tt.port)
		fs, o, err := teasel.Replay(context.Background(), e, Detectors(), dialogue.Raw(request(1, "me")))
		if err != nil {
			t.Fatal(err)
		}
		if tt.rule == "" && len(fs) > 0 || tt.rule != "" && (len(fs) != 1 || fs[0].Rule != tt.rule) {
			t.Errorf("port %s: %v, %+v, want %q", tt.port, o.Exit, fs, tt.rule)
		}
		if e.down = false; e.renew(context.Background()) != nil {
			t.Error("the command that resets the server does not reach it")
		}
	}
}

// Where each worker cannot have a server, the reason is reported, and what would help.
func TestAlone(t *testing.T) {
	grant := func() error { return nil }
	refuse := func() error { return &StartError{Reason: "refused", Hint: "ask"} }
	for _, tt := range []struct {
		address string
		fixed   bool
		allowed func() error
		want    []string // of the warning; none: there is none
	}{
		{"127.0.0.1:{port}", false, refuse, nil},
		{"stdio", false, refuse, nil},
		{"unix:{socket}", false, refuse, nil},
		{"tls://localhost:7", true, grant, nil},
		{"127.0.0.1:7", true, refuse, []string{"names its port, and refused", "write {port}", "; or ask"}},
		{"udp://[::1]:7", true, refuse, []string{"names its port, and refused", "write {port}", "; or ask"}},
		{"127.0.0.1:7", true, func() error { return errors.New("doing it: no") }, []string{"and doing it: no", "write {port} for the port)"}},
		{"0.0.0.0:7", true, grant, []string{"0.0.0.0 is not on the loopback interface", "127.0.0.1"}},
		{"unix:/tmp/x", true, grant, []string{"names its socket", "write {socket}"}},
	} {
		got, fixed, err := Target{Address: tt.address, Command: []string{"server"}}.alone(tt.allowed)
		if err != nil || fixed != tt.fixed || (got == "") != (tt.want == nil) {
			t.Errorf("%s: %q, fixed %v, %v", tt.address, got, fixed, err)
		}
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q, want %q in it", tt.address, got, w)
			}
		}
	}
	if got, _, _ := (Target{Address: "127.0.0.1:7"}).alone(refuse); got != "" {
		t.Errorf("of a server that is not ours: %q", got)
	}
}

// A server that cannot have a namespace is inspected on the network of this machine.
func TestInspectRefused(t *testing.T) {
	target, busy := fixedTarget(t, planted(t, "clang"))
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	target.Namespace = true
	about, err := target.inspect(context.Background(), func() error { return fmt.Errorf("refused") })
	if err != nil || about.Own || about.Namespace || len(about.Warnings) != 1 || strings.Contains(about.String(), "namespace") {
		t.Errorf("the server is %v, %+v, %v", about, about, err)
	}
	defer about.Ready.Close()
}
