package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// process is a hub or a machine in a process of its own.
func process(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), env...)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// farm is a hub and machines, each a process with a directory of its own.
type farm struct {
	t        *testing.T
	dir      string
	port     int
	hub      *exec.Cmd
	machines []*exec.Cmd
}

func newFarm(t *testing.T, machines int) *farm {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &farm{t: t, dir: t.TempDir(), port: free.Addr().(*net.TCPAddr).Port, machines: make([]*exec.Cmd, machines)}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	f.startHub()
	for i := range machines {
		f.start(i)
	}
	return f
}

func (f *farm) url() string { return "nats://127.0.0.1:" + strconv.Itoa(f.port) }

func (f *farm) startHub() {
	f.hub = process(f.t, "FLEET_HUB="+filepath.Join(f.dir, "hub"), "FLEET_PORT="+strconv.Itoa(f.port))
}

func (f *farm) machineDir(i int) string { return filepath.Join(f.dir, fmt.Sprint("m", i)) }

func (f *farm) start(i int) {
	f.machines[i] = process(f.t, "FLEET_URL="+f.url(), "FLEET_DIR="+f.machineDir(i), "FLEET_MACHINE=m"+strconv.Itoa(i), "FLEET_SEED="+strconv.Itoa(i+1))
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed
}

// heard reports whether the hub has heard each of the processes that run now. One that was started a moment ago has no handler for signals yet.
func (f *farm) heard(watch *fleet.Link) bool {
	ms, err := watch.Machines(f.t.Context(), "")
	n := 0
	for i, c := range f.machines {
		if slices.ContainsFunc(ms, func(m fleet.Machine) bool {
			return m.Name == fmt.Sprint("m", i) && strings.Contains(m.Instance, fmt.Sprintf(" %d ", c.Process.Pid))
		}) {
			n++
		}
	}
	return err == nil && n == len(f.machines)
}

// end interrupts the machines and waits for them.
func (f *farm) end() {
	f.t.Helper()
	for _, c := range f.machines {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			f.t.Fatal(err)
		}
	}
	for i, c := range f.machines {
		if err := c.Wait(); err != nil {
			f.t.Errorf("machine %d: %v", i, err)
		}
	}
}

// acknowledged returns what is in the lists of all machines.
func (f *farm) acknowledged() (entries, findings map[string]bool) {
	entries, findings = map[string]bool{}, map[string]bool{}
	for i := range f.machines {
		text, err := os.ReadFile(filepath.Join(f.machineDir(i), "fleet-sent"))
		if err != nil {
			f.t.Error(err)
		}
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); len(w) == 3 && w[0] == "finding" {
				findings[w[1]] = true
			} else if len(w) == 3 && w[2] == "sent" {
				entries[w[1]] = true
			}
		}
	}
	return entries, findings
}

