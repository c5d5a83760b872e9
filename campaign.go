package teasel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// Campaign is one run. Target, Codec and one of Mutator and NewMutator must be set; the zero value of everything else is a
// sensible default. It must not be modified while it runs. The functions NewMutator, NewPool, NewScheduler and NewDetectors may be
// called concurrently. Numbers must not be negative, unless the field says what that means.
type Campaign[T any] struct {
	Target       Target[T]
	Mutator      Mutator[T]        // shared by all workers and background executors, so that it must be safe for concurrent use; NewMutator is for those that are not, such as mutate.Bytes and mutate.JSONTree
	NewMutator   func() Mutator[T] // instead: each worker and each background executor calls it once
	Codec        Codec[T]
	Stages       []Stage[T]        // nil: Steps, Havoc, Splice
	Seeds        []T               // inputs to begin with
	NewPool      func() Pool       // each worker and the hub call it once; nil: NewPool
	NewScheduler func() Scheduler  // each worker calls it once; nil: that of its pool, if that has a method Scheduler() Scheduler, else NewScheduler
	NewDetectors func() []Detector // each worker and each background executor calls it once; nil: Crashes
	Reporters    []Reporter
	Source       Source    // of what others know while it runs; nil: none
	Pause        *Pause    // holds the campaign up; nil: nothing does
	Resume       *Snapshot // of [Hub.Snapshot], or of a corpus directory, to carry on; Seeds are run in addition; nil: begin anew

	Seed         uint64                // of all randomness
	Workers      int                   // 0: 1
	Duration     time.Duration         // time that is paused not counted; 0: no limit
	Runs         uint64                // executions of all workers in this run, exceeded by what confirming and minimising takes at the end; 0: no limit
	StopAfter    int                   // findings, those of resumed runs counted; checked at each new one; 0: no limit
	Counts       func(f *Finding) bool // which findings StopAfter counts; nil: all but those for information
	Memory       uint64                // bytes of our own, which three checks a second apart have to exceed; 0: no limit
	SeedsOnly    bool                  // nothing is made from the seeds: the campaign ends when each has run and what they have shown is confirmed and minimised, whatever time that takes; see [SeedEnd]
	Generate     float64               // share of rounds in which inputs are made from nothing; 0: only while there is no testcase
	Calibrate    int                   // times a new testcase is run again before it is kept; 0: none, and seeds are not trimmed
	Notes        NoteCodec             // the executor fills in Observation.Note, which this encodes; nil: testcases have no notes
	TrimRuns     int                   // executions to trim one seed; 0: 512; negative: none
	Background   bool                  // without a limit on Runs, each worker opens a second executor, on which it confirms and minimises findings
	Errands      bool                  // workers confirm what other workers have died of and what the source asks for, on the background executor if there is one; see [Errand]. What an earlier run had no time for is confirmed in any case
	Tries        int                   // times a finding is reproduced; 0: 3; it must not be negative
	MinimizeRuns int                   // executions to minimise one finding; 0: 1024; negative: none
}

func (c *Campaign[T]) check() error {
	if c.Target == nil || c.Mutator == nil && c.NewMutator == nil || c.Codec == nil {
		return errors.New("checking campaign: Target, Codec, and Mutator or NewMutator must be set")
	}
	if c.Tries < 0 {
		return fmt.Errorf("checking campaign: Tries is %d, expected 1 or more, or 0 for %d", c.Tries, defaultTries)
	}
	for _, n := range [...]struct {
		name  string
		value int
	}{{"Workers", c.Workers}, {"StopAfter", c.StopAfter}, {"Calibrate", c.Calibrate}} {
		if n.value < 0 {
			return fmt.Errorf("checking campaign: %s is %d, expected 0 or more", n.name, n.value)
		}
	}
	if c.Workers > maxWorkers {
		return fmt.Errorf("checking campaign: Workers is %d, expected at most %d", c.Workers, maxWorkers)
	}
	if c.Duration < 0 {
		return fmt.Errorf("checking campaign: Duration is %d (%v), expected 0 or more", c.Duration, c.Duration)
	}
	_, undoes := c.Mutator.(Undoer[T])
	_, indexes := c.Mutator.(Indexer[T])
	if (undoes || indexes) && c.NewMutator == nil && (c.Workers > 1 || c.Background && c.Runs == 0) {
		return errors.New("checking campaign: a mutator that can undo or has an index has state: set NewMutator for more than one worker, or for a background executor")
	}
	return nil
}

