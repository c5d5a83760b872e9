package teasel

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"
)

// Worker is the whole fuzzer: it owns one executor, one mutator, a pool and a scheduler that are its own view of the
// campaign, and shares none of them. Stages drive it. Only news leaves it, through its [Exchange].
type Worker[T any] struct {
	runner[T]
	connection
	seeding
	batches[T]
	c       *Campaign[T]
	pipe    Pipeliner[T] // optional abilities; nil: there is none
	learner Learner
	putsOff Postponer
	undo    Undoer[T]
	index   Indexer[T]
	pool    Pool
	sched   Scheduler

	cases    []*Testcase[T]      // by ID; nil: evicted
	live     []*Testcase[T]      // in no order that means anything
	at       map[ID]int          // in live
	keys     map[string]ID       // of those that are kept, by content name
	reserved map[Feature]float64 // by queued keep jobs, with the complexity of the input
	unstable map[Feature]int     // calibrations in which a feature did not recur
	given    seedCases[T]        // seeds, which are mutated whatever they reach
	avoid    avoidance

	seen       sightings
	hangs      map[string]extra[T] // the last input that was ended early while a job worked on such a one, by finding id
	queue      queue[T]
	background *background[T] // nil: there is none
	errands    []Errand       // for which there is no job yet
	serving    []*job[T]      // the jobs whose requests are being executed, one for each input; nil: none
	executing  bool           // requests of jobs are being executed
	draining   bool           // the campaign is over: jobs are started for few new findings, see find
	lostMany   bool           // it was reported that not all deaths are bisected
	skipped    uint64         // inputs that could not be decoded

	plan        []Stage[T]
	stages      []StageStats // by index in plan, then the rows below
	from        origin[T]    // of the next input
	changed     *Testcase[T] // that an [Undoer] has changed in place for now; nil: none
	changedJobs []*job[T]    // of findings of inputs that were made so, to start when the change is taken back
	energy      float64
	pace        float64 // share of the usual energy for a slow target

	pcg                  rand.PCG
	rnd                  *Rand
	seed                 uint64
	state                WorkerState
	limit                uint64 // executions of this run; 0: none
	previousExecutions   uint64 // made before this run
	backgroundExecutions uint64 // made by the background
}

// Rows of Worker.stages after those of the plan.
const (
	rowSeeds    = iota
	rowGenerate // made from nothing
	rowLate     // observations that came late, see [Pipeliner]
	rowClasses  // the first of the classes of jobs
)

const (
	syncRuns    = 8192 // executions between two calls of Sync, if no news makes one due earlier: some microseconds in some milliseconds
	syncTime    = time.Second
	clockEvery  = 64 // draws between two checks of the clock, where there are no batches
	generateRun = 16 // inputs that are generated at a time
)

func newWorker[T any](c *Campaign[T], ex Executor[T], x Exchange, start WorkerState, limit uint64) *Worker[T] {
	w := &Worker[T]{runner: newRunner(c, ex), c: c, connection: connection{x: x, reported: start.Executions}, limit: limit, state: start, energy: 1, pace: 1,
		previousExecutions: start.Executions, at: map[ID]int{}, keys: map[string]ID{},
		reserved: map[Feature]float64{}, unstable: map[Feature]int{}, seen: newSightings(), hangs: map[string]extra[T]{}}
	w.runner.judge = w.judge
	w.plan, w.seed = c.stages(), c.Seed^uint64(start.Number)*0x9e3779b97f4a7c15
	w.rnd = rand.New(&w.pcg)
	w.pipe, _ = ex.(Pipeliner[T])
	w.weigher, _ = ex.(Weigher[T])
	w.putsOff, _ = ex.(Postponer)
	w.learner, _ = ex.(Learner)
	if w.index, _ = w.mut.(Indexer[T]); w.batch == nil {
		w.undo, _ = w.mut.(Undoer[T]) // a batch needs all its inputs at once
	}
	w.pool = c.pool()
	w.sched = c.scheduler(w.pool)
	for _, s := range w.plan {
		w.stages = append(w.stages, StageStats{Name: s.Name()})
	}
	w.stages = append(w.stages, StageStats{Name: "seeds"}, StageStats{Name: "generate"}, StageStats{Name: "late answers"})
	for _, name := range classNames {
		w.stages = append(w.stages, StageStats{Name: name})
	}
	w.atOnce = min(firstSeeds, w.size)
	w.filling = newBatch[T](w.size)
	if w.pipe != nil {
		w.idle = []*batch[T]{newBatch[T](w.size), newBatch[T](w.size)}
	}
	return w
}

