package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// notes keeps the notes that a bridge gives.
type notes struct {
	mu    sync.Mutex
	texts []string
}

func (n *notes) Report(e teasel.Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, e.Text)
	return nil
}

func (n *notes) have(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(strings.Join(n.texts, "\n"), text)
}

func entry(key string, fs ...teasel.Feature) teasel.Entry {
	return teasel.Entry{Key: key, Data: []byte(key), Runs: 1, Features: teasel.NewFeatureSet(fs...)}
}

// member is a bridge of a machine without a campaign: the test says what happens.
type member struct {
	*fleet.Bridge
	notes *notes
	t     *testing.T
}

func join(t *testing.T, l *fleet.Link, o fleet.Options) member {
	t.Helper()
	n := &notes{}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Meta.Kind == "" {
		o.Meta = corpus.Meta{Version: "test", Kind: "maze", Name: "maze"}
	}
	o.Every, o.Notes = 20*time.Millisecond, n
	if o.Hold == 0 {
		o.Hold = time.Nanosecond
	}
	b, err := fleet.NewBridge(l, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Start()
	return member{b, n, t}
}

func (m member) report(e teasel.Event) {
	m.t.Helper()
	if err := m.Report(e); err != nil {
		m.t.Fatal(err)
	}
}

func (m member) close() (entries, findings int) {
	m.t.Helper()
	entries, findings, err := m.Close("runs")
	if err != nil {
		m.t.Fatal(err)
	}
	return entries, findings
}

// pulls calls Pull until it has brought all of some inputs; it must bring nothing else.
func (m member) pulls(want ...string) {
	m.t.Helper()
	missing := map[string]bool{}
	for _, w := range want {
		missing[w] = true
	}
	until(m.t, fmt.Sprintf("%q are there", want), func() bool {
		in, err := m.Pull(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		for _, data := range in.Inputs {
			if !missing[string(data)] {
				m.t.Errorf("%q was brought, and %q were expected", data, want)
			}
			delete(missing, string(data))
		}
		return len(missing) == 0
	})
}

// What is evicted while it is held is never sent, and what reaches nothing that the hub's testcases do not reach neither; of others, what
// reaches nothing new here is passed over, unless it is of another build, which is said once.
func TestBridgeShares(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	watch := dial(t, config(s, "watch"))
	if _, err := watch.Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys := func() (keys string) {
		es, _, _, err := watch.Pull(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			keys += e.Key + " "
		}
		return keys
	}
	held := join(t, dial(t, config(s, "m0")), fleet.Options{Hold: time.Hour})
	held.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("gone", 50)})
	held.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("stays", 51)})
	held.report(teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: "gone"}})

	m1dir := t.TempDir()
	m1 := join(t, dial(t, config(s, "m1")), fleet.Options{Dir: m1dir})
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("a", 1, 2)})
	until(t, "a is on the hub", func() bool { return keys() == "a " })
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("b", 2)})
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("c", 3)})
	until(t, "c is on the hub, and b is not", func() bool { return keys() == "a c " })

	known := &teasel.Snapshot{Entries: []teasel.Entry{entry("mine", 1, 2)}}
	m2 := join(t, dial(t, config(s, "m2")), fleet.Options{Existing: known})
	m2.pulls("c") // it reaches what a does

	other := join(t, dial(t, config(s, "m3")), fleet.Options{Existing: known, Build: "another"})
	other.pulls("a", "c")
	other.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("d", 7)})
	m2.pulls("d")
	m2.report(teasel.Event{Kind: teasel.EventProgress})
	if n := m2.notes.have("another build"); n != 1 {
		t.Errorf("m2 has said %d times that there is another build, want once: %q", n, m2.notes.texts)
	}
	for _, m := range []member{m1, m2, other} {
		if e, f := m.close(); e+f > 0 {
			t.Errorf("%d testcases and %d findings are left", e, f)
		}
	}
	again := join(t, dial(t, config(s, "m1")), fleet.Options{Dir: m1dir})
	until(t, "m1 says again what it has sent, when it goes on", func() bool {
		ms, err := watch.Machines(t.Context(), "m1")
		return err == nil && len(ms) == 1 && ms[0].Ended == "" && ms[0].Sent == 2
	})
	again.close()
	if strings.Contains(keys(), "stays") {
		t.Error("a testcase was sent before its time")
	}
	if held.close(); !strings.Contains(keys(), "stays") || strings.Contains(keys(), "gone") {
		t.Errorf("at the end there is %q", keys())
	}
}

