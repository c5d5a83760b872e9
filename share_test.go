package teasel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// How long a campaign has worked on what is known is in its statistics.
func TestKnownShare(t *testing.T) {
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(1+len(in)))
		if len(in) > 0 && in[0] == 'A' {
			time.Sleep(2 * time.Millisecond)
			o.Exit, o.Elapsed = teasel.ExitCrash, 2*time.Millisecond
		}
	}))
	c.Duration, c.Calibrate, c.Seeds = 300*time.Millisecond, 2, [][]byte{[]byte("Beed"), []byte("Aeed")}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]teasel.StageStats{}
	for _, g := range s.Stages {
		rows[g.Name] = g
	}
	if rows["crashes"].Time < 2*time.Millisecond || rows["confirm"].Time < 6*time.Millisecond {
		t.Errorf("crashes took %v and confirming %v, want at least one and three times 2ms", rows["crashes"].Time, rows["confirm"].Time)
	}
	if share := s.KnownShare(); share <= 0 || share > 1 {
		t.Errorf("the share of what is known is %v", share)
	}
}

// What is made of a testcase that mostly ends in faults is left out once faults take more than their share, and most of the time goes into
// the others.
func TestFaultyTestcase(t *testing.T) {
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
		if len(in) > 0 && in[0] == 'B' {
			o.Features = append(o.Features, 2)
			if len(in) < 9 || in[8] != 'x' {
				o.Exit, o.Features = teasel.ExitCrash, nil
			}
		}
	}))
	c.Runs, c.Calibrate, c.Seeds = 60_000, 2, [][]byte{[]byte("Aeed seed"), []byte("Beed seex")}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 {
		t.Fatalf("findings %v", s.Findings)
	}
	if times := s.Findings[0].Occurrences; times*(16+1)*3 > 60_000 {
		t.Errorf("%d of 60000 executions end in a known fault, which costs as much as 17", times)
	}
}

// A fault that depends on what ran before too takes no more than its share either.
func TestFaultOfState(t *testing.T) {
	presses := 0
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
		if len(in) > 0 && in[0] == 'B' {
			o.Features[0] = 2
			if presses++; presses%3 == 0 {
				o.Exit, o.Features = teasel.ExitCrash, nil
			}
		}
	}))
	c.Runs, c.Calibrate, c.Seeds = 100_000, 2, [][]byte{[]byte("Aeed seed"), []byte("Beed seed")}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if faults := presses / 3; faults*(16+1)*4 > 100_000+faults*16 {
		t.Errorf("%d of 100000 executions end in a fault, which costs as much as 17", faults)
	}
}

// Where what is made of every testcase often faults, inputs that look like those which have are left out, so that faults take no more than
// their share, and another fault behind them is found all the same.
func TestEveryTestcaseFaults(t *testing.T) {
	for _, tt := range []struct {
		exit        teasel.Exit
		every       byte
		cost, share uint64
	}{{teasel.ExitCrash, 4, 16, 4}, {teasel.ExitHang, 16, 128, 20}} {
		known := 0
		c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
			o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(1+min(len(in), 40)))
			if len(in) > 0 && in[0]%tt.every == 1 {
				o.Exit, o.Features, o.Detail = tt.exit, nil, "the known one"
				if len(in) > 2 && in[2] >= 'x' {
					o.Exit, o.Detail = teasel.ExitCrash, "another one"
				} else {
					known++
				}
			}
		}))
		c.Runs, c.Calibrate, c.Seeds, c.MinimizeRuns = 200_000, 2, [][]byte{[]byte("@eed"), []byte("Bed")}, -1
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 2 {
			t.Errorf("%v: findings %v", tt.exit, s.Findings)
		}
		all := s.Executions + uint64(known)*tt.cost
		if faults := uint64(known) * (tt.cost + 1); faults*tt.share > all {
			t.Errorf("%v: %d known faults cost %d of %d, more than one part in %d", tt.exit, known, faults, all, tt.share)
		}
	}
}

// shortExecutor ends an input of a stage early: 'S' is slow, 'H' is a hang.
type shortExecutor struct{ whole *atomic.Int64 }

func (e shortExecutor) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	_, err := e.run(in, o, true)
	return err
}

func (e shortExecutor) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return e, nil
}

func (shortExecutor) BatchSize() int { return 4 }
func (shortExecutor) Close() error   { return nil }

func (e shortExecutor) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if ended, err := e.run(ins[i], &obs[i], false); err != nil || !ended {
			return i + 1, err
		}
	}
	return len(ins), nil
}

func (e shortExecutor) run(in []byte, o *teasel.Observation, whole bool) (ended bool, err error) {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
	if len(in) == 0 || in[0] != 'S' && in[0] != 'H' {
		return true, nil
	}
	if in[0] == 'H' || !whole {
		o.Exit, o.Short, o.Features = teasel.ExitHang, !whole, nil
		return false, nil
	}
	e.whole.Add(1)
	o.Features = append(o.Features, 2)
	return true, nil
}

// An input that an executor has ended early is a hang if it does not end with all of its time either. One that does is kept for what it
// reaches, and is no finding, confirmed or not, however often that happens.
func TestEndedEarly(t *testing.T) {
	for _, runs := range []uint64{0, 20_000} {
		var whole atomic.Int64
		c := bytesCampaign(shortExecutor{&whole})
		c.Runs, c.Calibrate, c.Seeds, c.Background = runs, 2, [][]byte{[]byte("Slow"), []byte("Hang"), []byte("seed")}, true
		if runs == 0 {
			c.Duration = 400 * time.Millisecond
		}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 || s.Findings[0].Input[0] != 'H' || s.Findings[0].Stable != 3 || len(s.Unconfirmed) > 0 {
			t.Errorf("%d runs: findings %+v, unconfirmed %v, want the hang", runs, s.Findings, s.Unconfirmed)
		}
		if s.Features != 2 || whole.Load() == 0 {
			t.Errorf("%d runs: %d features, want the two that the slow input reaches", runs, s.Features)
		}
	}
}
