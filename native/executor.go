package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/sancov"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

var (
	_ teasel.Executor[[]byte]      = (*executor)(nil)
	_ teasel.BatchExecutor[[]byte] = (*executor)(nil)
	_ teasel.Learner               = (*executor)(nil)
	_ teasel.Resetter              = (*executor)(nil)
	_ teasel.Historian[[]byte]     = (*executor)(nil)
)

// executor runs a program with teasel's runtime: in a main process, and in a second one, of the same program or of another build,
// when comparisons are to be recorded. Both processes share the maps of known features.
type executor struct {
	target   Target
	command  sancov.Command
	memory   *sancov.Memory
	main     *sancov.Server
	recorder *sancov.Server // records comparisons; nil: not started yet
	folder   string         // contains the input file; "": none
	symbols  triage.Symbols
	threads  threads

	history operands.History
	ran     history // by the main process as it is
	dead    history // by the last one that died, up to the input it died of
	death   *Crash  // its evidence

	candidates []candidate
	unstable   map[uint32]uint8 // features that were not reproduced, and how often
	loops      map[string]bool  // groups of hangs that have used their full time limit

	overwrites int  // number of inputs that have overwritten shared memory
	warned     bool // the user was told that some edges are not counted
	confirms   bool // the run in flight confirms a finding: its report must be complete
}

// candidate is an input that seems to reach new features.
type candidate struct {
	index    int // in the batch
	features []uint32
}

// maxUnstable is how often a feature that was not reproduced may count as new again.
const maxUnstable = 4

func (e *executor) start(ctx context.Context) (err error) {
	e.main, err = e.launch(ctx, e.command)
	return err
}

// server returns the process that answers an Ask, which it starts if necessary.
func (e *executor) server(ctx context.Context, a teasel.Ask) (s *sancov.Server, err error) {
	at, c := &e.main, e.command
	if a.Operands && (e.target.Operands != "" || e.main != nil && e.main.Unhooked() > 0) {
		at, c.Hooks = &e.recorder, nil
		if e.target.Operands != "" {
			c.Args = append([]string{e.target.Operands}, c.Args[1:]...)
		}
	}
	if *at != nil && !(*at).Gone() {
		return *at, nil
	}
	if *at != nil {
		err = (*at).Close()
		*at = nil
	}
	if err == nil {
		*at, err = e.launch(ctx, c)
	}
	return *at, err
}

// Close kills the program and the processes it has started.
func (e *executor) Close() (err error) {
	defer e.target.release()
	for _, s := range [...]*sancov.Server{e.main, e.recorder} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	e.main, e.recorder = nil, nil
	if e.memory != nil {
		err = errors.Join(err, e.memory.Close())
		e.memory = nil
	}
	if e.folder != "" {
		err = errors.Join(err, os.RemoveAll(e.folder))
	}
	return errors.Join(err, e.target.home.Close())
}

// Reset makes the next run start in a fresh process.
func (e *executor) Reset(context.Context) error {
	e.ran.clear()
	for _, s := range [...]*sancov.Server{e.main, e.recorder} {
		if s != nil && !s.Gone() {
			s.Renew() // a server that is gone is replaced by the next run
		}
	}
	return nil
}

// Learn records features that the worker has already.
func (e *executor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if n, ok := numberOf(f); ok {
			e.memory.Learn(n, int(complexity))
		}
	}
}

// BatchSize returns the largest number of inputs of one round trip.
func (e *executor) BatchSize() int {
	return e.target.batch(e.main.Hello.Flags&(sancov.Harness|sancov.Loops) != 0)
}

// confirmLimits is the factor by which the time limit is raised to confirm a hang: a run that is only slow ends by then.
const confirmLimits = 3

// Exec runs one input to confirm how it ends. Unless the run is to be quick, its time limit is higher than in a batch, so that a
// slow input is not reported as a hang.
func (e *executor) Exec(ctx context.Context, in []byte, obs *teasel.Observation) error {
	several := sequence(in)
	e.confirms = !obs.Ask.Quick || several != nil
	defer func() { e.confirms = false }()
	if several != nil {
		return e.sequence(ctx, several, obs, e.target.confirmLimit(obs.Ask))
	}
	ins, all := [1][]byte{in}, [1]teasel.Observation{*obs}
	_, err := e.batch(ctx, ins[:], all[:], e.target.confirmLimit(obs.Ask))
	*obs = all[0]
	return err
}