// row returns the index in stages of one of the row constants.
func (w *Worker[T]) row(n int) int { return len(w.plan) + n }

func (w *Worker[T]) loop(ctx context.Context) error {
	for {
		if err := w.sync(ctx); err != nil {
			return err
		}
		if w.c.SeedsOnly && !w.more {
			return ErrStop
		}
		if tc := w.givenSeed(); tc != nil {
			if err := w.workOn(ctx, tc); err != nil {
				return err
			}
			continue
		}
		r := w.rng(^w.seed, w.drawn())
		if w.c.Generate > 0 && r.Float64() < w.c.Generate {
			if err := w.generate(ctx); err != nil {
				return err
			}
			continue
		}
		p, tc, err := w.pick(r)
		if err == nil && tc == nil {
			err = w.generate(ctx)
		}
		if err != nil {
			return err
		}
		if tc == nil {
			continue
		}
		made, kept := w.made(), len(w.cases)
		err = w.round(ctx, tc, p)
		if w.sched.Done(p, w.made()-made, len(w.cases)-kept); err != nil {
			return err
		}
	}
}

// avoids is how many testcases in a row are passed over at most since what is made of them ends in faults. If none were, known faults would
// take 53 % of the work on the target of TestFaultyTestcase, and not 19 %: avoidance knows inputs alone, and has to see some of each kind.
const avoids = 16

// pick returns the next testcase; nil: there is none. While what finds nothing new takes more than its share, those are passed over of
// which faults have taken more than that share.
func (w *Worker[T]) pick(r *Rand) (p Pick, tc *Testcase[T], err error) {
	for n := 0; ; n++ {
		var ok bool
		if p, ok = w.sched.Next(r); !ok {
			return p, nil, nil
		}
		if p.ID < 0 || int(p.ID) >= len(w.cases) || w.cases[p.ID] == nil {
			return p, nil, fmt.Errorf("picking a testcase: scheduler picked testcase %d, which is not kept", p.ID)
		}
		if tc = w.cases[p.ID]; n == avoids || tc.faults*knownWork <= tc.spent || !w.meter.exceeds() {
			return p, tc, nil
		}
		w.sched.Done(p, 0, 0)
	}
}

// round works on one testcase for a while.
func (w *Worker[T]) round(ctx context.Context, tc *Testcase[T], p Pick) error {
	tc.Focus, w.energy, w.pace = p.Focus, p.Energy, w.meter.pace(w.executions)
	before, began, faults := w.drawn(), w.meter.now(), w.meter.spent[classFault]
	defer func() {
		tc.spent, tc.faults = tc.spent+w.meter.now()-began, tc.faults+w.meter.spent[classFault]-faults
	}()
	for i, s := range w.plan {
		w.setOrigin(tc, i)
		if err := s.Run(ctx, w, tc); err != nil {
			return err
		}
		if err := w.endStage(ctx); err != nil {
			return err
		}
		if !w.Holds(tc) { // the scheduler no longer knows it
			break
		}
	}
	tc.Picked++
	w.progress(tc)
	if w.drawn() == before { // no stage had anything to do
		return w.generate(ctx)
	}
	return nil
}

// Holds reports whether tc is still kept: something simpler may have evicted it while a stage works on it.
func (w *Worker[T]) Holds(tc *Testcase[T]) bool { return w.cases[tc.ID] == tc }

// progress reports how far work on a testcase has gone.
func (w *Worker[T]) progress(tc *Testcase[T]) {
	a := Advance{Key: tc.Key, Step: tc.Step, Picked: tc.Picked}
	if n := len(w.news.Advances); n > 0 && w.news.Advances[n-1].Key == a.Key {
		w.news.Advances[n-1] = a
		return
	}
	w.news.Advances = append(w.news.Advances, a)
}

// rng returns the generator, seeded for draw n.
func (w *Worker[T]) rng(seed, n uint64) *Rand {
	w.pcg.Seed(seed, n)
	return w.rnd
}

