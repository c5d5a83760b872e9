package teasel

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"time"
)

// Worker is the fuzzer: it owns one executor, one mutator, a pool and a scheduler that are its own view of the
// campaign, and shares none of them. Stages drive it. Only news leaves it, through its [Exchange].
type Worker[T any] struct {
	c         *Campaign[T]
	ex        Executor[T]
	batch     BatchExecutor[T] // the optional abilities: nil where there is none
	reset     Resetter
	readier   Readier
	learner   Learner
	past      Historian[T]
	straggler Straggler[T]
	rester    Rester
	mut       Mutator[T]
	undo      Undoer[T]
	repair    Repairer[T]
	join      Joiner[T]
	count     Counter[T]
	dets      []Detector
	pool      Pool
	sched     Scheduler

	cases    []*Testcase[T] // by ID; nil: evicted
	live     []*Testcase[T] // in no order that means anything
	at       map[ID]int     // in live
	keys     map[string]ID
	known    map[string]*sighting // by finding id
	unstable map[Feature]struct{} // did not recur when a testcase was calibrated: no news
	dull     []T                  // seeds, some, for targets that show no feature at all
	queue    []suspect[T]         // seen but not yet judged to the end
	held     int                  // batches that it has waited for
	later    []claim[T]           // findings in line to be confirmed
	rough    []rough              // findings that could be simpler

	beside *confirmer[T] // nil: there is none
	deputy bool          // it is a confirmer's, which holds nobody up

	x       Exchange
	news    News
	inbox   []Entry
	plan    []Stage[T]
	stages  []StageStats // by index in plan, then seeds, then generated
	stage   int
	over    bool   // the hub has said stop
	more    bool   // there may be more seeds to be had
	pending bool   // some that it was given may not have been run yet
	fed     uint64 // executions when seeds were last taken

	pcg      rand.PCG
	rnd      *Rand
	seed     uint64
	state    WorkerState
	told     uint64 // executions that the hub knows of
	credited uint64 // executions that stages are credited with
	refined  uint64 // when a finding was last made simpler
	limit    uint64 // executions of this run; 0: none
	first    uint64 // executions made before this run
	synced   time.Time
	asked    time.Time // for seeds
	began    time.Time
	showing  time.Duration // that the campaign waited for findings to be shown again
	petty    time.Duration // of it, for those that are too dear
	refining time.Duration // that executions of a tick and more have taken to make findings simple
	waited   bool          // for a fresh target, once at least
	last     time.Time     // when confirming must end after the campaign has; zero: it has not

	slots   []T // the batch being made
	obs     []Observation
	legs    []leg[T] // of it, if batches overlap
	fill    int
	flying  *flight[T]   // the batch in the hands of an [Overlapper], or back from it and not yet judged; nil: none is
	idle    []bunk[T]    // those of earlier batches, the oldest first; nil: no batch flies
	judging []leg[T]     // of the batch that is judged
	cur     *Testcase[T] // what the slots are made from; nil: nothing
	energy  float64
	clean   bool // nothing has run since the last reset
	slow    bool // the last execution without a batch was; the clock is looked at after each
}

// sighting is what a worker remembers of a finding.
type sighting struct {
	tries int  // times it was confirmed in vain
	done  bool // nothing more to learn of it
	waits bool // it is in line
	again uint64
}

const (
	syncRuns    = 8192 // executions between two looks at the hub, if no news makes it look earlier
	syncTime    = time.Second
	clockEvery  = 64 // draws between two looks at the clock, where there are no batches
	slowExec    = time.Millisecond
	generateRun = 16 // inputs that are generated at a time
	dullSeeds   = 256
)

