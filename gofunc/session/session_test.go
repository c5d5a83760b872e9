package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/session"
)

// counting is a target that says how many of its kind run at once.
type counting struct {
	now, most *atomic.Int32
	runs      atomic.Uint64
}

func (c *counting) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return c, nil }
func (c *counting) Close() error                                                       { return nil }
func (c *counting) Reset(context.Context) error                                        { return nil }
func (c *counting) Learn([]teasel.Feature, float64)                                    {}
func (c *counting) BatchSize() int                                                     { return 4 }

func (c *counting) Exec(_ context.Context, _ []byte, obs *teasel.Observation) error {
	n := c.now.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	c.runs.Add(1)
	obs.Exit = teasel.ExitOK
	c.now.Add(-1)
	return nil
}

func (c *counting) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := c.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// Everybody gets a turn, no more at once than there are turns, and all end when it is over.
func TestTurns(t *testing.T) {
	var now, most atomic.Int32
	turns := session.NewTurns(2, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	targets := make([]*counting, 5)
	var group sync.WaitGroup
	for i := range targets {
		targets[i] = &counting{now: &now, most: &most}
		share := turns.Share()
		ex, err := session.Target{Target: targets[i], Share: share}.Open(ctx, teasel.Role{})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			defer ex.Close()
			for ctx.Err() == nil {
				var obs teasel.Observation
				if err := ex.Exec(ctx, nil, &obs); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				_ = share.Report(teasel.Event{Kind: teasel.EventAdded})
			}
		})
	}
	for started := 0; started < len(targets); { // until each has run
		started = 0
		for _, c := range targets {
			if c.runs.Load() > 0 {
				started++
			}
		}
		time.Sleep(time.Millisecond)
	}
	if n := most.Load(); n > 2 {
		t.Errorf("%d ran at once, want 2 at most", n)
	}
	turns.End()
	cancel()
	group.Wait()
}

// Who waits for a turn that never comes ends with its context.
func TestTurnsEndWithContext(t *testing.T) {
	turns := session.NewTurns(1, time.Hour)
	var now, most atomic.Int32
	open := func() teasel.Executor[[]byte] {
		ex, err := session.Target{Target: &counting{now: &now, most: &most}, Share: turns.Share()}.Open(t.Context(), teasel.Role{})
		if err != nil {
			t.Fatal(err)
		}
		return ex
	}
	first, second := open(), open()
	var obs teasel.Observation
	if err := first.Exec(t.Context(), nil, &obs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := second.Exec(ctx, nil, &obs); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want a cancelled context", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Exec(t.Context(), nil, &obs); err != nil {
		t.Errorf("the turn was not given back: %v", err)
	}
}

func TestSaver(t *testing.T) {
	dir := t.TempDir()
	s := &session.Saver{Dir: dir, Test: "FuzzX"}
	folder := filepath.Join(dir, "testdata", "fuzz", "FuzzX")
	found := func(input string) {
		t.Helper()
		f := teasel.Finding{Rule: "go/panic", Subject: "m.F", Input: []byte(input)}
		if err := s.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(s.File(f.ID())); err != nil || string(b) != input {
			t.Errorf("%q is saved as %q: %v", input, b, err)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(folder, "by-hand")
	if err := os.WriteFile(mine, []byte("small"), 0o644); err != nil {
		t.Fatal(err)
	}
	found("long input")
	found("shorter") // replaces the first
	found("small")   // which the user has saved under a name of his own
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "by-hand" {
		t.Errorf("%v are left, want the user's file alone", entries)
	}
	s.Seeds = [][]byte{[]byte("seed")}
	f := teasel.Finding{Rule: "go/panic", Subject: "m.G", Input: []byte("seed")}
	if err := s.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}); err != nil || s.File(f.ID()) != "" || s.Failed(f.ID()) != nil {
		t.Errorf("a seed of F.Add was saved as %q: %v, %v", s.File(f.ID()), err, s.Failed(f.ID()))
	}
	found("another again")
	if _, err := os.Stat(mine); err != nil {
		t.Error("the user's file was removed")
	}
}

// A file that the user has removed meanwhile is no error, and one that two findings share stays as long as one of them has it.
func TestSaverRemoves(t *testing.T) {
	s := &session.Saver{Dir: t.TempDir(), Test: "FuzzX"}
	save := func(subject, input string) string {
		t.Helper()
		f := teasel.Finding{Rule: "go/panic", Subject: subject, Input: []byte(input)}
		if err := s.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}); err != nil {
			t.Fatal(err)
		}
		return s.File(f.ID())
	}
	if err := os.Remove(save("a", "first input")); err != nil {
		t.Fatal(err)
	}
	shared := save("a", "shared")
	save("b", "shared")
	save("a", "small")
	if data, err := os.ReadFile(shared); err != nil || string(data) != "shared" {
		t.Errorf("the input of b is %q: %v", data, err)
	}
	save("b", "tiny")
	if _, err := os.Stat(shared); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that no finding has any more: %v", err)
	}
}

