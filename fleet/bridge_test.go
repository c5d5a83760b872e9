package fleet_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
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
	helper.pulls("0123456789abcdef") // and is asked to confirm what the first one had no time for
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
		t.Errorf("its latest figures are %+v, %v", ms, err)
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
