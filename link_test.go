package teasel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

// publish is Sync for a worker that reports without an error.
func publish(t testing.TB, x teasel.Exchange, n teasel.News) teasel.Reply {
	t.Helper()
	r, err := x.Sync(t.Context(), n)
	if err != nil && !errors.Is(err, teasel.ErrStop) {
		t.Fatal(err)
	}
	return r
}

func dataOf(es []teasel.Entry) (out []string) {
	for _, e := range es {
		out = append(out, string(e.Data))
	}
	return out
}

// events is a reporter that keeps what it receives.
type events []teasel.Event

func (l *events) Report(e teasel.Event) error {
	*l = append(*l, e)
	return nil
}

func (l *events) of(k teasel.EventKind) (out []teasel.Event) {
	for _, e := range *l {
		if e.Kind == k {
			out = append(out, e)
		}
	}
	return out
}

// The seeds of a worker that has died go to its successor, and the seed that it died of goes there alone.
func TestSeedsOfADeadWorker(t *testing.T) {
	h := &teasel.Hub{}
	for i := range 20 {
		h.Seed([]byte(fmt.Sprintf("%02d", i)))
	}
	x := h.Join()
	first := dataOf(publish(t, x, teasel.News{WantsSeeds: true}).Entries)
	publish(t, x, teasel.News{Died: true})
	y := h.Join()
	var got []string
	for range 40 {
		es := dataOf(publish(t, y, teasel.News{WantsSeeds: true}).Entries)
		if len(es) > 1 && slices.Contains(first, es[0]) {
			t.Fatalf("seeds of the worker that died are dealt together: %q", es)
		}
		got = append(got, es...)
	}
	if len(got) != 20 || !slices.IsSorted(got) {
		t.Errorf("the successor got %q", got)
	}
	if s := h.Summary(); s.Waiting != 0 || s.Workers != 1 {
		t.Errorf("%d seeds are waiting, %d workers", s.Waiting, s.Workers)
	}
}

// A seed that every worker dies of is given up, and no other is lost with it.
func TestDeadlySeedIsDropped(t *testing.T) {
	h := &teasel.Hub{}
	for i := range 40 {
		h.Seed([]byte(fmt.Sprintf("%02d", i)))
	}
	ran, deaths := map[string]bool{}, 0
	x := h.Join()
	for range 100 {
		es := dataOf(publish(t, x, teasel.News{WantsSeeds: true}).Entries)
		if slices.Contains(es, "07") {
			deaths++
			publish(t, x, teasel.News{Died: true})
			x = h.Join()
			continue
		}
		for _, e := range es {
			ran[e] = true
		}
	}
	if len(ran) != 39 || deaths != 3 || h.Summary().Waiting != 0 {
		t.Errorf("%d seeds were run, %d workers have died, %d seeds are waiting", len(ran), deaths, h.Summary().Waiting)
	}
}

// A worker that ends with seeds that it has not run leaves them to others, who get them as usual.
func TestSeedsOfALeavingWorker(t *testing.T) {
	h := &teasel.Hub{}
	for i := range 10 {
		h.Seed([]byte{byte(i)})
	}
	x, y := h.Join(), h.Join()
	publish(t, x, teasel.News{WantsSeeds: true})
	publish(t, x, teasel.News{Pending: true, Leaving: true})
	if got := publish(t, x, teasel.News{WantsSeeds: true}).Entries; len(got) != 0 {
		t.Errorf("a worker that has left gets %v", got)
	}
	if got := publish(t, y, teasel.News{WantsSeeds: true}).Entries; len(got) != 10 {
		t.Errorf("the other worker gets %d of 10 seeds", len(got))
	}
}

// Seeds that a worker has run before it leaves are done with.
func TestSeedsThatWereRun(t *testing.T) {
	h := &teasel.Hub{}
	h.Seed([]byte("seed"))
	x := h.Join()
	publish(t, x, teasel.News{WantsSeeds: true})
	publish(t, x, teasel.News{Leaving: true})
	if w := h.Summary().Waiting; w != 0 {
		t.Errorf("%d seeds are waiting", w)
	}
}

