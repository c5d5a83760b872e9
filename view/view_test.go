package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

func report(t *testing.T, r teasel.Reporter, events ...teasel.Event) {
	t.Helper()
	for _, e := range events {
		if err := r.Report(e); err != nil {
			t.Fatal(err)
		}
	}
}

func progress(second int) teasel.Event {
	return teasel.Event{Kind: teasel.EventProgress, Workers: []teasel.WorkerState{{Number: 0, Executions: uint64(second) * 60}, {Number: 1, Executions: uint64(second) * 40}},
		Stats: teasel.Stats{Elapsed: time.Duration(second) * time.Second, Executions: uint64(second) * 100, Corpus: second, Features: 2 * second, Workers: 2,
			Stages: []teasel.StageStats{{Name: "havoc", Executions: uint64(second) * 90, Kept: 3}}}}
}

func found(rule, subject string) teasel.Event {
	return teasel.Event{Kind: teasel.EventFound, Finding: teasel.Finding{Rule: rule, Severity: teasel.High, Subject: subject, Message: "m", Input: []byte("in"),
		Original: []byte("original"), Stable: 3, Tries: 3, Occurrences: 1}}
}

// The series has at most so many points over any time, in order, from the beginning to the end.
func TestSeries(t *testing.T) {
	var s series
	thinned := 0
	for i := 1; i <= 100_000; i++ {
		before := s.points
		if s.add(Point{Elapsed: float64(i)}) {
			thinned++
			if len(before) != MostPoints || before[0].Elapsed >= before[1].Elapsed {
				t.Fatal("what was handed out has changed")
			}
		}
		if len(s.points) > MostPoints {
			t.Fatalf("%d points", len(s.points))
		}
	}
	ps := s.points
	if !slices.IsSortedFunc(ps, func(a, b Point) int { return int(a.Elapsed - b.Elapsed) }) || ps[0].Elapsed > 100 || ps[len(ps)-1].Elapsed < 99_900 || len(ps) < MostPoints/2 || thinned != 6 {
		t.Errorf("%d points from %v to %v, thinned %d times", len(ps), ps[0].Elapsed, ps[len(ps)-1].Elapsed, thinned)
	}
	for i := 2; i < len(ps); i++ {
		if d, e := ps[i].Elapsed-ps[i-1].Elapsed, ps[1].Elapsed-ps[0].Elapsed; d != e {
			t.Fatalf("point %d comes after %v, others after %v", i, d, e)
		}
	}
}

// page does what the script of the page does with an update.
func page(old *State, next State) *State {
	if old == nil || next.Whole || next.Run != old.Run {
		return &next
	}
	if !next.Thinned {
		next.Series = slices.Concat(old.Series, next.Series)
	}
	next.Log = slices.Concat(old.Log, next.Log)
	if next.Panels == nil {
		next.Panels = old.Panels
	}
	all := slices.Clone(old.Findings)
	for _, f := range next.Findings {
		if i := slices.IndexFunc(all, func(g Finding) bool { return g.ID == f.ID }); i >= 0 {
			all[i] = f
		} else {
			all = append(all, f)
		}
	}
	for i := range all {
		if n, ok := next.Counts[all[i].ID]; ok {
			all[i].Occurrences = n
		}
	}
	next.Findings = all
	return &next
}

// Whoever takes over only what has changed has the same as whoever takes all, whatever happens in between.
func TestSince(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rec := NewRecorder(State{Kind: "mcp"}, nil, Options{Panels: countPanel{}})
	var seen *State
	sent := 0
	for i := 1; i < 3*MostPoints; i++ {
		switch r.IntN(12) {
		case 0:
			report(t, rec, found("mcp/crash", fmt.Sprint(r.IntN(30))))
		case 1:
			e := found("mcp/crash", fmt.Sprint(r.IntN(40)))
			e.Kind = teasel.EventUnconfirmed
			report(t, rec, e)
		case 2:
			report(t, rec, teasel.Event{Kind: teasel.EventNote, Text: fmt.Sprint("note ", i)})
		case 3:
			report(t, rec, teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: fmt.Sprint(i)}})
		}
		p := progress(i)
		e := found("mcp/crash", fmt.Sprint(r.IntN(30)))
		p.Sightings = []teasel.Sighting{{ID: e.Finding.ID(), Times: uint64(i)}}
		report(t, rec, p)
		if r.IntN(25) > 0 {
			continue
		}
		whole := rec.Snapshot()
		var update State
		if seen == nil {
			update = whole.Since("", 0)
		} else {
			update = whole.Since(seen.Run, seen.Revision)
			sent += len(update.Findings)
		}
		seen = page(seen, update)
		for _, what := range []struct {
			name      string
			got, want any
		}{{"series", seen.Series, whole.Series}, {"findings", seen.Findings, whole.Findings}, {"panels", seen.Panels, whole.Panels},
			{"log", seen.Log[max(0, len(seen.Log)-mostLines):], whole.Log[max(0, len(whole.Log)-mostLines):]}, {"figures", seen.Figures, whole.Figures}} {
			got, _ := json.Marshal(what.got)
			want, _ := json.Marshal(what.want)
			if string(got) != string(want) {
				t.Fatalf("after %d seconds, %s:\n%s\nwant\n%s", i, what.name, got, want)
			}
		}
	}
	if len(seen.Findings) < 30 || sent > 1000 {
		t.Errorf("%d findings, sent %d times", len(seen.Findings), sent)
	}
	if all := seen.Since("another", seen.Revision); !all.Whole || len(all.Findings) != len(seen.Findings) {
		t.Error("another run's page was not sent all")
	}
}

