package netproto

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/servertest"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// realTarget is a target of a real server with its example model.
func realTarget(t *testing.T, s servertest.Server) Target {
	t.Helper()
	s.Require(t)
	m, err := model.Load("../examples/net/" + s.Model + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:{port}"
	if s.Network == "udp" {
		address = "udp://" + address
	}
	target := Target{Address: address, Command: s.Command(t, servertest.Folder(t)), Model: m, Keep: m.Connection.Keep}
	if s.Root {
		target.User = "root"
	}
	return target
}

// reached collects what the testcases of a campaign have reached.
type reached []teasel.FeatureSet

func (r *reached) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded {
		*r = append(*r, e.Entry.Features)
	}
	return nil
}

// Servers that are in daily use take some thousand mutants without a finding: whatever is reported here is most likely ours.
// The states of their models are reached, and nothing of them is left behind.
func TestRealServersGiveNoFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: campaigns of some seconds each")
	}
	folder := servertest.Folder(t) // one, since the tests that share it run side by side
	t.Setenv("TMPDIR", folder)
	t.Run("campaigns", func(t *testing.T) { realCampaigns(t, folder) })
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left behind: %s", e.Name())
	}
}

func realCampaigns(t *testing.T, folder string) {
	for _, test := range []struct {
		server string
		runs   uint64
	}{{"mosquitto", 1500}, {"dnsmasq", 1500}, {"redis", 1500}, {"vsftpd", 600}, {"libcoap", 1500}, {"kamailio", 1500}, {"aiosmtpd", 300}, {"tftpd-hpa", 150},
		{"nginx", 1500}, {"snmpd", 1500}, {"chrony", 1500}, {"zeroconf", 600}} {
		t.Run(test.server, func(t *testing.T) {
			t.Parallel()
			target := realTarget(t, servertest.Find(t, test.server))
			mark := "TEASEL_TEST_MARK=" + filepath.Join(folder, test.server)
			target.Env = []string{mark}
			var got reached
			c := Campaign(target, &dialogue.Mutator{Model: target.Model})
			c.Seed, c.Runs, c.Reporters = 1, test.runs, []teasel.Reporter{&got}
			for _, s := range target.Seeds() {
				c.Seeds = append(c.Seeds, s.Input)
			}
			began := time.Now()
			sum, err := c.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range append(sum.Findings, sum.Unconfirmed...) {
				t.Errorf("%s %s, %d of %d times: %s\n%s", f.Rule, f.Subject, f.Stable, f.Tries, f.Message, f.Detail)
			}
			if sum.Executions < test.runs || sum.Stopped != "runs" {
				t.Errorf("%d dialogues were executed, stopped by %q", sum.Executions, sum.Stopped)
			}
			if sum.Corpus == 0 {
				t.Errorf("nothing was kept of %d seeds and %d dialogues", len(c.Seeds), sum.Executions)
			}
			states := 0
			for _, s := range States(target.Model, got) {
				if s.Times > 0 {
					states++
				}
			}
			if all := len(target.Model.States); all > 1 && states < 2 {
				t.Errorf("%d of %d states were reached", states, all)
			}
			leavesNothing(t, mark)
			t.Logf("%d dialogues in %v, %d testcases, %d of %d states", sum.Executions, time.Since(began).Round(time.Millisecond), sum.Corpus, states, len(target.Model.States))
		})
	}
}

// leavesNothing looks for processes that have a variable in their environment.
func leavesNothing(t *testing.T, mark string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if environ, err := os.ReadFile(file); err == nil && strings.Contains(string(environ), mark) { // or it has ended meanwhile
			t.Errorf("left behind: the process of %s", file)
		}
	}
}

// A server that answers from another port is heard, and what comes after goes there, by the program that shows a finding
// without teasel as well.
func TestFollowsToAnotherPort(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	target := realTarget(t, servertest.Find(t, "tftpd-hpa"))
	e := open(t, target)
	for _, seed := range target.Seeds() {
		if seed.Name != "write" {
			continue
		}
		if err := e.Exec(context.Background(), seed.Input, &teasel.Observation{}); err != nil {
			t.Fatal(err)
		}
		var answers []string
		for _, turn := range e.evidence.Talk {
			if len(turn.Received) > 0 {
				answers = append(answers, string(turn.Received))
			}
		}
		if want := []string{"\x00\x04\x00\x00", "\x00\x04\x00\x01"}; !slices.Equal(answers, want) {
			t.Errorf("the answers are %q, want %q", answers, want)
		}
		text, err := target.Script(seed.Input, "a transfer", 1, "")
		if err != nil {
			t.Fatal(err)
		}
		script := filepath.Join(t.TempDir(), "repro.py")
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(strings.TrimPrefix(e.address.String(), "udp://"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", script, host, port).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `< b'\x00\x04\x00\x01'`) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
