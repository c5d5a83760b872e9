package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// executor runs scripts on a server process, which it replaces when it dies, and keeps others ready for that.
type executor struct {
	target  *Target
	session *session.Session
	blocked script.Blocklist
	methods map[string]string // those there are, each by itself
	names   map[string]string // of tools and prompts

	live     *server       // the handshake is done; nil: to be started
	aside    *server       // what was live, while a call runs on a fresh one; nil: none does
	clean    *server       // that such a call has left as good as fresh; nil: none
	resets   bool          // the next call wants one
	unkilled []*server     // that did not die in time when they were killed
	spares   []*server     // nothing was said to them yet; the oldest first
	taken    time.Time     // when one of them was last needed
	startup  time.Duration // the longest that one of them took
	quick    bool          // the first took no time worth doing anything else meanwhile
	lingers  int           // executions to be watched for longer: the server has died some time after its last answer
	idle     int           // times that it has
	riddles  int           // deaths of servers that did not come again
	unstuck  int           // servers that were replaced because they answered less and less
	slowest  time.Duration // that any answer took which came to a script by itself

	lanes      []*lane
	before     []*lane // of the call before: its evidence is still good
	active     int     // of them
	read       int     // bytes that came during this call
	kept       int     // of those, what belongs to a script
	weight     int     // bytes that came for each script of late
	whole      bool    // this call has the last word: answers are waited for as long as they may take
	deliberate bool    // it runs one script on purpose, not what a mutator came to
	single     script.Script
	reader     *mutate.JSONParser // of the line that was received last

	waiting   []*lane // parked
	resumed   []*lane // what they waited for has come, and they have more to say
	orphans   []*lane // their server has ended before it could answer them
	dangling  []*lane // nothing more should come to them
	expensive []*lane // scripts that wait for a process of their own
	back      []*lane // to be handed to whoever asks for stragglers
	records   map[topic]*record
	customs   map[topic]*custom
	strays    map[uint64]int
	silences  map[topic]int
	sorts     map[string]int
	runs      uint64     // requests
	fresh     uint64     // mutated scripts that had a process of their own
	bulk      uint64     // bytes that mutated scripts have said in long lines
	submitted *submitted // the last batch
	annex     annex
	annexed   bool // it is itself one
	queued    int  // then: scripts that wait for it
	pressed   bool // its servers had too little of the processors
}

var (
	_ teasel.Executor[script.Script]      = (*executor)(nil)
	_ teasel.BatchExecutor[script.Script] = (*executor)(nil)
	_ teasel.Pipeliner[script.Script]     = (*executor)(nil)
	_ teasel.Resetter                     = (*executor)(nil)
	_ teasel.Historian[script.Script]     = (*executor)(nil)
)

const (
	maxBatchBytes = 1 << 18         // that are written, and that may be expected as answers; trees take up to forty times as much
	maxKeptBytes  = 1 << 22         // of answers in one call
	heavyBytes    = 1 << 14         // for each script, from which batches are smaller
	batchWindows  = 2               // a batch is so many windows long: the server idles only between batches
	batchScripts  = 128             // and at least so many scripts
	stopTime      = 2 * time.Second // for a server to end when its input has ended, before it is killed
	startTries    = 3               // before we believe that a server which has started once starts no more
)