// seen returns the findings and features of a machine's campaign.
func (f *farm) seen(i int) (features, findings map[string]bool) {
	f.t.Helper()
	d, err := corpus.OpenReadOnly(f.machineDir(i))
	if err != nil {
		f.t.Fatal(err)
	}
	s, _, err := d.Snapshot(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	features, findings = map[string]bool{}, map[string]bool{}
	for _, e := range s.Entries {
		for x := range e.Features.All() {
			features[fmt.Sprint(x)] = true
		}
	}
	for _, x := range s.Findings {
		findings[x.ID()] = true
	}
	return features, findings
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Machines in processes of their own, which are killed at random moments as their hub is, come to have all of each other's finds, and the hub
// has every finding of theirs. FLEET_KILLS is how often; scripts/fleet-kills.sh does it many times.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, machines := number(t, "FLEET_KILLS", 4), number(t, "FLEET_MACHINES", 3)
	f := newFarm(t, machines)
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	hubs := 0
	for n := range kills {
		time.Sleep(time.Duration(r.IntN(1200)) * time.Millisecond)
		if n%2 == 0 {
			hubs++
			kill(t, f.hub)
			time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			f.startHub()
			continue
		}
		i := r.IntN(machines)
		kill(t, f.machines[i])
		f.start(i)
	}
	watch, err := fleet.Dial(fleet.Config{URL: f.url(), Campaign: "maze", Machine: "watch"})
	if watch == nil {
		t.Fatal(err)
	}
	defer watch.Close()
	// All passages are found by somebody, and everybody has them: doors are features, and a passage's end is a finding.
	until(t, "every machine reaches all", func() bool {
		for i := range f.machines {
			if _, err := os.Stat(filepath.Join(f.machineDir(i), "campaign.json")); err != nil {
				return false
			}
			if features, _ := f.seen(i); len(features) < passages*(doors-1)+1 {
				return false
			}
		}
		best, err := watch.Best(t.Context())
		return err == nil && len(best) == passages && f.heard(watch)
	})
	f.end()
	entries, findings := f.stored(watch)
	f.lostNothing(entries, findings)
	t.Logf("%d kills, %d of them of the hub: %d testcases and %d findings on the hub", kills, hubs, len(entries), len(findings))
}

// stored returns what the hub has.
func (f *farm) stored(watch *fleet.Link) (entries, findings map[string]bool) {
	f.t.Helper()
	entries, findings = map[string]bool{}, map[string]bool{}
	for at := uint64(0); ; {
		es, last, n, err := watch.Pull(f.t.Context(), at, 500)
		if err != nil {
			f.t.Fatal(err)
		}
		if n == 0 {
			break
		}
		for _, e := range es {
			if entries[e.Key] {
				f.t.Errorf("testcase %s is there twice", e.Key)
			}
			entries[e.Key] = true
		}
		at = last
	}
	best, err := watch.Best(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, x := range best {
		findings[x.Finding.ID()] = true
	}
	return entries, findings
}

// lostNothing checks that the hub has what it has acknowledged, and every finding of the machines.
func (f *farm) lostNothing(entries, findings map[string]bool) {
	f.t.Helper()
	sent, found := f.acknowledged()
	for id := range found {
		if !findings[id] {
			f.t.Errorf("finding %s was acknowledged, and the hub does not have it", id)
		}
	}
	for i := range f.machines {
		_, have := f.seen(i)
		for id := range have {
			if !findings[id] {
				f.t.Errorf("machine %d has finding %s, and the hub does not", i, id)
			}
		}
	}
	missing := 0
	for key := range sent {
		if !entries[key] {
			missing++
		}
	}
	if missing > 0 {
		f.t.Errorf("%d testcases were acknowledged, and the hub does not have them", missing)
	}
}

// A hub that is there and does not answer holds up nobody: the campaign makes as many executions as it is asked for, and what it found is sent
// when the hub answers again.
func TestStoppedHub(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 0)
	watch, err := fleet.Dial(fleet.Config{URL: f.url(), Campaign: "maze", Machine: "watch"})
	if watch == nil {
		t.Fatal(err)
	}
	defer watch.Close()
	until(t, "the hub answers", func() bool { _, err := watch.Streams(t.Context()); return err == nil })
	dir := filepath.Join(f.dir, "c")
	meta := corpus.Meta{Version: "test", Kind: "maze", Name: "maze"}
	d, err := corpus.Create(dir, meta)
	if err != nil {
		t.Fatal(err)
	}
	l := dial(t, fleet.Config{URL: f.url(), Campaign: "maze", Machine: "m1"})
	n := &notes{}
	b, err := fleet.NewBridge(l, fleet.Options{Dir: dir, Meta: meta, Hold: time.Millisecond, Every: 10 * time.Millisecond, Notes: n})
	if err != nil {
		t.Fatal(err)
	}
	b.Start()
	until(t, "the machine is known", func() bool { ms, err := watch.Machines(t.Context(), "m1"); return err == nil && len(ms) == 1 })
	if err := f.hub.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c := mazeCampaign(1)
	c.Runs, c.Reporters, c.Source = 8000, []teasel.Reporter{d, b}, b
	sum, err := c.Run(t.Context())
	if err != nil || sum.Executions < 8000 {
		t.Errorf("%d executions with a hub that is stopped, %v", sum.Executions, err)
	}
	if err := f.hub.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "the hub has all findings", func() bool { best, err := watch.Best(t.Context()); return err == nil && len(best) == len(sum.Findings) })
	if err := d.Finish(sum); err != nil {
		t.Error(err)
	}
	if _, _, err := b.Close(sum.Stopped); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
