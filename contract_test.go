package teasel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// execFunc is a target whose executor is a function.
type execFunc func(in []byte, o *teasel.Observation)

func (f execFunc) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return f, nil }
func (f execFunc) Close() error                                                       { return nil }

func (f execFunc) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	f(in, o)
	return nil
}

// miscounting is a target that says that it ran more, or less, of a batch than there is.
type miscounting struct {
	execFunc
	pipelined bool
	ran       int
}

func (m miscounting) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	if !m.pipelined {
		return m, nil
	}
	return struct {
		miscounting
		*pipeline[[]byte]
	}{m, &pipeline[[]byte]{run: m.ExecBatch}}, nil
}

func (miscounting) BatchSize() int { return 4 }

func (m miscounting) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		m.execFunc(ins[i], &obs[i])
	}
	return m.ran, nil
}

// astray is a scheduler that picks a testcase that is not kept.
type astray struct {
	teasel.Scheduler
	id teasel.ID
}

func (s astray) Next(*teasel.Rand) (teasel.Pick, bool) { return teasel.Pick{ID: s.id, Energy: 1}, true }

func accept(_ []byte, o *teasel.Observation) {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
}

func crash(_ []byte, o *teasel.Observation) { o.Exit = teasel.ExitCrash }

func ends(e teasel.Exit) execFunc { return func(_ []byte, o *teasel.Observation) { o.Exit = e } }

func graded(s teasel.Severity) func() []teasel.Detector {
	return func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(*teasel.Observation) []teasel.Finding {
			return []teasel.Finding{{Rule: "kind/rule", Severity: s}}
		})}
	}
}

// What an executor, a detector or a scheduler returns against its documentation ends the campaign with an error that says what.
func TestBrokenContracts(t *testing.T) {
	const unset = "executor left exit unset"
	for _, test := range []struct {
		name   string
		target teasel.Target[[]byte]
		change func(c *teasel.Campaign[[]byte])
		want   string
	}{
		{"no severity", execFunc(crash), func(c *teasel.Campaign[[]byte]) { c.NewDetectors = graded(0) }, `rule "kind/rule" has severity 0`},
		{"severity", execFunc(crash), func(c *teasel.Campaign[[]byte]) { c.NewDetectors = graded(9) }, `rule "kind/rule" has severity 9`},
		{"no exit", ends(teasel.ExitInvalid), nil, unset},
		{"exit", ends(teasel.ExitLost + 1), nil, "executor set exit to 6"},
		{"no exit in a batch", miscounting{ends(teasel.ExitInvalid), false, 1}, nil, unset},
		{"no exit in a pipeline", miscounting{ends(teasel.ExitInvalid), true, 1}, nil, unset},
		{"too many", miscounting{accept, false, 5}, nil, "executor ran 5 of"},
		{"less than none", miscounting{accept, false, -1}, nil, "executor ran -1 of"},
		{"too many in a pipeline", miscounting{accept, true, 5}, nil, "executor ran 5 of"},
		{"less than none in a pipeline", miscounting{accept, true, -1}, nil, "executor ran -1 of"},
		{"pick", execFunc(accept), func(c *teasel.Campaign[[]byte]) {
			c.NewScheduler = func() teasel.Scheduler { return astray{teasel.NewScheduler(), 7} }
		}, "scheduler picked testcase 7"},
		{"negative pick", execFunc(accept), func(c *teasel.Campaign[[]byte]) {
			c.NewScheduler = func() teasel.Scheduler { return astray{teasel.NewScheduler(), -1} }
		}, "scheduler picked testcase -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			c := bytesCampaign(test.target)
			if c.Runs = 500; test.change != nil {
				test.change(c)
			}
			if s, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) || s.Stopped != "failed" {
				t.Errorf("error %v, stopped by %q; want %q", err, s.Stopped, test.want)
			}
		})
	}
}

// brokenPipe is a target that fails in the middle of a batch.
type brokenPipe struct{ execFunc }

func (b brokenPipe) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return b, nil
}
func (brokenPipe) BatchSize() int { return 4 }

func (b brokenPipe) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	if len(ins) < 2 {
		b.execFunc(ins[0], &obs[0])
		return 1, nil
	}
	b.execFunc(ins[0], &obs[0])
	return 2, errors.New("lost the pipe")
}

// The failure of an executor is what is reported, and not that it has left the execution open in which it failed.
func TestFailureInABatch(t *testing.T) {
	c := bytesCampaign(brokenPipe{accept})
	c.Runs = 100
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "lost the pipe") || strings.Contains(err.Error(), "unset") {
		t.Errorf("error %v", err)
	}
}

// A single input that is lost has nothing else in flight to blame.
func TestSingleLostIsACrash(t *testing.T) {
	c := bytesCampaign(ends(teasel.ExitLost))
	c.Runs = 200
	if s, err := c.Run(t.Context()); err != nil || len(s.Findings) != 1 || s.Findings[0].Rule != "crash" {
		t.Errorf("findings %v, %v", s.Findings, err)
	}
}