func ask(a teasel.Ask) (bits uint32) {
	if a.Features {
		bits |= sancov.AskFeatures
	}
	if a.Trace {
		bits |= sancov.AskTrace
	}
	if a.Operands {
		bits |= sancov.AskOperands
	}
	if a.Quiet {
		bits |= sancov.AskQuiet
	}
	if a.Serious {
		bits |= sancov.AskNoLeaks
	}
	return bits
}

// runLimit returns the processor time that a run may use.
func (t Target) runLimit(a teasel.Ask) time.Duration {
	if a.Quick {
		return t.limit() / 5
	}
	return t.limit()
}

// confirmLimit returns the processor time that a run may use to confirm a finding: more than runLimit, unless the run is quick.
func (t Target) confirmLimit(a teasel.Ask) time.Duration {
	if a.Quick {
		return t.runLimit(a)
	}
	return confirmLimits * t.limit()
}

// Once a hang is known, the time limit of runs is reduced: a run that exceeds the reduced limit is sampled, and ended if it is in the
// same loop. A virtual machine of which every tenth program is endless got 1.7 to 4 times as many executions in 30 s with a fortieth
// of the limit as with a fifth.
const (
	earlyHangDivisor = 40
	leastEarlyLimit  = 20 * time.Millisecond // that a busy machine measures well
)

// ExecBatch runs inputs, all of which must have the same Ask, up to the first that crashes or times out. If the program has an
// endless loop, many inputs usually reach it: a run in a known loop does not get the full time limit again.
func (e *executor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	full := e.target.runLimit(obs[0].Ask)
	if i := slices.IndexFunc(ins, marked); i == 0 {
		if several := sequence(ins[0]); several != nil {
			return 1, e.sequence(ctx, several, &obs[0], full)
		}
		ins, obs = ins[:1], obs[:1]
	} else if i > 0 {
		ins, obs = ins[:i], obs[:i]
	}
	limit := full
	if len(e.loops) > 0 {
		limit = min(full, max(e.target.limit()/earlyHangDivisor, leastEarlyLimit))
	}
	done, err := e.batch(ctx, ins, obs, limit)
	if err != nil || done == 0 || obs[done-1].Exit != teasel.ExitHang {
		return done, err
	}
	o := &obs[done-1]
	if c, _ := o.Evidence.(*Crash); limit < full && !e.loops[c.group(c.triage())] {
		*o = teasel.Observation{Ask: o.Ask, Runs: o.Runs + 1}
		_, err = e.batch(ctx, ins[done-1:done], obs[done-1:done], full)
	}
	return done, err
}

// batch runs inputs, each for no more processor time than limit.
func (e *executor) batch(ctx context.Context, ins [][]byte, obs []teasel.Observation, limit time.Duration) (int, error) {
	a := obs[0].Ask
	s, err := e.server(ctx, a)
	if err != nil {
		return 0, err
	}
	e.memory.Clear()
	e.memory.Watch(a.Watch)
	n, bits := 0, ask(a)
	if e.confirms {
		bits |= sancov.AskStacks
	}
	for ; n < len(ins) && e.memory.Add(ins[n], bits); n++ {
	}
	if n == 0 {
		obs[0].Exit, obs[0].Runs, obs[0].Detail = teasel.ExitRejected, 0, fmt.Sprintf("the input has %d bytes, which do not fit into the shared memory", len(ins[0]))
		return 1, nil
	}
	done, death, err := s.Run(ctx, 0, limit)
	if errors.Is(err, sancov.ErrDamaged) {
		return e.damaged(ctx, ins[:n], obs[:n], limit)
	}
	if err != nil {
		return 0, err
	}
	if death != nil && death.Killed == proc.Cancelled {
		return 0, ctx.Err()
	}
	if s.Uncounted() > 0 && !e.warned && e.target.Note != nil {
		e.warned = true
		e.target.Note(fmt.Sprintf("%s loads libraries while it runs whose edges do not fit into the shared memory: some edges are not counted. Link the libraries with the program, or load them in LLVMFuzzerInitialize", e.target.Command[0]))
	}
	e.candidates = e.candidates[:0]
	e.history.Ran(done)
	e.remember(s, ins[:done])
	for i := range done {
		if death != nil && i == done-1 {
			e.forget(obs[i].Ask, e.memory.Features(e.memory.Outcome(i)))
			e.died(&obs[i], death, s)
			e.buried(&obs[i], s)
			if c := obs[i].Evidence.(*Crash); death.Killed == proc.Timeout && limit >= e.target.limit() && len(c.Stack) > 0 {
				e.loops[c.group(c.triage())] = true
			}
			break
		}
		e.observe(&obs[i], i, s)
	}
	return done, e.confirm(ctx, s, ins, obs, limit)
}