// Open starts the server and initializes a session. When that fails the error is a [*conn.StartError]. In the background the servers
// are few, and yield the processor to those of the campaign.
func (t *Target) Open(ctx context.Context, role teasel.Role) (teasel.Executor[script.Script], error) {
	if role.Background {
		t = t.aside(niceness)
	}
	e := newExecutor(t, t.Session)
	s, err := t.launch()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if e.session == nil {
		e.session, err = t.discover(ctx, s)
	} else {
		_, err = t.shakeHands(ctx, s)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	e.startup, e.live = time.Since(began), s
	e.quick = e.startup < quickStart
	e.learn()
	if err := e.warmUp(); err != nil {
		s.Close()
		return nil, err
	}
	return e, nil
}

func newExecutor(t *Target, session *session.Session) *executor {
	return &executor{target: t, session: session, reader: new(mutate.JSONParser), records: make(map[topic]*record), customs: make(map[topic]*custom),
		strays: make(map[uint64]int), silences: make(map[topic]int), sorts: make(map[string]int)}
}

// learn notes what of a server is known by name.
func (e *executor) learn() {
	e.blocked = script.NewBlocklist(e.session, e.target.Blocked, e.target.Excluded)
	e.methods, e.names = make(map[string]string), make(map[string]string)
	for _, m := range session.Methods {
		e.methods[m] = m
	}
	for _, m := range session.Notifications {
		e.methods[m] = m
	}
	for i := range e.session.Tools {
		e.names[e.session.Tools[i].Name] = e.session.Tools[i].Name
	}
	for i := range e.session.Prompts {
		e.names[e.session.Prompts[i].Name] = e.session.Prompts[i].Name
	}
}

// BatchSize says how many scripts are best handed in together.
func (e *executor) BatchSize() int { return max(batchWindows*e.target.window(), batchScripts) }

// begin forgets the last call.
func (e *executor) begin(n int) {
	e.whole, e.deliberate = false, false
	e.lanes, e.before = e.before, e.lanes
	for len(e.lanes) < n {
		e.lanes = append(e.lanes, new(lane))
	}
	if n > 1 { // what a smaller batch leaves idle would keep its trees
		clear(e.lanes[n:])
		e.lanes = e.lanes[:n]
	}
	e.active, e.read, e.kept = n, 0, 0
	if e.live != nil {
		e.live.rewind()
	}
}

// Exec runs one script with nothing else in flight and waits for every answer as long as it may take.
func (e *executor) Exec(ctx context.Context, in script.Script, obs *teasel.Observation) error {
	if e.target.yields > 0 && !e.annexed { // in the background the evidence of the script before is not needed any more
		e.release()
	}
	e.single = in
	if err := e.enter([]script.Script{in}); err != nil {
		return err
	}
	e.begin(1)
	l := e.lanes[0]
	l.take(&e.single, obs)
	e.whole, e.deliberate = !obs.Ask.Quick, true
	if l.prepare(e); !l.skip {
		if err := e.solo(ctx, l, true); err != nil {
			return errors.Join(err, e.leave())
		}
	}
	if err := e.leave(); err != nil {
		return err
	}
	e.conclude(0)
	return nil
}

// ExecBatch runs scripts: first those that every client could send, together, then the odd ones, one at a time. Of large
// ones it takes only as many as it can hold.
func (e *executor) ExecBatch(ctx context.Context, ins []script.Script, obs []teasel.Observation) (int, error) {
	n, size := 0, 0
	for ; n < len(ins) && (n == 0 || size < maxBatchBytes); n++ {
		if size += ins[n].Size(); e.weight >= heavyBytes { // a little more or less must not matter: the clock has its part in it
			size += e.weight
		}
	}
	ins, obs = ins[:n], obs[:n]
	if err := e.enter(ins); err != nil {
		return 0, err
	}
	e.begin(len(ins))
	if err := errors.Join(e.batch(ctx, ins, obs), e.leave()); err != nil {
		return 0, err
	}
	e.weight += (e.read/len(ins) - e.weight) / 4
	for i := range ins {
		e.conclude(i)
	}
	return len(ins), nil
}

func (e *executor) batch(ctx context.Context, ins []script.Script, obs []teasel.Observation) error {
	lanes := e.lanes[:len(ins)]
	for i, l := range lanes {
		l.take(&ins[i], &obs[i])
	}
	longest := slices.Clone(lanes) // first, or its last steps would keep the server waiting when all others are through
	slices.SortStableFunc(longest, func(a, b *lane) int { return len(b.in.Steps) - len(a.in.Steps) })
	if err := e.together(ctx, longest); err != nil {
		return err
	}
	for i, l := range lanes {
		if !l.alone || l.skip {
			continue
		}
		if l.skip = !e.mayRun(l); l.skip || e.postpone(i) {
			continue
		}
		if err := e.solo(ctx, l, false); err != nil {
			return err
		}
	}
	if err := e.settleDangling(ctx); err != nil {
		return err
	}
	if err := e.adopt(ctx); err != nil {
		return err
	}
	return e.catchUp(ctx)
}

// up returns a server on which the handshake is done.
func (e *executor) up(ctx context.Context) (*server, error) {
	if err := e.unstick(); err != nil {
		return nil, err
	}
	if e.live != nil {
		if e.drain() {
			return e.live, nil
		}
		if err := e.diedIdle(ctx); err != nil {
			return nil, err
		}
		if e.live != nil {
			return e.live, nil
		}
	}
	for try := 1; ; try++ {
		s, err := e.takeSpare()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		_, err = e.target.shakeHands(ctx, s)
		if err == nil {
			e.live = s
			e.startup = max(e.startup, time.Since(began))
			return s, e.warmUp()
		}
		s.Close()
		var start *conn.StartError
		if try == startTries || ctx.Err() != nil || !errors.As(err, &start) {
			return nil, fmt.Errorf("starting the server again: %w", err)
		}
	}
}

// drain takes what has come since the last call, which belongs to nobody but parked scripts. False means that the
// server has ended.
func (e *executor) drain() bool {
	_, end := e.pull(&round{server: e.live})
	return end == nil && e.live.Proc.Running()
}

// Close ends all processes.
func (e *executor) Close() error {
	var errs []error
	if e.annex.back != nil {
		e.annex.cancel()
		errs = append(errs, e.takeBack())
	}
	if e.annex.e != nil {
		errs = append(errs, e.annex.e.Close())
	}
	if e.live != nil {
		e.live.Proc.Stop(stopTime)
		errs = append(errs, e.live.Close())
	}
	e.live = nil
	for _, s := range e.unkilled {
		if s.Proc.Running() {
			errs = append(errs, fmt.Errorf("process %d of the server does not die", s.Proc.PID()))
		}
	}
	return errors.Join(append(errs, e.closeSpares())...)
}

// closeSpares ends the processes that nothing runs on.
func (e *executor) closeSpares() error {
	var errs []error
	for _, s := range append(e.spares, e.clean) {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	e.clean, e.spares = nil, nil
	return errors.Join(errs...)
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

// History returns what the process that ran a script had run before it.
func (e *executor) History(obs *teasel.Observation) []script.Script {
	t, ok := obs.Evidence.(*script.Transcript)
	if !ok || t.Past == nil {
		return nil
	}
	return t.Past.Before(t.Place)
}
