package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/forkserver"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/internal/virgin"
)

var (
	_ teasel.Executor[[]byte]      = (*aflExecutor)(nil)
	_ teasel.BatchExecutor[[]byte] = (*aflExecutor)(nil)
	_ teasel.Learner               = (*aflExecutor)(nil)
	_ teasel.Resetter              = (*aflExecutor)(nil)
)

// aflExecutor runs a program that AFL or AFL++ has built, through its fork server.
type aflExecutor struct {
	target     Target
	alone      []string // arguments without which a harness does not read its input, if it runs without the fork server
	command    forkserver.Command
	server     *forkserver.Server
	novelty    *virgin.Novelty
	unstable   map[uint32]uint8 // features that were not reproduced, and how often
	features   []uint32
	exits      []int
	classifier classifier
	plain      *forkserver.Plain  // runs crashes once more, without the fork server; nil: not yet
	located    map[uint64]located // crashes found while fuzzing, by their name
	confirms   bool               // the run in flight confirms a finding: a crash is reported even if it is known
}

// located is where and how a program has crashed.
type located struct {
	crash  Crash
	detail string
}

func (t Target) openAFL(ctx context.Context, p image) (teasel.Executor[[]byte], error) {
	e := &aflExecutor{target: t, unstable: map[uint32]uint8{}, located: map[uint64]located{}, exits: t.exits(), classifier: newClassifier(t)}
	if p.harness && len(t.Command) == 1 {
		e.alone = []string{"-"}
	}
	var err error
	if e.command, err = e.target.prepare(p); err == nil {
		e.command.Map, e.command.Look = t.mapSize(), e.classifier.look
		e.server, err = forkserver.Start(ctx, e.command)
	}
	if err != nil {
		return nil, t.openError(ctx, err, e.Close())
	}
	e.novelty = virgin.New(e.server.Hello.MapSize)
	return e, nil
}

// variable returns a variable of the target's environment, "" if it is not set.
func (t Target) variable(name string) (value string) {
	for _, e := range append(os.Environ(), t.Env...) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// exits returns the exit statuses that count as crashes. One may be set by AFL's variable of the environment.
func (t Target) exits() []int {
	if n, err := strconv.Atoi(t.variable("AFL_CRASH_EXITCODE")); err == nil && n != 0 {
		return append(slices.Clone(t.Exits), n&0xff)
	}
	return t.Exits
}

// mapSize returns the size of the coverage map that the user has set, 0 if there is none or it is below the default.
func (t Target) mapSize() int {
	if n, err := strconv.Atoi(t.variable("AFL_MAP_SIZE")); err == nil && n > 8<<20 && n <= 1<<30 {
		return n
	}
	return 0
}

// Close kills the program and the processes it has started.
func (e *aflExecutor) Close() (err error) {
	defer e.target.release()
	if e.server != nil {
		err = e.server.Close()
		e.server = nil
	}
	if e.plain != nil {
		err = errors.Join(err, e.plain.Close())
		e.plain = nil
	}
	if e.command.Folder != "" {
		err = errors.Join(err, os.RemoveAll(e.command.Folder))
	}
	return errors.Join(err, e.target.home.Close())
}

// Reset makes the next run start in a fresh process.
func (e *aflExecutor) Reset(context.Context) error {
	if e.server != nil && !e.server.Gone() {
		e.server.Renew()
	}
	return nil
}

// Learn records features that the worker has already.
func (e *aflExecutor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if f > 0 && f <= 1<<32 {
			e.novelty.Learn(uint32(f-1), int(complexity))
		}
	}
}

// revive starts the program again if its fork server is gone.
func (e *aflExecutor) revive(ctx context.Context) error {
	if !e.server.Gone() {
		return nil
	}
	if err := e.server.Close(); err != nil {
		return err
	}
	s, err := forkserver.Start(ctx, e.command)
	if err != nil {
		return err
	}
	if before := e.server.Hello.MapSize; s.Hello.MapSize > before {
		return errors.Join(fmt.Errorf("its map grew from %d to %d bytes", before, s.Hello.MapSize), s.Close())
	}
	e.server = s
	return nil
}

// BatchSize is one, since the fork server takes one input at a time. The executor supports batches nevertheless, so that fuzzing,
// which calls ExecBatch, can be distinguished from confirming, which calls Exec.
func (e *aflExecutor) BatchSize() int { return 1 }

// ExecBatch runs the first input. Of crashes it reports only new ones.
func (e *aflExecutor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	return 1, e.exec(ctx, ins[0], &obs[0], e.target.runLimit(obs[0].Ask))
}

// Exec runs one input to confirm how it ends. Unless the run is to be quick, its time limit is higher than in a batch, so that a
// slow input is not reported as a hang.
func (e *aflExecutor) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	e.confirms = true
	defer func() { e.confirms = false }()
	return e.exec(ctx, in, o, e.target.confirmLimit(o.Ask))
}

func (e *aflExecutor) exec(ctx context.Context, in []byte, o *teasel.Observation, limit time.Duration) error {
	died, err := e.run(ctx, in, o, limit)
	if err != nil || died || o.Runs == 0 {
		return err
	}
	trace := e.server.Trace()
	if o.Ask.Trace {
		o.Trace, o.Work = e.novelty.Hash(trace)
	}
	if o.Ask.Features {
		e.features = e.novelty.Features(e.features[:0], trace)
		for _, f := range e.features {
			o.Features = append(o.Features, teasel.Feature(f)+1)
		}
		return nil
	}
	if !o.Ask.Quiet && e.novelty.News(trace, len(in)) {
		return e.confirm(ctx, in, o, max(limit, e.target.limit()))
	}
	return nil
}