// damaged runs a batch again, one input at a time, after the program has overwritten the memory that it shares with teasel. The
// input that causes that is rejected: without teasel it triggers no fault, and the features that it reports are not reliable.
func (e *executor) damaged(ctx context.Context, ins [][]byte, obs []teasel.Observation, limit time.Duration) (int, error) {
	if len(ins) == 1 {
		o := &obs[0]
		o.Features, o.Exit, o.Detail = o.Features[:0], teasel.ExitRejected, "the program has overwritten memory that it shares with teasel"
		if e.overwrites++; e.overwrites == 1 && e.target.Note != nil {
			e.target.Note(fmt.Sprintf("%s overwrites memory that it shares with teasel: such inputs are left out, and the memory is restored. A sanitizer may say where: build with -fsanitize=address", e.target.Command[0]))
		}
		return 1, nil
	}
	for i := range ins {
		if _, err := e.batch(ctx, ins[i:i+1], obs[i:i+1], limit); err != nil {
			return 0, err
		}
		if obs[i].Exit > teasel.ExitRejected {
			return i + 1, nil
		}
	}
	return len(ins), nil
}

// observe fills in the observation of the i-th run of a batch, in which the process did not die.
func (e *executor) observe(o *teasel.Observation, i int, s *sancov.Server) {
	outcome := e.memory.Outcome(i)
	o.Exit = teasel.ExitOK
	if outcome.Rejected != 0 || outcome.Status != 0 {
		o.Exit = teasel.ExitRejected
	}
	if status := syscall.WaitStatus(outcome.Status); outcome.Status != 0 && slices.Contains(e.target.Exits, status.ExitStatus()) {
		e.forget(o.Ask, e.memory.Features(outcome))
		e.died(o, &sancov.Death{Status: status, Stderr: s.Stderr()}, s)
		return
	}
	if o.Ask.Trace {
		o.Trace, o.Work = max(outcome.Trace, 1), outcome.Work+timeWork(outcome.CPU)
	}
	if o.Ask.Operands {
		e.record(o, outcome)
	}
	if outcome.FeatureCount() == 0 || outcome.Rejected != 0 {
		return
	}
	fs := e.memory.Features(outcome)
	if !o.Ask.Features {
		e.candidates = append(e.candidates, candidate{i, slices.Clone(fs)})
		return
	}
	for _, f := range fs {
		o.Features = append(o.Features, featureOf(f))
	}
}

// confirm runs the candidates once more. Features that are not reproduced depend on state that earlier inputs have left behind, and
// stay new for other inputs.
func (e *executor) confirm(ctx context.Context, s *sancov.Server, ins [][]byte, obs []teasel.Observation, limit time.Duration) error {
	for left := e.candidates; len(left) > 0; {
		if s.Gone() {
			for _, f := range left {
				e.forget(obs[f.index].Ask, f.features)
			}
			return nil
		}
		e.memory.Clear()
		for _, f := range left {
			e.memory.Add(ins[f.index], sancov.AskFeatures|sancov.AskQuiet)
		}
		done, death, err := s.Run(ctx, 0, max(limit, e.target.limit()))
		if errors.Is(err, sancov.ErrDamaged) { // none of the features is reliable, and all of them stay new
			for _, f := range left {
				e.forget(obs[f.index].Ask, f.features)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if death != nil && death.Killed == proc.Cancelled {
			return ctx.Err()
		}
		for i, f := range left[:done] {
			e.remember(s, ins[f.index:f.index+1])
			o := &obs[f.index]
			o.Runs++
			if death != nil && i == done-1 {
				e.forget(o.Ask, f.features)
				e.died(o, death, s)
				e.buried(o, s)
				continue
			}
			e.keep(o, f.features, e.memory.Features(e.memory.Outcome(i)))
		}
		left = left[done:]
	}
	return nil
}

// forget marks the features of a crashed run as unknown: they must stay new for inputs that do not crash. It does nothing if all
// features were asked for, since then it is not known which of them were new.
func (e *executor) forget(a teasel.Ask, fs []uint32) {
	if a.Features || a.Quiet {
		return
	}
	for _, f := range fs {
		e.memory.Forget(f)
	}
}

// keep adds to o the features that are in both lists, which are sorted. Features that were not reproduced become new again, at most
// maxUnstable times.
func (e *executor) keep(o *teasel.Observation, seen, again []uint32) {
	for _, f := range seen {
		if _, ok := slices.BinarySearch(again, f); ok {
			o.Features = append(o.Features, featureOf(f))
		} else if e.unstable[f] < maxUnstable {
			e.unstable[f]++
			e.memory.Forget(f)
		}
	}
}