// Testcases that were kept for a measure alone are testcases, not seeds, when a campaign is resumed.
func TestMeasuresSurviveResume(t *testing.T) {
	h := &teasel.Hub{Pool: policy.NewUnique()}
	for i := range 5 {
		key := fmt.Sprint(i)
		publish(t, h.Join(), teasel.News{Entries: []teasel.Entry{{Key: key, Data: []byte(key), Runs: 1, Note: []byte{7},
			Measures: []teasel.Measure{{ID: 1, Value: float64(i)}}}}})
	}
	s := h.Snapshot()
	again := &teasel.Hub{Pool: policy.NewUnique()}
	if err := again.Resume(&s); err != nil {
		t.Fatal(err)
	}
	if got := again.Snapshot(); len(got.Entries) != 5 || got.Waiting != 0 || len(got.Entries[4].Note) != 1 {
		t.Errorf("resumed with %+v, %d seeds are waiting", got.Entries, got.Waiting)
	}
}

// A worker that joins a large campaign gets it piece by piece, and all of it.
func TestRepliesAreBounded(t *testing.T) {
	h := &teasel.Hub{}
	const n = 5000
	x := h.Join()
	for i := range n {
		key := fmt.Sprintf("%04d", i)
		e := teasel.Entry{Key: key, Data: []byte(key), Runs: 1, Features: teasel.NewFeatureSet(teasel.Feature(i + 1)), Complexity: 2}
		if i == 100 {
			e.Data = make([]byte, 8<<20)
		}
		publish(t, x, teasel.News{Entries: []teasel.Entry{e}})
	}
	h.Seed([]byte("seed"))
	y, calls := h.Join(), 0
	var got []string
	for {
		es := publish(t, y, teasel.News{WantsSeeds: true}).Entries
		if calls++; len(es) == 0 {
			break
		}
		size := 0
		for _, e := range es {
			got = append(got, e.Key)
			size += len(e.Data)
		}
		if len(es) > 1025 || size > 13<<20 {
			t.Errorf("one reply has %d testcases, %d bytes", len(es), size)
		}
	}
	if len(got) != n+1 || got[0] != "0000" || got[n-1] != "4999" || got[n] != teasel.Key([]byte("seed")) {
		t.Errorf("%d testcases in %d calls", len(got), calls)
	}
}

// Evicted testcases are neither handed out nor held, however many there were.
func TestEvictedTestcasesAreForgotten(t *testing.T) {
	h := &teasel.Hub{}
	x, y := h.Join(), h.Join()
	for i := range 1000 {
		key := fmt.Sprint(i)
		publish(t, x, teasel.News{Entries: []teasel.Entry{{Key: key, Data: []byte(key), Runs: 1, Features: teasel.NewFeatureSet(1), Complexity: float64(1000 - i)}},
			Advances: []teasel.Advance{{Key: key, Step: 3, Picked: uint64(i)}}})
		if i%100 == 0 {
			if es := publish(t, y, teasel.News{}).Entries; len(es) != 1 || es[0].Key != key {
				t.Fatalf("after %d testcases the other worker gets %v", i+1, es)
			}
		}
	}
	if es := publish(t, y, teasel.News{}).Entries; len(es) != 1 || es[0].Key != "999" || es[0].Step != 3 || es[0].Picked != 999 || es[0].LastPicked == 0 {
		t.Errorf("the other worker gets %v", es)
	}
	if s := h.Summary(); s.Corpus != 1 || s.Evicted != 999 {
		t.Errorf("%d testcases, %d evicted", s.Corpus, s.Evicted)
	}
}