func (c *Campaign[T]) tries() int { return cmp.Or(c.Tries, defaultTries) }

func (c *Campaign[T]) mutator() Mutator[T] {
	if c.NewMutator != nil {
		return c.NewMutator()
	}
	return c.Mutator
}

func (c *Campaign[T]) pool() Pool {
	if c.NewPool != nil {
		return c.NewPool()
	}
	return NewPool()
}

func (c *Campaign[T]) scheduler(p Pool) Scheduler {
	if c.NewScheduler != nil {
		return c.NewScheduler()
	}
	if s, ok := p.(interface{ Scheduler() Scheduler }); ok {
		return s.Scheduler()
	}
	return NewScheduler()
}

func (c *Campaign[T]) detectors() []Detector {
	if c.NewDetectors != nil {
		return c.NewDetectors()
	}
	return []Detector{DetectorFunc(Crashes)}
}

func (c *Campaign[T]) stages() []Stage[T] {
	if c.Stages != nil {
		return c.Stages
	}
	return []Stage[T]{Steps[T]{}, Havoc[T]{}, Splice[T]{}}
}

// errDuration is why the context of a campaign has ended whose duration is over.
var errDuration = errors.New("the duration is over")

// Run fuzzes with its own hub and workers until ctx ends, a limit is reached, or something of ours fails. Everything
// it starts has ended when it returns. The summary is valid with an error too.
func (c *Campaign[T]) Run(ctx context.Context) (Summary, error) {
	if err := c.check(); err != nil {
		return Summary{}, err
	}
	if c.SeedsOnly && c.Runs == 0 { // the clock is to end nothing
		all := *c
		all.Runs = unlimitedRuns
		return all.Run(ctx)
	}
	h, err := c.hub()
	if err != nil {
		return Summary{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.Duration > 0 {
		defer c.Pause.AfterFunc(c.Duration, func() {
			h.Stop(stoppedDuration)
			cancel(errDuration)
		})()
	}
	err = c.run(ctx, h, func() { cancel(nil) })
	if ctx.Err() != nil {
		h.Stop("interrupted")
	}
	if c.SeedsOnly {
		h.Stop("seeds")
	}
	h.Stop("runs") // nothing else has stopped it
	err = errors.Join(err, h.Progress(proc.Held()))
	return h.Summary(), err
}

func (c *Campaign[T]) hub() (*Hub, error) {
	h := &Hub{Pool: c.pool(), Reporters: c.Reporters, Pause: c.Pause, StopAfter: c.StopAfter, Counts: c.Counts}
	if c.Resume != nil {
		if err := h.Resume(c.Resume); err != nil {
			return nil, err
		}
	}
	for _, s := range c.Seeds {
		data, err := c.Codec.Encode(s)
		if err != nil {
			return nil, fmt.Errorf("encoding a seed: %w", err)
		}
		h.Seed(data)
	}
	return h, nil
}

// run starts the workers and the ticker, and waits for all of them.
func (c *Campaign[T]) run(ctx context.Context, h *Hub, cancel context.CancelFunc) error {
	n := max(1, c.Workers)
	errs := make([]error, n+1)
	if c.Runs > 0 {
		n = int(min(uint64(n), c.Runs)) // each has one at least
	}
	e := &ending{workers: int32(n)}
	over := make(chan struct{})
	var workers, clock sync.WaitGroup
	clock.Go(func() { errs[n] = c.tick(ctx, over, h, e, cancel) })
	for i := range n {
		share := c.Runs / uint64(n)
		if uint64(i) < c.Runs%uint64(n) {
			share++
		}
		x := h.Join()
		workers.Go(func() {
			if errs[i] = c.work(ctx, x, i, share, e); errs[i] != nil {
				h.Stop("failed")
			}
		})
	}
	workers.Wait()
	close(over)
	clock.Wait()
	return errors.Join(errs...)
}

// memoryChecks is how many checks in a row, a second apart, must exceed the limit: one large input may exceed it until the next
// garbage collection.
const memoryChecks = 3

// tick reports progress about once a second until all workers have ended, checks our memory, and pulls inputs from the source. When the
// campaign is over, it cancels what workers still execute, for a target may take as long as it likes; where runs are counted, the clock ends
// nothing.
func (c *Campaign[T]) tick(ctx context.Context, end <-chan struct{}, h *Hub, e *ending, cancel context.CancelFunc) (failed error) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for over, ended := 0, false; ; {
		select {
		case <-end:
			return failed
		case <-t.C:
		}
		if ended && c.Runs == 0 {
			cancel()
		}
		ended = h.over()
		m := proc.Held()
		if c.Memory == 0 || m <= c.Memory {
			over = 0
		} else if over++; over == memoryChecks {
			h.Stop("memory")
		} else { // most of it may be garbage
			debug.FreeOSMemory()
		}
		if err := errors.Join(h.Progress(m), e.note(ctx, h, c.jobsEnd(ctx))); err != nil {
			h.Stop("failed") // and what workers execute has to be cancelled still
			failed = cmp.Or(failed, err)
		}
		if failed != nil || c.Source == nil || ctx.Err() != nil || !h.needsSeeds() {
			continue
		}
		s, err := c.Source.Pull(ctx)
		if err != nil && ctx.Err() != nil {
			continue
		}
		if err == nil {
			err = h.Take(s)
		}
		if err != nil {
			h.Stop("failed")
			failed = fmt.Errorf("pulling from the source: %w", err)
		}
	}
}

// Work runs one worker of a campaign whose hub is at the other end of x. number, from 0 on, tells workers apart. It returns when
// the hub returns [ErrStop], ctx ends, or Runs is reached; none of these is an error.
//
// Runs is the limit of this worker alone. Work ignores Seeds, Reporters, Source, Duration, StopAfter and Memory, which are the
// hub's business, or that of whoever owns it, and Workers but for checking it. Of Resume it uses the state of the worker with its
// number and the findings; testcases come from the hub. A worker that is started again needs Resume with its latest [WorkerState],
// which the hub reports with [EventProgress], or it repeats the draws that it has made already.
func (c *Campaign[T]) Work(ctx context.Context, x Exchange, number int) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.work(ctx, x, number, c.Runs, &ending{})
}

func (c *Campaign[T]) work(ctx context.Context, x Exchange, number int, limit uint64, ending *ending) (err error) {
	ex, err := c.Target.Open(ctx, Role{Worker: number})
	if err != nil {
		ending.looped.Add(1)
		ending.worked.Add(1)
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("opening target: %w", err)
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	start := WorkerState{Number: number}
	if c.Resume != nil && number < len(c.Resume.Workers) {
		start = c.Resume.Workers[number]
	}
	w := newWorker(c, ex, x, start, limit)
	if c.Resume != nil {
		for i := range c.Resume.Findings {
			w.seen.resume(&c.Resume.Findings[i])
		}
	}
	if c.Background && limit == 0 {
		w.background = startBackground(ctx, c, number)
	}
	graced, cancel := withGrace(ctx)
	defer cancel()
	why := w.loop(graced)
	ending.looped.Add(1)
	err = w.end(ctx, why)
	ending.worked.Add(1)
	// What was found last must not be lost, even when ctx has ended.
	w.news.Leaving = true
	if e := w.publish(context.WithoutCancel(ctx)); e != nil && !errors.Is(e, ErrStop) {
		err = errors.Join(err, e)
	}
	return err
}