// A file under the right name with other contents is no saved finding. What is no file is left alone, and never read: reading a
// named pipe does not end.
func TestSaverLooksAtContents(t *testing.T) {
	s := &session.Saver{Dir: t.TempDir(), Test: "FuzzX"}
	folder := filepath.Join(s.Dir, "testdata", "fuzz", "FuzzX")
	f := teasel.Finding{Rule: "go/panic", Subject: "m.F", Input: []byte("input")}
	file := filepath.Join(folder, teasel.Key(f.Input))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	report := func() {
		t.Helper()
		if err := s.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	report()
	if err := os.WriteFile(file, []byte("inp"), 0o644); err != nil {
		t.Fatal(err)
	}
	report()
	if data, err := os.ReadFile(s.File(f.ID())); err != nil || string(data) != "input" {
		t.Errorf("saved as %q: %v, %v", data, err, s.Failed(f.ID()))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	report()
	if err := s.Failed(f.ID()); err == nil || !strings.Contains(err.Error(), "expected a file") {
		t.Errorf("a named pipe is in the place of the file: %v", err)
	}
}

func ExampleSum() {
	sum := session.Sum([]teasel.Stats{{Executions: 3, Corpus: 1}, {Executions: 4, Corpus: 2}})
	fmt.Println(sum.Executions, sum.Corpus)
	// Output: 7 3
}

// All that a screen or report shows of one campaign, it shows of many.
func TestSum(t *testing.T) {
	sum := session.Sum([]teasel.Stats{
		{Features: 90, Stability: 0.9, Seeds: 3, SeedsRun: 1, Pending: 1, Messages: 2},
		{Features: 100, Stability: 1, Seeds: 4, SeedsRun: 4, Pending: 2, Messages: 3},
		{}, // has not begun
	})
	want := teasel.Stats{Features: 190, Stability: 0.95, Seeds: 7, SeedsRun: 5, Pending: 3, Messages: 5}
	if !reflect.DeepEqual(sum, want) {
		t.Errorf("got  %+v\nwant %+v", sum, want)
	}
}

// keep holds what was reported.
type keep struct{ events []teasel.Event }

func (k *keep) Report(e teasel.Event) error {
	k.events = append(k.events, e)
	return nil
}

func TestCombiner(t *testing.T) {
	k := &keep{}
	c := session.Combiner{To: k}
	a, b := c.Reporter(), c.Reporter()
	for _, r := range []teasel.Reporter{a, b, a} {
		if err := r.Report(teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Executions: 10}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := k.events[2].Stats.Executions; len(k.events) != 3 || n != 20 {
		t.Errorf("%d executions in %d events, want 20 in 3", n, len(k.events))
	}
}

func TestLimit(t *testing.T) {
	reached := 0
	l := session.Limit{Findings: 2, Counts: func(f *teasel.Finding) bool { return f.Subject != "known" }, Reached: func() { reached++ }}
	for i, f := range []struct {
		subject string
		reached int
	}{{"a", 0}, {"a", 0}, {"known", 0}, {"b", 1}, {"b", 1}, {"c", 1}} {
		if err := l.Report(teasel.Event{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: "r", Subject: f.subject}}); err != nil {
			t.Fatal(err)
		}
		if reached != f.reached {
			t.Errorf("after %d findings: reached %d times, want %d", i+1, reached, f.reached)
		}
	}
}

// A testcase that was replaced at once is never seen, and everything else in order.
func TestSettled(t *testing.T) {
	k := &keep{}
	s := session.Settled{To: k}
	entry := func(kind teasel.EventKind, key string) teasel.Event {
		return teasel.Event{Kind: kind, Entry: teasel.Entry{Key: key}}
	}
	progress := teasel.Event{Kind: teasel.EventProgress}
	for _, e := range []teasel.Event{entry(teasel.EventAdded, "a"), entry(teasel.EventAdded, "b"), {Kind: teasel.EventFound}, entry(teasel.EventEvicted, "a"), progress,
		entry(teasel.EventAdded, "c"), entry(teasel.EventEvicted, "b"), progress} {
		if err := s.Report(e); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range k.events {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Entry.Key))
	}
	want := []string{"found ", "added b", "progress ", "evicted b", "added c", "progress "}
	if !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}