// Numbers that mean nothing when negative are refused.
func TestNegativeSettings(t *testing.T) {
	for name, change := range map[string]func(c *teasel.Campaign[[]byte]){
		"Workers":   func(c *teasel.Campaign[[]byte]) { c.Workers = -1 },
		"StopAfter": func(c *teasel.Campaign[[]byte]) { c.StopAfter = -1 },
		"Duration":  func(c *teasel.Campaign[[]byte]) { c.Duration = -1 },
		"Calibrate": func(c *teasel.Campaign[[]byte]) { c.Calibrate = -1 },
		"Tries":     func(c *teasel.Campaign[[]byte]) { c.Tries = -1 },
	} {
		c := bytesCampaign(newTrouble(0, 0))
		c.Runs = 10
		change(c)
		if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name+" is -1") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A finding without a severity may come from another process. The hub does not record it, and takes all the rest of the news.
func TestHubRefusesFindings(t *testing.T) {
	bad, good := teasel.Finding{Rule: "bad", Severity: 200}, teasel.Finding{Rule: "good", Severity: teasel.High}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), `rule "bad" has severity 200`) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	h := &teasel.Hub{}
	h.Seed([]byte("seed"))
	x, y := h.Join(), h.Join()
	if got := publish(t, x, teasel.News{WantsSeeds: true}).Entries; len(got) != 1 {
		t.Fatalf("%d seeds", len(got))
	}
	_, err := x.Sync(t.Context(), teasel.News{Died: true, Findings: []teasel.Finding{bad, good}, Unconfirmed: []teasel.Finding{bad}})
	refused("news", err)
	if s := h.Summary(); len(s.Findings) != 1 || s.Findings[0].Rule != "good" || len(s.Unconfirmed) != 0 {
		t.Errorf("findings %v, unconfirmed %v", s.Findings, s.Unconfirmed)
	}
	if got := publish(t, y, teasel.News{WantsSeeds: true}).Entries; len(got) != 1 {
		t.Error("the seed of the worker that has died is lost")
	}
	refused("errand", h.Errand(teasel.Errand{Finding: bad}))
	refused("snapshot", (&teasel.Hub{}).Resume(&teasel.Snapshot{Findings: []teasel.Finding{bad}}))
}

// workPool notes the work of what it is offered.
type workPool struct {
	teasel.Pool
	seen *[]uint64
}

func (p workPool) Offer(id teasel.ID, o *teasel.Observation, c float64) teasel.Delta {
	*p.seen = append(*p.seen, o.Work)
	return p.Pool.Offer(id, o, c)
}

// The hub's pool sees how much work a testcase is, as those of the workers do.
func TestHubOffersWork(t *testing.T) {
	var seen []uint64
	h := &teasel.Hub{Pool: workPool{teasel.NewPool(), &seen}}
	publish(t, h.Join(), teasel.News{Entries: []teasel.Entry{{Key: "k", Runs: 1, Work: 42, Features: teasel.NewFeatureSet(1)}}})
	if !slices.Equal(seen, []uint64{42}) {
		t.Errorf("work %v, want 42", seen)
	}
}

// choosy is a codec that fails for some inputs.
type choosy struct{ raw }

func (c choosy) Encode(in []byte) ([]byte, error) {
	if len(in) > 0 && in[0] < 128 && string(in) != "seed" {
		return nil, errors.New("no such text")
	}
	return c.raw.Encode(in)
}

// batchTarget is a target that runs four inputs at a time.
type batchTarget struct{ execFunc }

func (b batchTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return b, nil
}
func (batchTarget) BatchSize() int { return 4 }

func (b batchTarget) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		b.execFunc(ins[i], &obs[i])
	}
	return len(ins), nil
}

// A codec that fails ends the campaign. What was seen until then is reported, that input's and those of the others of its batch.
func TestCodecFailure(t *testing.T) {
	seen := map[string]bool{}
	c := bytesCampaign(batchTarget{func(in []byte, o *teasel.Observation) {
		accept(in, o)
		if string(in) != "seed" && len(in) > 0 {
			o.Exit, o.Evidence = teasel.ExitCrash, fmt.Sprint(in[0]/128)
			seen[o.Evidence.(string)] = true
		}
	}})
	c.Codec, c.Runs = choosy{}, 1000
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if o.Evidence == nil {
				return nil
			}
			return []teasel.Finding{{Rule: "crash", Severity: teasel.High, Group: o.Evidence.(string)}}
		})}
	}
	s, err := c.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no such text") {
		t.Errorf("error %v", err)
	}
	if n := len(s.Findings) + len(s.Unconfirmed); n != len(seen) {
		t.Errorf("findings %v, unconfirmed %v, want %d in all", s.Findings, s.Unconfirmed, len(seen))
	}
}
