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
)

// executor runs a program in one process, and in a second one of the same program, or of another build, when somebody
// wants to know what it compares. Both judge by the same maps.
type executor struct {
	target  Target
	command sancov.Command
	memory  *sancov.Memory
	plain   *sancov.Server
	hooked  *sancov.Server // nil: not needed so far
	folder  string         // of the input's file; "": none
	symbols triage.Symbols

	history operands.History

	finds    []find
	unstable map[uint32]uint8 // features that did not recur, and how often they did not
	loops    map[string]bool  // groups of runs that had all their time and did not end

	overwrites int  // inputs that have overwritten shared memory
	warned     bool // that edges are not counted
	confirms   bool // the run in flight confirms a finding: it has more time, and its report is to be complete
}

// find is an input that seemed to be news.
type find struct {
	index    int
	features []uint32
}

// maxUnstable is how often a feature that does not recur may count as new again.
const maxUnstable = 4

func (e *executor) start(ctx context.Context) (err error) {
	e.plain, err = e.launch(ctx, e.command)
	return err
}

// server returns a live process for what is asked.
func (e *executor) server(ctx context.Context, a teasel.Ask) (s *sancov.Server, err error) {
	at, c := &e.plain, e.command
	if a.Operands && (e.target.Operands != "" || e.plain != nil && e.plain.Unhooked() > 0) {
		at, c.Hooks = &e.hooked, nil
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

// Close ends the program and what it has started.
func (e *executor) Close() (err error) {
	defer e.target.release()
	for _, s := range [...]*sancov.Server{e.plain, e.hooked} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	e.plain, e.hooked = nil, nil
	if e.memory != nil {
		err = errors.Join(err, e.memory.Close())
		e.memory = nil
	}
	if e.folder != "" {
		err = errors.Join(err, os.RemoveAll(e.folder))
	}
	return err
}

// Reset gives the next run a fresh process.
func (e *executor) Reset(context.Context) error {
	for _, s := range [...]*sancov.Server{e.plain, e.hooked} {
		if s != nil && !s.Gone() {
			s.Renew() // one that is gone is replaced by the next run
		}
	}
	return nil
}

// Learn notes what the worker holds.
func (e *executor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if n, ok := numberOf(f); ok {
			e.memory.Learn(n, int(complexity))
		}
	}
}

// BatchSize is how many inputs make one round trip at most. A stage that makes fewer has fewer.
func (e *executor) BatchSize() int { return e.target.batch(e.plain.Hello.Flags&sancov.Harness != 0) }

// confirmLimits is how many times the limit a run gets that confirms a hang: one that is merely slow ends by then.
const confirmLimits = 3

// Exec runs one input, for more than its limit, unless less will do: what it reports as a hang is one.
func (e *executor) Exec(ctx context.Context, in []byte, obs *teasel.Observation) error {
	ins, all := [1][]byte{in}, [1]teasel.Observation{*obs}
	e.confirms = !obs.Ask.Quick
	defer func() { e.confirms = false }()
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
	return bits
}

// patience is the processor time that a run may take.
func (t Target) patience(a teasel.Ask) time.Duration {
	if a.Quick {
		return t.limit() / 5
	}
	return t.limit()
}

// confirmLimit is the processor time that a run may take which confirms a finding: more than its limit, unless less will do.
func (t Target) confirmLimit(a teasel.Ask) time.Duration {
	if a.Quick {
		return t.patience(a)
	}
	return confirmLimits * t.limit()
}

// earlyHangDivisor is by what the limit of a run is divided once a hang is known: a run that takes so long is sampled, and ended
// if it is in the same loop.
const earlyHangDivisor = 5

// ExecBatch runs inputs, all of which have the same Ask, up to the first that the program does not survive. Where there is one
// endless loop, many inputs reach it: a run in a known one does not get its full limit again.
func (e *executor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	full := e.target.patience(obs[0].Ask)
	limit := full
	if len(e.loops) > 0 {
		limit = min(full, e.target.limit()/earlyHangDivisor)
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

// batch runs inputs, each for no longer than the limit.
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
		obs[0].Exit, obs[0].Runs, obs[0].Detail = teasel.ExitRejected, 0, fmt.Sprintf("%d bytes are more than there is room for", len(ins[0]))
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
		e.target.Note(fmt.Sprintf("%s loads libraries while it runs that have more edges than there is room for: some are not counted. Link them with the program, or load them in LLVMFuzzerInitialize", e.target.Command[0]))
	}
	e.finds = e.finds[:0]
	e.history.Ran(done)
	for i := range done {
		if death != nil && i == done-1 {
			e.forget(obs[i].Ask, e.memory.Features(e.memory.Outcome(i)))
			e.died(&obs[i], death, s)
			if c := obs[i].Evidence.(*Crash); death.Killed == proc.Timeout && limit >= e.target.limit() && len(c.Stack) > 0 {
				e.loops[c.group(c.triage())] = true
			}
			break
		}
		e.observe(&obs[i], i, s)
	}
	return done, e.confirm(ctx, s, ins, obs, limit)
}

// damaged runs a batch again, one input at a time, in which the program has written over the memory that it shares with
// teasel. The input that makes it do so is rejected: it shows no fault without teasel, and nothing it seems to reach is sure.
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

// observe fills in what a slot says of a run that ended by itself.
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
		o.Trace, o.Work = max(outcome.Trace, 1), outcome.Work+lasting(outcome.CPU)
	}
	if o.Ask.Operands {
		e.record(o, outcome)
	}
	if outcome.FeatureCount() == 0 || outcome.Rejected != 0 {
		return
	}
	fs := e.memory.Features(outcome)
	if !o.Ask.Features {
		e.finds = append(e.finds, find{i, slices.Clone(fs)})
		return
	}
	for _, f := range fs {
		o.Features = append(o.Features, featureOf(f))
	}
}

// confirm runs what seemed to be news once more. What does not recur came of something that earlier inputs had left
// behind, and may still be news another time.
func (e *executor) confirm(ctx context.Context, s *sancov.Server, ins [][]byte, obs []teasel.Observation, limit time.Duration) error {
	for left := e.finds; len(left) > 0; {
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
		if errors.Is(err, sancov.ErrDamaged) { // nothing of it is certain, and all of it may be news another time
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
			o := &obs[f.index]
			o.Runs++
			if death != nil && i == done-1 {
				e.forget(o.Ask, f.features)
				e.died(o, death, s)
				continue
			}
			e.keep(o, f.features, e.memory.Features(e.memory.Outcome(i)))
		}
		left = left[done:]
	}
	return nil
}

// forget makes news again what a run has reached that is not told of, since it ended badly: an input that does not may reach
// it as well. With all features asked for there is no telling what was news.
func (e *executor) forget(a teasel.Ask, fs []uint32) {
	if a.Features || a.Quiet {
		return
	}
	for _, f := range fs {
		e.memory.Forget(f)
	}
}

// keep puts into o what is in both lists, each of which rises.
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