// A hub that has lost what it had, or has other streams, is sent everything again; one that had no time to confirm a finding gets help.
func TestBridgeCatchesUp(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	dir := filepath.Join(t.TempDir(), "c")
	d, err := corpus.Create(dir, corpus.Meta{Kind: "maze", Name: "maze"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m := join(t, dial(t, config(s, "m1")), fleet.Options{Dir: dir})
	both := func(e teasel.Event) {
		if err := d.Report(e); err != nil {
			t.Fatal(err)
		}
		m.report(e)
	}
	both(teasel.Event{Kind: teasel.EventAdded, Entry: entry("0123456789abcdef", 1)})
	both(teasel.Event{Kind: teasel.EventFound, Finding: find("a", 3, 9).Finding})
	both(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: func() teasel.Finding { f := find("b", 0, 7).Finding; f.Tries = 0; return f }()})
	watch := dial(t, config(s, "m2"))
	all := func() bool {
		if _, err := watch.Streams(ctx); err != nil {
			return false
		}
		best, err := watch.Best(ctx)
		if err != nil || len(best) != 2 {
			return false
		}
		es, _, _, err := watch.Pull(ctx, 0, 10)
		return err == nil && len(es) == 1
	}
	until(t, "the hub has all", all)
	helper := join(t, dial(t, config(s, "m3")), fleet.Options{})
	helper.pulls("0123456789abcdef", "xxxxxxx")
	js := admin(t, s.ClientURL())
	for _, name := range []string{"FINDINGS", "CONTROL", "FIGURES", "ENTRIES"} {
		if err := js.DeleteStream(ctx, "TEASEL_maze_"+name); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the new streams have all", all)
	helper.close()
	m.close()
	again := join(t, dial(t, config(s, "m1")), fleet.Options{Dir: dir})
	if e, f := again.close(); e+f > 0 {
		t.Errorf("a second run has %d testcases and %d findings to send", e, f)
	}
	ms, err := watch.Machines(ctx, "m1")
	if err != nil || len(ms) != 1 || ms[0].Sent != 1 || ms[0].Ended != "runs" {
		t.Errorf("its last word is %+v, %v", ms, err)
	}
}

// A hub that refuses, because it is full, is reported once, gets what it refused when there is room, and that is reported too.
func TestBridgeFullHub(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	js := admin(t, s.ClientURL())
	if err := (fleet.Layout{MaxBytes: 4 << 10}).Make(ctx, js, "maze"); err != nil {
		t.Fatal(err)
	}
	m := join(t, dial(t, config(s, "m1")), fleet.Options{})
	big := entry("big", 1)
	big.Data = make([]byte, 8<<10)
	m.report(teasel.Event{Kind: teasel.EventAdded, Entry: big})
	said := func(text string) func() bool {
		return func() bool {
			m.report(teasel.Event{Kind: teasel.EventProgress})
			return m.notes.have(text) > 0
		}
	}
	until(t, "it is said that the hub is full", said("no room"))
	m.report(teasel.Event{Kind: teasel.EventFound, Finding: find("a", 3, 9).Finding})
	watch := dial(t, config(s, "m2"))
	until(t, "a finding is taken nevertheless", func() bool { best, err := watch.Best(ctx); return err == nil && len(best) == 1 })
	if err := (fleet.Layout{MaxBytes: 1 << 20}).Make(ctx, js, "maze"); err != nil {
		t.Fatal(err)
	}
	until(t, "it is said that the hub takes it", said("takes what is sent again"))
	if e, f := m.close(); e+f > 0 {
		t.Errorf("%d testcases and %d findings are left", e, f)
	}
	if n := m.notes.have("no room"); n > 1 {
		t.Errorf("it was said %d times that there is no room", n)
	}
}

// A machine whose directory is new, or another one with its name, takes what the hub has of that name: runs of CI may share credentials.
func TestBridgeSameNameShares(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	first := join(t, dial(t, config(s, "m1")), fleet.Options{})
	second := join(t, dial(t, config(s, "m1")), fleet.Options{})
	first.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("a", 1)})
	second.pulls("a")
	if e, f := first.close(); e+f > 0 {
		t.Errorf("%d testcases and %d findings are left", e, f)
	}
	second.close()
	later := join(t, dial(t, config(s, "m1")), fleet.Options{})
	later.pulls("a")
	later.close()
	if in, err := first.Pull(t.Context()); err != nil || len(in.Inputs) > 0 {
		t.Errorf("it got its own back: %q, %v", in.Inputs, err)
	}
}

func TestBridgeTwoOfOneName(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	m := join(t, dial(t, config(s, "m1")), fleet.Options{})
	twin := join(t, dial(t, config(s, "m1")), fleet.Options{})
	until(t, "one of them says so", func() bool {
		m.report(teasel.Event{Kind: teasel.EventProgress})
		twin.report(teasel.Event{Kind: teasel.EventProgress})
		return m.notes.have("two machines have the name m1")+twin.notes.have("two machines have the name m1") > 0
	})
	m.close()
	twin.close()
}