// countPanel counts testcases.
type countPanel struct{}

func (countPanel) Panels(entries []teasel.Entry) []Panel {
	return []Panel{{Title: "testcases", Rows: [][]string{{fmt.Sprint(len(entries))}}}}
}

// A snapshot stays as it was while the campaign goes on; run with -race.
func TestSnapshotIsAValue(t *testing.T) {
	rec := NewRecorder(State{Kind: "mcp"}, nil, Options{Panels: countPanel{}})
	report(t, rec, progress(1), found("mcp/crash", "a"), teasel.Event{Kind: teasel.EventNote, Text: "n"})
	first := rec.Snapshot()
	before, _ := json.Marshal(first)
	var g sync.WaitGroup
	for range 3 {
		g.Go(func() {
			for range 200 {
				if _, err := json.Marshal(rec.Snapshot().Since("", 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := 2; i < 3*MostPoints; i++ {
		report(t, rec, progress(i), found("mcp/crash", fmt.Sprint(i%7)), teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: fmt.Sprint(i)}},
			teasel.Event{Kind: teasel.EventNote, Text: "n"})
	}
	g.Wait()
	if after, _ := json.Marshal(first); string(after) != string(before) {
		t.Errorf("a snapshot has changed:\n%s\n%s", before, after)
	}
}

// What a recorder has at the end and what the directory says afterwards is the same.
func TestLoadIsWhatWasRecorded(t *testing.T) {
	dir, err := corpus.Create(filepath.Join(t.TempDir(), "out"), corpus.Meta{Kind: "mcp", Name: "node x.js", Seed: 7, Version: "1", Blocked: []string{"b"}, Skipped: []corpus.Skip{{Subject: "s", Reason: "r"}}})
	if err != nil {
		t.Fatal(err)
	}
	from, err := FromDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(from, nil, Options{})
	sum := teasel.Summary{Stopped: "runs"}
	for i := 1; i <= 20; i++ {
		e := progress(i)
		if i >= 10 {
			e.Stats.Findings = 1
		}
		report(t, dir, e)
		report(t, rec, e)
		sum.Stats = e.Stats
		if i == 10 {
			f := found("mcp/crash", "a\x1b[31m\u202e")
			f.Finding.Found = 10500 * time.Millisecond
			report(t, dir, f)
			report(t, rec, f)
			sum.Findings = []teasel.Finding{f.Finding}
		}
	}
	if err := dir.Finish(sum); err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	rec.End(sum.Stopped)
	live := rec.Snapshot()
	read, err := corpus.OpenReadOnly(dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := FromDir(read)
	if err != nil {
		t.Fatal(err)
	}
	if len(live.Findings) != 1 || len(loaded.Findings) != 1 {
		t.Fatalf("%d and %d findings", len(live.Findings), len(loaded.Findings))
	}
	a, b := live.Findings[0], loaded.Findings[0]
	if a.Found < 10 || a.Found > 11 || b.Found < 10 || b.Found > 11 {
		t.Errorf("found after %v and %v", a.Found, b.Found)
	}
	if strings.ContainsAny(a.Subject, "\x1b\u202e") || a.Subject != `a\x1b[31m\u202e` {
		t.Errorf("subject %q", a.Subject)
	}
	b.Found, b.revision = a.Found, a.revision
	if !reflect.DeepEqual(a, b) {
		t.Errorf("recorded %+v\nloaded   %+v", a, b)
	}
	type common struct {
		Series  []Point
		Stages  []teasel.StageStats
		Workers []Worker
		Skipped []Skip
		Blocked []string
		Status  string
		Seed    uint64
	}
	text := func(s State) string {
		b, _ := json.Marshal(common{s.Series, s.Stages, s.Workers, s.Skipped, s.Blocked, s.Status, s.Seed})
		return string(b)
	}
	if text(live) != text(loaded) {
		t.Errorf("recorded %s\nloaded   %s", text(live), text(loaded))
	}
	if f := loaded.Figures; f.Executions != 2000 || f.Rate != 100 || f.Features != 40 || f.Elapsed != 20 {
		t.Errorf("figures %+v", f)
	}
}

// The series of older versions, and of damaged files, is read as far as it goes.
func TestReadSeries(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"missing columns": {"elapsed_seconds,executions,corpus\n1.0,5,2\n2.0,9,3\n", "[[1.000,5,2,0,0,0],[2.000,9,3,0,0,0]]"},
		"other columns":   {"memory_bytes,new,elapsed_seconds,executions\n7,x,1,5\n", "[[1.000,5,0,0,0,7]]"},
		"cut off":         {"elapsed_seconds,executions\n1.0,5\n2.0", "[[1.000,5,0,0,0,0],[2.000,0,0,0,0,0]]"},
		"not numbers":     {"elapsed_seconds,executions\n1,NaN\n2,-5\n3,Inf\n4,1e300\n", "[[1.000,0,0,0,0,0],[2.000,0,0,0,0,0],[3.000,0,0,0,0,0],[4.000,0,0,0,0,0]]"},
		"quotes":          {"elapsed_seconds,executions\n1,\"5\n2,6\n", "[[1.000,0,0,0,0,0]]"},
		"back in time":    {"elapsed_seconds,executions\n3,5\n1,6\n4,7\n", "[[3.000,5,0,0,0,0],[4.000,7,0,0,0,0]]"},
		"empty":           {"", "null"},
	} {
		path := filepath.Join(t.TempDir(), "stats.csv")
		if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		ps, err := readSeries(path)
		got, _ := json.Marshal(ps)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, test.want)
		}
	}
	if ps, err := readSeries(filepath.Join(t.TempDir(), "none")); ps != nil || err != nil {
		t.Errorf("no file: %v, %v", ps, err)
	}
}

// A campaign that is resumed goes on where it stood.
func TestRecorderGoesOn(t *testing.T) {
	first := NewRecorder(State{Kind: "net"}, nil, Options{})
	report(t, first, progress(1), progress(2), found("net/crash", "a"))
	again := NewRecorder(first.Snapshot(), nil, Options{Commands: func(*teasel.Finding) []Command { return []Command{{"t", "c"}} }})
	report(t, again, progress(3), found("net/crash", "a"), found("net/crash", "b"))
	s := again.Snapshot()
	if len(s.Series) != 3 || len(s.Findings) != 2 || s.Run == first.Snapshot().Run {
		t.Errorf("%d points, %d findings, run %q", len(s.Series), len(s.Findings), s.Run)
	}
	if fs := s.Findings; fs[0].Found > 3 || fs[1].Found < 3 || len(fs[1].Commands) != 1 {
		t.Errorf("%+v", fs)
	}
}

// A finding is the last one as soon as it is listed, and not a second later.
func TestLastFound(t *testing.T) {
	rec := NewRecorder(State{Kind: "net"}, nil, Options{})
	at := func() float64 { return rec.Snapshot().Figures.LastFound }
	if report(t, rec, teasel.Event{Kind: teasel.EventUnconfirmed, Finding: found("net/hang", "a").Finding}); at() != 0 {
		t.Errorf("last found after %v s, and nothing was confirmed", at())
	}
	report(t, rec, progress(2), found("net/crash", "a"))
	if at() < 2 {
		t.Errorf("last found after %v s, want 2 or more", at())
	}
}

// BenchmarkReport is what the recorder costs a campaign that finds a lot, a second.
func BenchmarkReport(b *testing.B) {
	rec := NewRecorder(State{Kind: "mcp"}, nil, Options{})
	for i := range 500 {
		rec.Report(found("mcp/crash", fmt.Sprint(i)))
	}
	i := 0
	for b.Loop() {
		i++
		rec.Report(progress(i))
		rec.Snapshot().Since("x", 0)
	}
}
