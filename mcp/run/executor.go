package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/wear"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// executor runs scripts on a server, which it replaces when it dies, and keeps others ready for that.
type executor struct {
	target  *Target
	session *session.Session
	names   *script.Names
	live    *peer                // the handshake is done; nil: to be started
	standby *proc.Standby[*peer] // nothing was sent to them; most servers take longer to start than to answer ten thousand requests

	talks  []*talk
	before []*talk // of the call before: their evidence is still good
	traffic
	replaying bool       // this call runs one script on purpose, not what a mutator came to
	submitted *submitted // the last batch

	window     int // talks in flight
	runs       uint64
	restarts   restarts
	records    map[script.Topic]*record
	novelty    observe.Novelty
	late       []*talk      // that outlive the call that they came from
	checks     atomic.Int32 // of those, checks that have not been run
	background background
	worn       wear.Ends[ending]
	wearing    bool // a server is being worn out
}

// traffic is what servers have written.
type traffic struct {
	read, kept int // bytes that came during this call; of those, what belongs to a script
	load       int // bytes that came for each script of late
}

var (
	_ teasel.Executor[script.Script]      = (*executor)(nil)
	_ teasel.BatchExecutor[script.Script] = (*executor)(nil)
	_ teasel.Pipeliner[script.Script]     = (*executor)(nil)
	_ teasel.Weigher[script.Script]       = (*executor)(nil)
	_ teasel.Resetter                     = (*executor)(nil)
	_ teasel.Historian[script.Script]     = (*executor)(nil)
	_ teasel.Postponer                    = (*executor)(nil)
)

const (
	maxBatchBytes = 1 << 18 // that are sent, and that may be expected as answers; trees take up to forty times as much
	maxKeptBytes  = 1 << 23 // of memory for answers in one call
	heavyBytes    = 1 << 14 // for each script, from which batches are smaller
	batchScripts  = 256     // the server idles between batches
)

// newExecutor returns an executor without a server.
func newExecutor(t *Target, found *session.Session) *executor {
	e := &executor{target: t, session: found, standby: proc.NewStandby(func(context.Context) (*peer, error) { return t.launch() }), records: make(map[script.Topic]*record),
		window: max(t.window()/2, 1), restarts: restarts{began: time.Now()}}
	if found != nil {
		e.names = script.NewNames(found, t.Blocked, t.Excluded)
	}
	return e
}