func TestBridgeObeys(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	paused, stopped := make(chan bool, 9), make(chan string, 9)
	m := join(t, dial(t, config(s, "m1")), fleet.Options{Pause: func(p bool) { paused <- p }, Stop: func(cause string) { stopped <- cause }})
	boss := dial(t, config(s, "boss"))
	if _, err := boss.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	give := func(o fleet.Order) {
		if err := boss.Give(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	give(fleet.Order{State: fleet.Paused})
	if !<-paused {
		t.Error("it goes on")
	}
	give(fleet.Order{State: fleet.Running, Runs: 1000})
	if <-paused {
		t.Error("it pauses again")
	}
	m.report(teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Executions: 1001}})
	if cause := <-stopped; cause != "fleet" {
		t.Errorf("stopped because of %q", cause)
	}
	m.close()
}

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

// end interrupts the machines and waits for them.
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

// Machines in processes of their own, which are killed at random moments as their hub is, come to have all of each other's finds, and the hub
// has every finding of theirs. FLEET_KILLS is how often; scripts/fleet-kills.sh does it many times.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 4
	if text := os.Getenv("FLEET_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	machines := 3
	if text := os.Getenv("FLEET_MACHINES"); text != "" {
		var err error
		if machines, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
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
	entries, findings := f.acknowledged()
	onHub := map[string]bool{}
	for at := uint64(0); ; {
		es, last, n, err := watch.Pull(t.Context(), at, 500)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		for _, e := range es {
			if onHub[e.Key] {
				t.Errorf("testcase %s is there twice", e.Key)
			}
			onHub[e.Key] = true
		}
		at = last
	}
	best, err := watch.Best(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]bool{}
	for _, x := range best {
		stored[x.Finding.ID()] = true
	}
	for id := range findings {
		if !stored[id] {
			t.Errorf("finding %s was acknowledged, and the hub does not have it", id)
		}
	}
	for i := range f.machines {
		_, have := f.seen(i)
		for id := range have {
			if !stored[id] {
				t.Errorf("machine %d has finding %s, and the hub does not", i, id)
			}
		}
	}
	missing := 0
	for key := range entries {
		if !onHub[key] {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d testcases were acknowledged, and the hub does not have them", missing)
	}
	t.Logf("%d kills, %d of them of the hub: %d testcases and %d findings on the hub", kills, hubs, len(onHub), len(stored))
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

// A cluster of three goes on without its leader, and nothing that it has acknowledged is lost.
func TestCluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var servers []*server.Server
	var urls []string
	routes := ""
	for i := range 3 {
		s := startHub(t, func(o *server.Options) {
			o.ServerName = fmt.Sprint("n", i)
			o.Cluster = server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: server.RANDOM_PORT}
			o.Routes = server.RoutesFromStr(routes)
			o.SyncAlways = false // three have it
		})
		if i == 0 {
			routes = fmt.Sprint("nats://", s.ClusterAddr())
		}
		servers, urls = append(servers, s), append(urls, s.ClientURL())
	}
	js := admin(t, strings.Join(urls, ","))
	until(t, "the streams are made", func() bool {
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return (fleet.Layout{Replicas: 3}).Make(short, js, "maze") == nil
	})
	m := join(t, dial(t, fleet.Config{URL: strings.Join(urls, ","), Campaign: "maze", Machine: "m1"}), fleet.Options{})
	add := func(from, to int) {
		for i := from; i < to; i++ {
			m.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry(fmt.Sprint("k", i), teasel.Feature(i+1))})
		}
		m.report(teasel.Event{Kind: teasel.EventFound, Finding: find(fmt.Sprint(from), 3, 5).Finding})
	}
	stored := func() (n uint64, leader string) {
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		st, err := js.Stream(short, "TEASEL_maze_ENTRIES")
		if err != nil || st.CachedInfo().Cluster == nil {
			return 0, ""
		}
		return st.CachedInfo().State.Msgs, st.CachedInfo().Cluster.Leader
	}
	add(0, 100)
	leader := ""
	until(t, "some are stored", func() bool { n, by := stored(); leader = by; return n > 10 && by != "" })
	add(100, 200)
	for i, s := range servers {
		if fmt.Sprint("n", i) == leader {
			s.Shutdown()
		}
	}
	add(200, 300)
	until(t, "all are stored, by another leader", func() bool { n, by := stored(); return n == 300 && by != leader })
	if e, f := m.close(); e+f > 0 {
		t.Errorf("%d testcases and %d findings are left", e, f)
	}
}