// run runs the input and reports whether it ended in a crash or a hang.
func (e *aflExecutor) run(ctx context.Context, in []byte, o *teasel.Observation, limit time.Duration) (died bool, err error) {
	if err := e.revive(ctx); err != nil {
		return false, err
	}
	if len(in) > e.server.MaxLength() {
		o.Exit, o.Runs, o.Detail = teasel.ExitRejected, 0, fmt.Sprintf("the input has %d bytes, expected at most %d", len(in), e.server.MaxLength())
		return false, nil
	}
	r, err := e.server.Run(ctx, in, limit)
	if err != nil {
		return false, err
	}
	switch {
	case r.Killed == proc.Cancelled:
		return false, context.Cause(ctx)
	case r.Killed != proc.NotKilled, r.Gone, r.Status.Signaled(), r.Status.Exited() && r.Status != 0 && e.fatal(r.Status.ExitStatus()):
		return true, e.died(ctx, in, o, r, limit)
	}
	o.Exit = teasel.ExitOK
	if r.Status.Exited() && r.Status != 0 {
		o.Exit = teasel.ExitRejected
	}
	return false, nil
}

// fatal reports whether an exit status is a crash.
func (e *aflExecutor) fatal(status int) bool {
	return slices.Contains(e.exits, status) || sanitizerExit(status) && triage.Reported(e.server.Stderr())
}

// confirm runs an input that seems to reach new features once more. Features that are not reproduced depend on state that earlier
// inputs have left behind, or are random; they stay new for other inputs, but only maxUnstable times.
func (e *aflExecutor) confirm(ctx context.Context, in []byte, o *teasel.Observation, limit time.Duration) error {
	e.features = e.novelty.New(e.novelty.Features(e.features[:0], e.server.Trace()), len(in))
	again := teasel.Observation{Ask: o.Ask, Runs: 1}
	died, err := e.run(ctx, in, &again, limit)
	o.Runs += again.Runs
	if err != nil {
		return err
	}
	if died {
		o.Exit, o.Detail, o.Evidence = again.Exit, again.Detail, again.Evidence
		return nil
	}
	recurring := e.novelty.Features(nil, e.server.Trace())
	for _, f := range e.features {
		if _, ok := slices.BinarySearch(recurring, f); ok {
			o.Features = append(o.Features, teasel.Feature(f)+1)
		} else if e.unstable[f] < maxUnstable {
			e.unstable[f]++
			continue
		}
		e.novelty.Learn(f, len(in))
	}
	return nil
}

// died fills in the observation of a run that ended in a crash or a hang. Where nothing says where a crash was, a run under a tracer does. If
// that does not crash, for want of what ran before, the crash is identified by the edges that it has reached. While fuzzing, a crash that
// reaches no new edges is not reported. While confirming a finding every crash is reported, except that a quick run, which another run
// verifies, reports only known crashes among those that are identified by their edges.
func (e *aflExecutor) died(ctx context.Context, in []byte, o *teasel.Observation, r forkserver.Result, limit time.Duration) error {
	c := e.classifier.classify(o, r, e.server.Stderr(), e.target.limit())
	if r.Killed != proc.NotKilled || r.Gone || len(c.Stack) > 0 || c.Rule == ruleExit {
		return nil
	}
	trace := e.server.Trace() // stays as it is until the fork server runs the next input
	if e.confirms {
		if err := e.locate(ctx, in, o, c, limit); err != nil || len(c.Stack) > 0 {
			return err
		}
	}
	known, again := e.classifier.deaths(c.Rule), func() ([]byte, bool, error) {
		if err := e.revive(ctx); err != nil {
			return nil, false, err
		}
		o.Runs++
		other, err := e.server.Run(ctx, in, limit)
		if err == nil && other.Killed == proc.Cancelled {
			err = context.Cause(ctx)
		}
		return e.server.Trace(), !other.Gone && other.Killed == proc.NotKilled && other.Status == r.Status, err
	}
	var death virgin.Death
	reported, err := true, error(nil)
	switch {
	case !e.confirms:
		death, reported, err = known.Judge(trace, again)
	case o.Ask.Quick:
		death, reported = known.Known(trace)
	default:
		death, err = known.Name(trace, again)
	}
	if err != nil {
		return err
	}
	if !reported {
		o.Evidence = nil
		return nil
	}
	if !e.confirms {
		if err := e.locateOnce(ctx, in, o, c, death.Name, limit); err != nil || len(c.Stack) > 0 {
			return err
		}
	}
	c.Trace, c.Varies = death.Name, !death.Exact
	return nil
}

// locate adds to a crash where it was, if a run under a tracer tells.
func (e *aflExecutor) locate(ctx context.Context, in []byte, o *teasel.Observation, c *Crash, limit time.Duration) error {
	if !c.wordless() {
		return nil
	}
	if e.plain == nil {
		command := e.command
		command.Args = slices.Concat(command.Args, e.alone)
		command.Folder = "" // which is removed with that of the fork server
		p, err := forkserver.NewPlain(command)
		if err != nil {
			return err
		}
		e.plain = p
	}
	return e.classifier.locate(ctx, e.plain, in, o, c, limit)
}

// locateOnce is locate for a crash with a name, which is located once.
func (e *aflExecutor) locateOnce(ctx context.Context, in []byte, o *teasel.Observation, c *Crash, name uint64, limit time.Duration) error {
	name ^= uint64(c.Signal)
	if before, ok := e.located[name]; ok {
		*c, o.Detail = before.crash, before.detail
		return nil
	}
	if err := e.locate(ctx, in, o, c, limit); err != nil {
		return err
	}
	e.located[name] = located{*c, o.Detail}
	return nil
}