// Open starts the server and initializes a session. When that fails the error is a [*StartError]. In the background the servers
// are few, and yield the processor to those of the campaign.
func (t *Target) Open(ctx context.Context, role teasel.Role) (teasel.Executor[script.Script], error) {
	if role.Background {
		t = t.background(niceness)
	}
	e := newExecutor(t, t.Session)
	s, err := t.launch()
	if err != nil {
		return nil, err
	}
	if e.session == nil {
		e.session, err = t.command().Discover(ctx, s.Server)
	} else {
		s.Mirrors = e.session.Mirrors
		_, err = t.command().Initialize(ctx, s.Server)
	}
	if start := (*server.StartError)(nil); t.Session != nil && errors.As(err, &start) && start.Declined() { // it was served before
		s.Close()
		if s, err = e.up(ctx); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	if err != nil {
		s.Close()
		if t.Session != nil { // it was there
			err = t.Gone(err)
		}
		return nil, err
	}
	e.standby.Fill(1)
	if e.live = s; e.names == nil {
		e.names = script.NewNames(e.session, t.Blocked, t.Excluded)
	}
	return e, nil
}

// BatchSize says how many scripts are best handed in together.
func (e *executor) BatchSize() int { return max(batchScripts, 2*e.target.window()) }

// weightBytes is how many bytes of a script count as another one: a batch, of which there are three, holds a megabyte.
const weightBytes = 4 << 10

// Weight implements [teasel.Weigher].
func (e *executor) Weight(in script.Script) int { return 1 + in.Size()/weightBytes }

// begin gives each script of a call a talk.
func (e *executor) begin(ins []script.Script, obs []teasel.Observation) {
	e.talks, e.before = e.before, e.talks
	for len(e.talks) < len(ins) {
		e.talks = append(e.talks, new(talk))
	}
	for _, k := range e.talks[len(ins):] { // what a smaller batch leaves idle would keep its trees
		k.free()
	}
	e.talks = e.talks[:len(ins)]
	e.read, e.kept = 0, 0
	for i, k := range e.talks {
		k.take(e, &ins[i], &obs[i])
	}
}

// Exec runs one script with nothing else in flight and waits for every answer as long as it may take.
func (e *executor) Exec(ctx context.Context, in script.Script, obs *teasel.Observation) error {
	e.begin([]script.Script{in}, []teasel.Observation{{}})
	k := e.talks[0]
	k.obs = obs
	e.replaying = true
	defer func() { e.replaying = false }()
	if k.state != skipped {
		if err := e.runAlone(ctx, k, true); err != nil {
			return err
		}
	}
	k.conclude()
	return nil
}

// ExecBatch runs scripts: first those that every client could send, together, then the others, one at a time. Of large ones it
// takes only as many as it can hold.
func (e *executor) ExecBatch(ctx context.Context, ins []script.Script, obs []teasel.Observation) (int, error) {
	if len(ins) == 0 {
		return 0, nil
	}
	n, size := 0, 0
	for ; n < len(ins) && (n == 0 || size < maxBatchBytes); n++ {
		if size += ins[n].Size(); e.load >= heavyBytes { // a little more or less must not matter: the clock has its part in it
			size += e.load
		}
	}
	e.begin(ins[:n], obs[:n])
	err := e.batch(ctx)
	e.load += (e.read/n - e.load) / 4
	if err == nil && !slices.ContainsFunc(e.talks, func(k *talk) bool { return k.state != skipped }) {
		err = e.awaitPending(ctx)
	}
	for i, k := range e.talks {
		if err == nil {
			k.conclude()
		}
		switch {
		case k.state == suspended:
			k.detach()
			e.talks[i] = new(talk)
		case k.state == postponed:
			e.postpone(k)
			e.talks[i] = new(talk)
		case k.server != nil:
			k.server.finishTalk(k)
		}
	}
	return n, errors.Join(err, e.advanceBackground(ctx))
}

func (e *executor) batch(ctx context.Context) error {
	var many []*talk
	for _, k := range e.talks {
		if !k.alone && k.state != skipped {
			many = append(many, k)
		}
	}
	// A long one that began last would have the server for itself in the end.
	slices.SortStableFunc(many, func(a, b *talk) int { return cmp.Compare(len(b.plan), len(a.plan)) })
	if err := e.together(ctx, many); err != nil {
		return err
	}
	if err := e.renewOld(len(many)); err != nil {
		return err
	}
	for _, k := range e.talks {
		switch {
		case k.recheck && k.state == judged && !k.failed(): // something came of it, or of another in flight
			k.again()
		case !k.alone || !e.admit(k) || e.postpones(k):
			continue
		}
		if err := e.runAlone(ctx, k, false); err != nil {
			return err
		}
	}
	return nil
}

// up returns a server on which the handshake is done.
func (e *executor) up(ctx context.Context) (*peer, error) {
	if s := e.live; s != nil {
		s.alone, s.unattributed = nil, false
		err := e.receive(ctx, s, time.Time{}) // what has come since belongs to nobody but those suspended
		if err == nil && s.Running() && !s.ended {
			return s, nil
		}
		if s.ended {
			if err := e.discard(s, nil); err != nil {
				return nil, err
			}
			return e.up(ctx)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f, err := waitEndOf(err)
		if err != nil {
			return nil, e.discard(s, err)
		}
		if err := e.diedIdle(ctx, s, f); err != nil {
			return nil, err
		}
	}
	again := func(err error) bool { var failed *server.StartError; return errors.As(err, &failed) }
	if len(e.target.Args) == 0 {
		again = mayServeSoon
	}
	began := time.Now()
	defer func() { e.restarts.took += time.Since(began) }()
	err := proc.Restart(ctx, func() error {
		s, err := e.take(ctx)
		if err != nil {
			return err
		}
		if _, err = e.target.command().Initialize(ctx, s.Server); err == nil {
			e.live = s
			return nil
		}
		s.Close()
		return err
	}, again)
	if err != nil {
		return nil, fmt.Errorf("starting the server again: %w", e.target.Gone(err))
	}
	return e.live, nil
}

// take returns a server to which nothing was sent.
func (e *executor) take(ctx context.Context) (*peer, error) {
	s, err := e.standby.Take(ctx)
	if err == nil {
		s.Mirrors = e.session.Mirrors
	}
	e.standby.Fill(e.target.spares())
	return s, err
}

// diedIdle is for a server that has ended between two calls, after it had answered everything. Its last script is handed out as if
// it had ended it: the engine tries it alone, and then together with what ran before it.
func (e *executor) diedIdle(ctx context.Context, s *peer, f waitEnd) error {
	end := s.End(f == waitEnded)
	e.forget(s)
	past := s.past.Before(s.past.Added())
	if len(past) == 0 || end.EOF {
		return nil
	}
	if worn, err := e.wears(ctx, &script.Transcript{End: end}, s.lines()); worn > 0 || err != nil {
		return err
	}
	last := script.Unpack(past[len(past)-1])
	k := new(talk)
	k.take(e, &last, nil)
	if k.state == skipped || len(last.Steps) == 0 {
		return nil
	}
	k.server, k.state = s, over
	k.t.Past, k.t.Place, k.t.End = &s.past, s.past.Added(), end
	i := len(last.Steps) - 1 // its last line as it was written: what it was sent as is not known any more
	k.t.Sent = append(k.t.Sent, script.Sent{Step: i, Raw: last.Steps[i].Line, Message: k.plan[i].message, Answer: -1})
	k.noteEnd(f)
	e.charge(k, deathPrice)
	e.finish(k)
	return nil
}

// discard ends a server in the middle of a conversation that an error of ours has broken off: what would come next belongs to
// nobody.
func (e *executor) discard(s *peer, err error) error {
	e.forget(s)
	return errors.Join(err, s.Close())
}

// Reset implements [teasel.Resetter]: the next call runs on a fresh server.
func (e *executor) Reset(context.Context) error {
	s := e.live
	if s == nil || s.past.Added() == 0 {
		return nil
	}
	e.forget(s)
	return s.Close()
}

// Close ends all processes.
func (e *executor) Close() error {
	var errs []error
	if e.submitted != nil {
		<-e.submitted.back
	}
	errs = append(errs, e.background.close())
	if e.live != nil {
		errs = append(errs, e.live.Stop())
	}
	for _, talks := range [][]*talk{e.talks, e.before, e.late} {
		for _, k := range talks {
			k.free()
		}
	}
	return errors.Join(append(errs, e.standby.Close())...)
}

// submitted is a batch that runs.
type submitted struct {
	done int
	err  error
	back chan struct{} // closed when the batch has come back
}

// Submit starts a batch: a server that waits for the worker to judge its answers would be idle.
func (e *executor) Submit(ctx context.Context, ins []script.Script, obs []teasel.Observation) error {
	b := &submitted{back: make(chan struct{})}
	e.submitted = b
	go func() {
		defer close(b.back)
		b.done, b.err = e.ExecBatch(ctx, ins, obs)
	}()
	return nil
}

// Collect waits for the batch that was submitted.
func (e *executor) Collect(context.Context) (int, error) {
	<-e.submitted.back
	return e.submitted.done, e.submitted.err
}

// History implements [teasel.Historian]. Scripts that ran together are returned step by step, in the order in which the server got
// them.
func (e *executor) History(obs *teasel.Observation) []script.Script {
	t, ok := obs.Evidence.(*script.Transcript)
	if !ok || t.Past == nil {
		return nil
	}
	var past []script.Script
	for _, piece := range t.Past.Before(t.Place) {
		past = append(past, script.Unpack(piece))
	}
	for _, k := range e.talks {
		if &k.t == t && k.refers && k.state == lost { // not all of it was sent, so that it was not added
			past = append(past, script.Copy(script.Script{}, *k.in))
		}
	}
	return past
}