func newWorker[T any](c *Campaign[T], ex Executor[T], x Exchange, start WorkerState, limit uint64) *Worker[T] {
	w := &Worker[T]{c: c, ex: ex, x: x, mut: c.Mutator, limit: limit, state: start, energy: 1,
		first: start.Executions, told: start.Executions, credited: start.Executions, began: time.Now(), clean: true,
		at: map[ID]int{}, keys: map[string]ID{}, known: map[string]*sighting{}, unstable: map[Feature]struct{}{}}
	w.plan, w.seed = c.stages(), c.Seed^uint64(start.Number)*0x9e3779b97f4a7c15
	w.rnd = rand.New(&w.pcg)
	if m, ok := c.Mutator.(Cloner[T]); ok {
		w.mut = m.Clone()
	}
	size := 1
	if b, ok := ex.(BatchExecutor[T]); ok {
		w.batch, size = b, max(b.BatchSize(), 1)
	} else {
		w.undo, _ = w.mut.(Undoer[T]) // a batch needs all its inputs at once
	}
	w.reset, _ = ex.(Resetter)
	w.readier, _ = ex.(Readier)
	w.learner, _ = ex.(Learner)
	w.past, _ = ex.(Historian[T])
	w.straggler, _ = ex.(Straggler[T])
	w.rester, _ = ex.(Rester)
	w.repair, _ = w.mut.(Repairer[T])
	w.join, _ = w.mut.(Joiner[T])
	w.count, _ = w.mut.(Counter[T])
	w.pool, w.sched, w.dets = c.pool(), c.scheduler(), c.detectors()
	for _, s := range w.plan {
		w.stages = append(w.stages, StageStats{Name: s.Name()})
	}
	w.stages = append(w.stages, StageStats{Name: "seeds"}, StageStats{Name: "generate"})
	w.slots, w.obs = make([]T, size), make([]Observation, size)
	if o, ok := ex.(Overlapper); ok && w.batch != nil && o.Overlaps() {
		w.idle = []bunk[T]{{make([]T, size), make([]Observation, size), nil}, {make([]T, size), make([]Observation, size), nil}}
	}
	if c.Background && limit == 0 {
		w.beside = &confirmer[T]{target: c.Target}
	}
	return w
}

func (w *Worker[T]) loop(ctx context.Context) error {
	for {
		if err := w.sync(ctx); err != nil {
			return err
		}
		if err := w.refine(ctx); err != nil {
			return err
		}
		r := w.rng(^w.seed, w.drawn())
		if w.c.Generate > 0 && r.Float64() < w.c.Generate {
			if err := w.generate(ctx); err != nil {
				return err
			}
			continue
		}
		p, ok := w.sched.Next(r)
		if !ok {
			if err := w.generate(ctx); err != nil {
				return err
			}
			continue
		}
		if err := w.round(ctx, w.cases[p.ID], p); err != nil {
			return err
		}
	}
}

// round works on one testcase for a while.
func (w *Worker[T]) round(ctx context.Context, tc *Testcase[T], p Pick) error {
	tc.Focus, w.energy = p.Focus, p.Energy
	before, executed, kept := w.drawn(), w.state.Executions, len(w.cases)
	defer func() { w.sched.Done(p, w.state.Executions-executed, len(w.cases)-kept) }()
	for i, s := range w.plan {
		w.cur, w.stage = tc, i
		if err := s.Run(ctx, w, tc); err != nil {
			return err
		}
		if err := w.endStage(ctx); err != nil {
			return err
		}
		if w.cases[tc.ID] != tc { // evicted by something simpler; to go on would be to work on what nobody wants
			break
		}
	}
	tc.Picked++
	w.advance(tc)
	if w.drawn() == before { // no stage had anything to do
		return w.generate(ctx)
	}
	return nil
}