// What one worker finds unstable is no news of any worker, and says how stable the target is.
func TestUnstableFeatures(t *testing.T) {
	var l events
	h := &teasel.Hub{Reporters: []teasel.Reporter{&l}}
	x, y := h.Join(), h.Join()
	entry := func(key string, fs ...teasel.Feature) teasel.News {
		return teasel.News{Entries: []teasel.Entry{{Key: key, Data: []byte(key), Runs: 5, Features: teasel.NewFeatureSet(fs...)}}}
	}
	if s := h.Summary().Stability; s != 0 {
		t.Errorf("stability %v before anything was calibrated", s)
	}
	publish(t, x, entry("a", 1, 2, 3, 9))
	if s := h.Summary().Stability; s != 1 {
		t.Errorf("stability %v, and nothing was unstable", s)
	}
	publish(t, x, teasel.News{Unstable: []teasel.Feature{9}})
	if got := publish(t, y, teasel.News{}); !slices.Equal(got.Unstable, []teasel.Feature{9}) {
		t.Errorf("the other worker gets %v", got.Unstable)
	}
	if got := publish(t, y, teasel.News{}); len(got.Unstable) != 0 {
		t.Errorf("the other worker gets %v again", got.Unstable)
	}
	if got := publish(t, x, teasel.News{}); len(got.Unstable) != 0 {
		t.Errorf("a worker gets its own %v", got.Unstable)
	}
	publish(t, y, entry("b", 9))
	s := h.Summary()
	if s.Corpus != 1 || s.Features != 3 || s.Stability != 0.75 {
		t.Errorf("%d testcases, %d features, stability %v", s.Corpus, s.Features, s.Stability)
	}
	for range 2 {
		if err := h.Progress(0); err != nil {
			t.Fatal(err)
		}
	}
	if ps := l.of(teasel.EventProgress); len(ps[0].Unstable) != 1 || len(ps[1].Unstable) != 0 {
		t.Errorf("reported %v, then %v", ps[0].Unstable, ps[1].Unstable)
	}
	snap := h.Snapshot()
	again := &teasel.Hub{}
	if err := again.Resume(&snap); err != nil {
		t.Fatal(err)
	}
	if got := publish(t, again.Join(), teasel.News{}); !slices.Equal(got.Unstable, []teasel.Feature{9}) {
		t.Errorf("after resuming a worker gets %v", got.Unstable)
	}
}

// Distinct findings are bounded for each severity, and that is said once.
func TestFindingsAreBounded(t *testing.T) {
	var l events
	h := &teasel.Hub{Reporters: []teasel.Reporter{&l}}
	x := h.Join()
	for i := range 5010 {
		publish(t, x, teasel.News{Findings: []teasel.Finding{{Rule: "r", Severity: teasel.Low, Group: fmt.Sprint(i), Occurrences: 1}}})
	}
	publish(t, x, teasel.News{Findings: []teasel.Finding{{Rule: "r", Severity: teasel.Critical, Occurrences: 1}}})
	publish(t, x, teasel.News{Findings: []teasel.Finding{{Rule: "r", Severity: teasel.Low, Group: "7", Occurrences: 4}}})
	s := h.Summary()
	if len(s.Findings) != 5001 || s.Findings[0].Severity != teasel.Critical {
		t.Errorf("%d findings, the first %v", len(s.Findings), s.Findings[0])
	}
	if i := slices.IndexFunc(s.Findings, func(f teasel.Finding) bool { return f.Group == "7" }); s.Findings[i].Occurrences != 5 {
		t.Errorf("a known finding has occurred %d times", s.Findings[i].Occurrences)
	}
	if notes := l.of(teasel.EventNote); len(notes) != 1 || !strings.Contains(notes[0].Text, "5000 distinct findings of severity low") {
		t.Errorf("notes %v", notes)
	}
}

// A finding that is reported again by a worker counts, also when nothing else happens before the campaign is killed.
func TestOccurrencesOfFindingsAreReported(t *testing.T) {
	var l events
	h := &teasel.Hub{Reporters: []teasel.Reporter{&l}}
	x := h.Join()
	f := teasel.Finding{Rule: "r", Severity: teasel.Low, Stable: 3, Tries: 3, Input: []byte("x"), Occurrences: 1}
	for range 2 {
		publish(t, x, teasel.News{Findings: []teasel.Finding{f}})
	}
	if err := h.Progress(0); err != nil {
		t.Fatal(err)
	}
	if p := l.of(teasel.EventProgress)[0]; len(p.Sightings) != 1 || p.Sightings[0].Times != 2 {
		t.Errorf("sightings %v", p.Sightings)
	}
}
