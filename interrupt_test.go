package teasel_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// interrupts runs so many campaigns that are interrupted at random, each soon after a fault was seen, and wants the fault in every summary.
func interrupts[T any](t *testing.T, stops int, campaign func(fault func()) *teasel.Campaign[T]) {
	t.Helper()
	for n := range stops {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		ctx, cancel := context.WithCancel(t.Context())
		var seen atomic.Bool
		after := time.Duration(r.IntN(8)) * time.Duration(r.IntN(200)) * time.Microsecond
		fault := func() {
			switch {
			case seen.Swap(true):
			case after == 0:
				cancel()
			default:
				time.AfterFunc(after, cancel)
			}
		}
		see := teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if o.Exit > teasel.ExitRejected && (o.Exit != teasel.ExitHang || !o.Ask.Quick) {
				fault()
			}
			return nil
		})
		c := campaign(fault)
		c.Seed, c.Background, c.Runs, c.StopAfter, c.Workers = uint64(n), r.IntN(2) == 0, 0, 0, 1+r.IntN(2)
		detectors := c.NewDetectors
		c.NewDetectors = func() []teasel.Detector {
			if detectors == nil {
				return []teasel.Detector{see, teasel.DetectorFunc(teasel.Crashes)}
			}
			return append(detectors(), see)
		}
		pending := 0
		c.Reporters = append(c.Reporters, reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventProgress {
				pending = e.Stats.Pending
			}
			return nil
		}))
		timer := time.AfterFunc(20*time.Second, cancel)
		s, err := c.Run(ctx)
		timer.Stop()
		cancel()
		if err != nil {
			t.Fatalf("stop %d: %v", n, err)
		}
		if !seen.Load() {
			t.Fatalf("stop %d: no fault was seen in %d executions", n, s.Executions)
		}
		if len(s.Findings)+len(s.Unconfirmed) == 0 {
			t.Errorf("stop %d, %v after a fault was seen: there is neither a finding nor an unconfirmed one", n, after)
		}
		untried := func(f teasel.Finding) bool { return f.Tries == 0 }
		if slices.ContainsFunc(s.Unconfirmed, untried) && pending == 0 {
			t.Errorf("stop %d: the last progress event has none pending, and %d are unconfirmed", n, len(s.Unconfirmed))
		}
	}
}

// What was seen is found or unconfirmed, whenever a campaign of any kind is interrupted.
func TestInterruptedAfterFault(t *testing.T) {
	t.Run("native", func(t *testing.T) {
		in := append(binary.LittleEndian.AppendUint64(nil, fakeMagic), make([]byte, 16)...)
		in[16] = fakeKind
		binary.LittleEndian.PutUint64(in[8:], checksum(in[16:]))
		interrupts(t, 100, func(func()) *teasel.Campaign[[]byte] {
			c := nativeCampaign(1)
			c.Seeds = append(c.Seeds, in)
			return c
		})
	})
	t.Run("native, each input hangs", func(t *testing.T) {
		interrupts(t, 100, func(func()) *teasel.Campaign[[]byte] {
			c := bytesCampaign(sleepingTarget{})
			c.Seeds = append(c.Seeds, nil) // an empty input too
			return c
		})
	})
	t.Run("native, the target dies of each batch", func(t *testing.T) {
		interrupts(t, 100, func(fault func()) *teasel.Campaign[[]byte] { return bytesCampaign(deadlyTarget{fault: fault}) })
	})
	t.Run("go", func(t *testing.T) {
		interrupts(t, 100, func(func()) *teasel.Campaign[order] {
			c := orders(inProcess{})
			c.Seeds = append(c.Seeds, order{true, []item{{"n0", 0}, {"n1", 0}, {"", 7}}})
			return c
		})
	})
	t.Run("net", func(t *testing.T) {
		interrupts(t, 10, func(func()) *teasel.Campaign[dialogue] {
			return &teasel.Campaign[dialogue]{Target: netTarget{}, Mutator: dialogueMutator{}, Codec: jsonCodec[dialogue]{}, Calibrate: 2,
				Seeds: []dialogue{{"user", "pass", "type", "cwd", "noop"}}}
		})
	})
	t.Run("mcp", func(t *testing.T) {
		interrupts(t, 100, func(func()) *teasel.Campaign[script] {
			return &teasel.Campaign[script]{Target: windowTarget{new(atomic.Int64), false, nil}, Mutator: scriptMutator{[]string{"divide", "list"}}, Codec: jsonCodec[script]{},
				Seeds: []script{{{"divide", 42}}}, Generate: 0.2, Calibrate: 1}
		})
	})
}

// deadlyTarget dies of every batch, and does not say of which input.
type deadlyTarget struct {
	lostTarget
	fault func()
}

func (d deadlyTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return d, nil
}

func (d deadlyTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	defer d.fault()
	return d.lostTarget.ExecBatch(ctx, ins, obs)
}

// sleepingTarget hangs of each input until the time is over.
type sleepingTarget struct{}

func (sleepingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return sleepingTarget{}, nil
}
func (sleepingTarget) Close() error { return nil }
func (sleepingTarget) Exec(ctx context.Context, _ []byte, o *teasel.Observation) error {
	select {
	case <-time.After(time.Millisecond):
		o.Exit, o.Detail = teasel.ExitHang, "sleeps"
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