func (w *Worker[T]) advance(tc *Testcase[T]) {
	a := Advance{tc.Key, tc.Step, tc.Picked}
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

// generate makes inputs from nothing, or from the seeds when no execution ever shows a feature.
func (w *Worker[T]) generate(ctx context.Context) error {
	w.cur, w.stage = nil, len(w.stages)-1
	for range max(generateRun, len(w.slots)) {
		s := w.Slot()
		if n := len(w.dull); n > 0 && len(w.live) == 0 && w.rnd.IntN(4) > 0 {
			*s = w.mut.Mutate(w.rnd, *s, w.dull[w.rnd.IntN(n)])
		} else {
			*s = w.mut.Generate(w.rnd)
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return w.endStage(ctx)
}

// drawn returns how many inputs were made.
func (w *Worker[T]) drawn() uint64 { return w.state.Draws + uint64(w.fill) }

// Energy returns how much work the present testcase deserves, given what an ordinary one gets: n, or usual if n is 0.
// It is at least 1.
func (w *Worker[T]) Energy(n, usual int) int {
	if n == 0 {
		n = usual
	}
	return max(int(float64(n)*w.energy), 1)
}

// Mutator returns the worker's mutator.
func (w *Worker[T]) Mutator() Mutator[T] { return w.mut }

// Executor returns the worker's target, for stages that know what it can do beyond running inputs.
func (w *Worker[T]) Executor() Executor[T] { return w.ex }

// Rand returns the generator, which Slot has seeded for the next execution.
func (w *Worker[T]) Rand() *Rand { return w.rnd }

// BatchSize is how many inputs [Worker.Probe] runs at little more cost than one.
func (w *Worker[T]) BatchSize() int { return len(w.slots) }

// Other returns a testcase other than tc, nil if there is none. It draws from the worker's generator.
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

// Slot returns where the next input goes and seeds the generator for it. It holds an older input whose memory may
// be used.
func (w *Worker[T]) Slot() *T {
	w.pcg.Seed(w.seed, w.drawn())
	return &w.slots[w.fill]
}

// Commit takes the input in the slot. It runs now or with the others of its batch.
func (w *Worker[T]) Commit(ctx context.Context) error {
	if w.idle != nil {
		w.board()
	}
	if w.fill++; w.fill < len(w.slots) {
		return nil
	}
	return w.Flush(ctx)
}

// Flush runs what was committed.
func (w *Worker[T]) Flush(ctx context.Context) error {
	n := w.fill
	if n == 0 {
		return nil
	}
	w.fill = 0
	w.state.Draws += uint64(n)
	if w.idle != nil && (w.limit == 0 || w.limit > w.made()+uint64(2*len(w.slots))) {
		return w.launch(ctx, n)
	}
	if w.limit > 0 {
		if err := w.land(ctx); err != nil { // what flies counts
			return err
		}
		n = min(n, int(min(w.limit-min(w.limit, w.made()), 1<<30)))
	}
	if w.idle == nil {
		return w.run(ctx, w.slots[:n], w.obs[:n], Ask{})
	}
	if err := w.launch(ctx, n); err != nil {
		return err
	}
	return w.land(ctx)
}

// made returns the executions of this run.
func (w *Worker[T]) made() uint64 { return w.state.Executions - w.first }

// spent reports whether there are no more executions to be made.
func (w *Worker[T]) spent() bool { return w.limit > 0 && w.made() >= w.limit }

// change runs tc with one to five changes made in place, and takes them back.
func (w *Worker[T]) change(ctx context.Context, tc *Testcase[T]) error {
	r := w.rng(w.seed, w.state.Draws)
	n := min(1+bits.TrailingZeros64(r.Uint64()), 5)
	for range n {
		w.undo.Change(r, &tc.Input)
	}
	w.slots[0] = tc.Input // a slice of one, without moving tc.Input to the heap
	w.state.Draws++
	err := w.run(ctx, w.slots[:1], w.obs[:1], Ask{})
	for range n {
		w.undo.Undo(&tc.Input)
	}
	return err
}

// Probe runs inputs now and returns everything asked for. What it shows that is new is kept as usual.
func (w *Worker[T]) Probe(ctx context.Context, ins []T, a Ask) ([]Observation, error) {
	obs := make([]Observation, len(ins))
	return obs, w.run(ctx, ins, obs, a)
}
