package fleet_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/fleet"
)

// What a machine that lies has stored as the choice of what others read first holds up nobody who joins.
func TestHostileCover(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"*"}, {"k1", "*"}, {""}, {"a b"}, {">"}, {"k1.k2"}} {
		s := startHub(t)
		js := admin(t, s.ClientURL())
		first := dial(t, config(s, "m1"))
		streams, err := first.Streams(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"k1", "k2"} {
			if _, err := first.Push(t.Context(), &fleet.Entry{Key: key, Machine: "m1", Build: "other", Features: teasel.NewFeatureSet(1), Data: []byte(key)}); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.Marshal(map[string]any{"version": 1, "birth": streams.Birth, "through": 2, "keys": keys})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), "teasel.maze.control.cover", text); err != nil {
			t.Fatal(err)
		}
		late := join(t, dial(t, config(s, "late")), fleet.Options{})
		late.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("mine", 7)})
		arrived := false
		for end := time.Now().Add(time.Minute); !arrived && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			es, _, _, err := first.Pull(t.Context(), 2, 10)
			arrived = err == nil && len(es) == 1
		}
		if !arrived {
			t.Errorf("a cover of %q: a machine that joins sends nothing", keys)
		}
		if e, f := late.close(); e+f > 0 {
			t.Errorf("a cover of %q: %d testcases and %d findings are left", keys, e, f)
		}
	}
}

// A finding that is stored under the name of another one, and an entry whose name is none, are passed over.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	js := admin(t, s.ClientURL())
	l := dial(t, config(s, "m1"))
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Find(ctx, find("a", 3, 30)); err != nil {
		t.Fatal(err)
	}
	worse, err := find("a", 0, 90).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "teasel.maze.findings.0123456789abcdef", worse); err != nil {
		t.Fatal(err)
	}
	if best, err := l.Best(ctx); err != nil || len(best) != 1 || best[0].Finding.Stable != 3 {
		t.Errorf("best %+v, %v", best, err)
	}
	b := find("b", 1, 50)
	better, err := find("a", 3, 1).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "teasel.maze.findings."+b.Finding.ID(), better); err != nil {
		t.Fatal(err)
	}
	if err := l.Find(ctx, b); err != nil {
		t.Fatal(err)
	}
	if best, err := l.Best(ctx); err != nil || len(best) != 2 {
		t.Errorf("best %+v, %v: the finding whose place was taken is not there", best, err)
	}
	data, err := (&fleet.Entry{Build: "b", Data: []byte("x")}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"\x1b[31m", "k$", "ok"} {
		if _, err := js.Publish(ctx, "teasel.maze.entries."+name, data); err != nil {
			t.Fatal(err)
		}
	}
	if es, last, n, err := l.Pull(ctx, 0, 10); err != nil || len(es) != 1 || last != 3 || n != 3 {
		t.Errorf("pulled %+v, last %d, n %d, %v", es, last, n, err)
	}
}

// What a machine says of itself does not reach the terminal as it is.
func TestPanelHostile(t *testing.T) {
	t.Parallel()
	p := fleet.Panel([]fleet.Machine{{Name: "a\x1b[2J", Ended: "\x1b]0;x\x07\n"}})
	if row := strings.Join(p.Rows[0], "|"); strings.ContainsAny(row, "\x1b\x07\n") {
		t.Errorf("%q", row)
	}
}

// An error of this machine's files is not one of the hub.
func TestBridgeDisk(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "fleet.json", "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := join(t, dial(t, config(s, "m1")), fleet.Options{Dir: dir})
	until(t, "something is said", func() bool {
		m.report(teasel.Event{Kind: teasel.EventProgress})
		return m.notes.have("fleet: ") > 0
	})
	if m.notes.have("cannot be noted in the campaign's directory") == 0 || m.notes.have("does not answer") > 0 {
		t.Error("it does not say what is wrong")
	}
	m.close()
}

// A machine whose findings a full hub does not take still obeys, and still says how it stands.
func TestBridgeObeysFullHub(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := startHub(t)
	js := admin(t, s.ClientURL())
	if err := (fleet.Layout{}).Make(ctx, js, "maze"); err != nil {
		t.Fatal(err)
	}
	findings, err := js.Stream(ctx, "TEASEL_maze_FINDINGS")
	if err != nil {
		t.Fatal(err)
	}
	full := findings.CachedInfo().Config
	full.MaxBytes = 4 << 10
	if _, err := js.UpdateStream(ctx, full); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan string, 9)
	m := join(t, dial(t, config(s, "m1")), fleet.Options{Stop: func(cause string) { stopped <- cause }})
	boss := dial(t, config(s, "boss"))
	m.report(teasel.Event{Kind: teasel.EventFound, Finding: find("a", 3, 64<<10).Finding})
	until(t, "it is said that the hub is full", func() bool {
		m.report(teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Executions: 77}})
		return m.notes.have("no room") > 0
	})
	if err := boss.Give(ctx, fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	wait, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	select {
	case <-stopped:
	case <-wait.Done():
		t.Error("it does not stop")
	}
	if _, f := m.close(); f != 1 {
		t.Errorf("%d findings are left", f)
	}
	if ms, err := boss.Machines(ctx, ""); err != nil || len(ms) != 1 || ms[0].Ended != "runs" || ms[0].Executions != 77 {
		t.Errorf("its latest figures are %+v, %v", ms, err)
	}
}