// generate makes inputs from nothing, or from the seeds while no execution shows a feature.
func (w *Worker[T]) generate(ctx context.Context) error {
	w.setOrigin(nil, w.row(rowGenerate))
	for range max(generateRun, w.size) {
		s := w.Slot()
		if n := len(w.given.list); n > 0 && len(w.live) == 0 && w.rnd.IntN(4) > 0 {
			*s = w.mut.Mutate(w.rnd, *s, w.given.list[w.rnd.IntN(n)].Input)
		} else {
			*s = w.mut.Generate(w.rnd)
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return w.endStage(ctx)
}

// drawn returns how many inputs were made, those in the batch being filled included.
func (w *Worker[T]) drawn() uint64 { return w.state.Draws + uint64(w.fill) }

// Energy returns how many inputs to make from the current testcase: n, or usual if n is 0, times the energy of its [Pick], and fewer for a
// slow target. It is at least 1.
func (w *Worker[T]) Energy(n, usual int) int {
	if n == 0 {
		n = usual
	}
	return max(int(float64(n)*w.energy*w.pace), 1)
}

// Mutator returns the worker's mutator.
func (w *Worker[T]) Mutator() Mutator[T] { return w.mut }

// Executor returns the worker's target, for stages that know what it can do beyond running inputs.
func (w *Worker[T]) Executor() Executor[T] { return w.ex }

// Rand returns the generator, which Slot has seeded for the next execution.
func (w *Worker[T]) Rand() *Rand { return w.rnd }

// BatchSize is how many inputs [Worker.Probe] runs at little more cost than one.
func (w *Worker[T]) BatchSize() int { return w.size }

// Other returns a random testcase other than tc, drawn from the worker's generator; nil: there is none.
func (w *Worker[T]) Other(tc *Testcase[T]) *Testcase[T] {
	n := len(w.live)
	if n == 0 || n == 1 && w.live[0] == tc {
		return nil
	}
	i := w.rnd.IntN(n)
	if w.live[i] == tc {
		i = (i + 1) % n
	}
	return w.live[i]
}

// made returns the executions of this run.
func (w *Worker[T]) made() uint64 { return w.executions + w.backgroundExecutions }

// spent reports whether there are no more executions to be made.
func (w *Worker[T]) spent() bool { return w.limit > 0 && w.made() >= w.limit }

// change runs tc with one to five changes made in place, and takes them back.
func (w *Worker[T]) change(ctx context.Context, tc *Testcase[T]) error {
	if w.over || w.spent() {
		return ErrStop
	}
	r := w.rng(w.seed, w.state.Draws)
	n := min(1+bits.TrailingZeros64(r.Uint64()), 5)
	for range n {
		w.undo.Change(r, &tc.Input)
	}
	b, runs := w.filling, !w.avoid.active || !w.avoids(tc.Input)
	var err error
	if runs {
		w.state.Draws++
		b.ins[0], b.n, b.origins = tc.Input, 1, append(b.origins[:0], mark[T]{0, w.from})
		w.changed = tc
		err = w.judgeBatch(ctx, b, false)
		w.changed = nil
	}
	for range n {
		w.undo.Undo(&tc.Input)
	}
	var zero T
	b.ins[0] = zero // the next slot must not share the testcase's memory
	for _, j := range w.changedJobs {
		err = errors.Join(err, w.start(j))
	}
	w.changedJobs = w.changedJobs[:0]
	if err != nil || !runs {
		return err
	}
	return w.triage(ctx, true)
}

// rerunLost runs alone each input of a probe that was in flight when the target died, since the stage needs an observation of each.
// If the target survives all of them, it takes several to kill it, and they are bisected.
func (w *Worker[T]) rerunLost(ctx context.Context, ins []T, obs []Observation, a Ask) error {
	before := slices.Clone(obs)
	survived := true
	for i := range ins {
		if obs[i].Exit != ExitLost {
			continue
		}
		if err := w.alone(ctx, i, ins[i:i+1], obs[i:i+1], a); err != nil {
			if survived { // the death must not be forgotten
				err = errors.Join(err, w.bisect(ins, before, w.originOf))
			}
			return err
		}
		survived = survived && !obs[i].failed()
	}
	if !survived {
		return nil
	}
	return w.bisect(ins, before, w.originOf)
}

// Probe executes inputs at once, without those that were committed, and returns an observation of each with all that a asks for.
// Inputs that show something new are kept, and findings reported, as with [Worker.Commit]. The error is [ErrStop] when the campaign is
// over. The observations belong to the caller, but their Evidence may be gone when Probe returns: the worker may have executed
// something else since.
func (w *Worker[T]) Probe(ctx context.Context, ins []T, a Ask) ([]Observation, error) {
	if err := w.finishInFlight(ctx); err != nil {
		return nil, err
	}
	if w.over || w.spent() {
		return nil, ErrStop
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	obs := make([]Observation, len(ins))
	w.judged = nil
	before := w.executions
	lost, err := w.execute(ctx, ins, obs, a)
	switch {
	case lost && err == nil:
		err = w.rerunLost(ctx, ins, obs, a)
	case lost:
		err = errors.Join(err, w.bisect(ins, obs, w.originOf))
	}
	w.stages[w.from.stage].Executions += w.executions - before
	if err != nil {
		return obs, err
	}
	return obs, w.triage(ctx, true)
}
