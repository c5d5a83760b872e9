package teasel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Of two sightings of one finding the better confirmed is kept, and then the simpler, whatever came first.
func TestBetterFindingIsKept(t *testing.T) {
	finding := func(stable, tries int, input string, complexity float64) teasel.Finding {
		return teasel.Finding{Rule: "crash", Severity: teasel.High, Stable: stable, Tries: tries, Input: []byte(input), Complexity: complexity}
	}
	for _, test := range []struct {
		name         string
		better, less teasel.Finding
	}{
		{"shorter", finding(3, 3, "x", 0), finding(3, 3, "xx", 0)},
		{"plainer", finding(3, 3, "00", 2), finding(3, 3, "xx", 4)},
		{"confirmed with fewer tries", finding(2, 2, "xx", 4), finding(2, 3, "xx", 4)},
		{"confirmed, though longer", finding(3, 3, "xxxx", 8), finding(1, 3, "x", 2)},
	} {
		for i, order := range [][]teasel.Finding{{test.better, test.less}, {test.less, test.better}} {
			h := &teasel.Hub{}
			if _, err := h.Join().Sync(t.Context(), teasel.News{Findings: order}); err != nil {
				t.Fatal(err)
			}
			got := h.Summary().Findings[0]
			if string(got.Input) != string(test.better.Input) || got.Tries != test.better.Tries {
				t.Errorf("%s, order %d: kept %q, %d of %d", test.name, i, got.Input, got.Stable, got.Tries)
			}
		}
	}
}

// A hub that resumes a campaign knows when it last kept and found something.
func TestTimestampsAfterResume(t *testing.T) {
	h := &teasel.Hub{}
	if err := h.Resume(&teasel.Snapshot{Elapsed: time.Hour, LastKept: time.Minute, LastFound: 2 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if s := h.Snapshot(); s.LastKept != time.Minute || s.LastFound != 2*time.Minute {
		t.Errorf("last kept %v, last found %v", s.LastKept, s.LastFound)
	}
}

// A reporter that fails ends the campaign, and nothing is counted twice.
func TestCountsAfterReporterFailure(t *testing.T) {
	f := newTrouble(0, 0)
	c := bytesCampaign(f)
	full := errors.New("the disk is full")
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded {
			return full
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if s.Executions != uint64(*f.ran) {
		t.Errorf("%d executions were counted, %d made", s.Executions, *f.ran)
	}
	var made uint64
	for _, st := range s.Stages {
		made += st.Executions
	}
	if made != s.Executions {
		t.Errorf("stages have made %d executions of %d", made, s.Executions)
	}
}

// What was found when a reporter fails reaches the other reporters and the summary, where it is marked, and the campaign ends.
func TestFindingsAfterReporterFailure(t *testing.T) {
	full := errors.New("no space left on device")
	var reported, unsaved []string
	h := &teasel.Hub{Reporters: []teasel.Reporter{
		reportFunc(func(e teasel.Event) error {
			if e.Finding.Group != "b" {
				return full
			}
			return nil
		}),
		reportFunc(func(e teasel.Event) error {
			reported, unsaved = append(reported, e.Finding.Group), append(unsaved, e.Finding.Unsaved)
			return nil
		}),
	}}
	x := h.Join()
	var fs []teasel.Finding
	for _, group := range []string{"a", "b"} {
		fs = append(fs, teasel.Finding{Rule: "crash", Severity: teasel.High, Subject: "target", Group: group, Stable: 3, Tries: 3})
	}
	untried := []teasel.Finding{{Rule: "crash", Severity: teasel.High, Subject: "target", Group: "c"}}
	if _, err := x.Sync(t.Context(), teasel.News{Findings: fs, Unconfirmed: untried}); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	s := h.Summary()
	if len(s.Findings) != 2 || len(s.Unconfirmed) != 1 || s.Stopped != "failed" || !slices.Equal(reported, []string{"a", "b", "c"}) {
		t.Errorf("stopped by %q with findings %v and %v, reported %v", s.Stopped, s.Findings, s.Unconfirmed, reported)
	}
	for i, f := range slices.Concat(s.Findings, s.Unconfirmed) {
		want := ""
		if f.Group != "b" {
			want = full.Error()
		}
		if f.Unsaved != want || unsaved[i] != want {
			t.Errorf("finding %s is marked %q, and was reported so: %q; want %q", f.Group, f.Unsaved, unsaved[i], want)
		}
	}
	if _, err := x.Sync(t.Context(), teasel.News{Findings: fs}); !errors.Is(err, teasel.ErrStop) {
		t.Errorf("second call: error %v, want %v", err, teasel.ErrStop)
	}
}

// pair is a target of batches with two bugs, which are seen in one batch.
type pair struct{ noopBatch }

func (p pair) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return p, nil }

func (p pair) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if len(in) > 0 && in[0] < 2 {
		o.Exit, o.Detail = teasel.ExitCrash, fmt.Sprint("bug ", in[0])
	}
	return nil
}

func (p pair) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := p.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// stopping is an exchange that ends the campaign with the first finding.
type stopping struct {
	teasel.Exchange
	over bool
}

func (s *stopping) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	s.over = s.over || len(n.Findings) > 0
	es, err := s.Exchange.Sync(ctx, n)
	if err == nil && s.over {
		err = teasel.ErrStop
	}
	return es, err
}

// What was seen is confirmed when something else than the number of findings ends the campaign.
func TestFindingAtAnotherLimitIsConfirmed(t *testing.T) {
	h := &teasel.Hub{}
	for _, seed := range []string{"\x00", "\x01"} {
		h.Seed([]byte(seed))
	}
	c := bytesCampaign(pair{noopBatch{size: 8}})
	if err := c.Work(t.Context(), &stopping{Exchange: h.Join()}, 0); err != nil {
		t.Fatal(err)
	}
	if s := h.Summary(); len(s.Findings) != 2 {
		t.Errorf("findings %v, want both bugs of the batch", s.Findings)
	}
}
