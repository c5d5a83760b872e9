package netproto

import (
	"context"
	"errors"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/internal/wear"
	"github.com/teaselfuzz/teasel/mutate/operands"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

var (
	_ teasel.Executor[*dialogue.Dialogue]  = (*executor)(nil)
	_ teasel.Learner                       = (*executor)(nil)
	_ teasel.Resetter                      = (*executor)(nil)
	_ teasel.Historian[*dialogue.Dialogue] = (*executor)(nil)
)

// executor has a server and the conversation with it.
type executor struct {
	target     Target
	address    conn.Address // without placeholders once the server is up
	datagrams  bool
	server     *conn.Server // nil: it is not ours
	down       bool         // it has to be started before the next dialogue
	resetGroup int          // process group of the last reset; 0: there was none
	*client                 // the one that sends and receives now
	clients    []*client

	instruments
	manner
	lifetime
	pace
	pulse
	account
	scrutiny
	known    known
	served   served
	worn     wear.Ends[ending]
	past     history.Ring     // dialogues of this process, packed
	compared operands.History // of what the server compares
}

// manner is how the server has its conversations.
type manner struct {
	once    bool // it has one and ends, see once.go
	serial  bool // it has one at a time
	abreast bool // it has answered a client while it had another one
}

// lifetime is what the server has had since it was started, and what it held then.
type lifetime struct {
	dialogues   uint64
	connections int
	sent        int        // messages, in dialogues that have ended
	clean       bool       // it has had no dialogue
	baseline    conn.Usage // of the server when it was started, or looked at last
	firstFiles  int        // open files
	nextCount   uint64     // of its dialogues, before which they are counted again
}

// renew begins anew. What the server holds is not known before it is up.
func (l *lifetime) renew() { l.dialogues, l.connections, l.sent, l.clean = 0, 0, 0, true }

// account is what the dialogue under way, or the last one, has shown.
type account struct {
	packed    []byte // the dialogue
	said      int    // messages
	responses responses
	evidence  judge.Evidence
	written   []byte // what was sent and received
}

// open begins the account of a dialogue.
func (a *account) open(in *dialogue.Dialogue) {
	a.packed = dialogue.AppendPacked(a.packed[:0], in)
	a.evidence = judge.Evidence{Fault: judge.FaultNone, At: -1, Talk: a.evidence.Talk[:0]}
	a.written = a.written[:0]
	a.responses.begin()
}

// aside has other dialogues held as if they were not. The function that it returns brings back what the dialogue before them has shown.
func (a *account) aside() (back func()) {
	before := *a
	*a = account{}
	return func() { *a = before }
}

// Close ends the server.
func (e *executor) Close() (err error) {
	endCommand(e.resetGroup)
	e.resetGroup = 0
	err = e.hangUpAll()
	if e.server != nil {
		err = errors.Join(err, e.server.Close())
		e.server = nil
	}
	if e.coverage != nil {
		err = errors.Join(err, e.coverage.close())
		e.coverage = nil
	}
	return err
}

// Learn notes what the worker holds.
func (e *executor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if f >= edgeFeatures && !f.IsState() {
			if e.coverage != nil {
				e.coverage.learn(f, complexity)
			}
			continue
		}
		e.known.learn(f, complexity)
	}
}

// History returns what the server has had up to the observed dialogue, which was the last.
func (e *executor) History(*teasel.Observation) (past []*dialogue.Dialogue) {
	codec := dialogue.Codec{Model: e.target.Model}
	for _, packed := range e.past.Before(e.past.Added()) {
		past = append(past, codec.Unpack(packed))
	}
	return past
}

// Reset makes the server as it was when it was started, and has the next dialogue judged in full: it is to confirm
// something.
func (e *executor) Reset(ctx context.Context) error {
	e.demand(1)
	e.confirming = true
	if err := e.seekServed(ctx); err != nil {
		return err
	}
	if e.clean && !e.down {
		return nil
	}
	return e.renew(ctx)
}

// renew gives the next dialogue a server that has had none, by the user's command if there is one.
func (e *executor) renew(ctx context.Context) error {
	if err := e.hangUpAll(); err != nil {
		return err
	}
	e.lifetime.renew()
	reset := len(e.target.Reset) > 0 && (!e.down || e.server == nil)
	if e.server != nil || reset || e.down { // a server of somebody else's goes on as it is
		e.past.Clear()
	}
	if reset {
		if err := e.reset(ctx); err != nil {
			return err
		}
	}
	switch {
	case e.server == nil:
		return e.revive(ctx)
	case reset:
		e.countFiles()
		return nil
	}
	e.down = true // also where the campaign ends while it starts
	if err := e.server.Renew(ctx); err != nil {
		return err
	}
	e.down = false
	e.reports.renew()
	if e.coverage != nil {
		e.coverage.started(e.server.PID())
	}
	e.baseline = e.usage()
	e.countFiles()
	return nil
}

// Exec holds one dialogue.
func (e *executor) Exec(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	began := time.Now()
	err := e.exec(ctx, in, o)
	if err == nil && o.Exit == teasel.ExitCrash {
		err = e.checkWorn(ctx, o)
	}
	o.Elapsed = time.Since(began)
	return err
}

func (e *executor) exec(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	if (e.once || e.serial) && in.Clients() > 1 {
		o.Exit, o.Features, o.Detail = teasel.ExitRejected, o.Features[:0], "the server has one conversation at a time, and a second client would wait in vain"
		return nil
	}
	if e.crowded() || e.down || e.target.Restart > 0 && e.dialogues >= e.target.Restart {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	err := e.record(o, func() error { return e.hold(ctx, in, o) })
	if err == nil && o.Exit <= teasel.ExitRejected { // one that the server has not survived is not the client that is served
		e.noteAnswer(o)
		err = e.examine(ctx, in, o)
	}
	if err != nil || o.Exit > teasel.ExitRejected {
		return err
	}
	complexity := e.target.Complexity(in)
	if o.Ask.Trace {
		e.trace(o)
	}
	if o.Ask.Features {
		o.Features = e.reached(o.Features)
		return nil
	}
	switch {
	case o.Ask.Quiet || !e.anyNews(complexity):
		return nil
	case o.Evidence != nil: // another dialogue would spoil it
		o.Features = e.onlyNews(e.reached(nil), complexity)
		return nil
	}
	return e.confirm(ctx, in, o, complexity)
}

// hold runs a dialogue and fills in how that ended. It is part of what the server has had when a later one shows a fault.
func (e *executor) hold(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	if e.once && e.down {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	e.account.open(in)
	e.past.Add(e.packed)
	return e.say(ctx, in, o)
}

// ask is hold for a client that asks how the server is. What it says stands in no history, of which it would be the larger part.
func (e *executor) ask(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	e.account.open(in)
	return e.say(ctx, in, o)
}

// say says what the dialogue has to say of which the account was opened.
func (e *executor) say(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	e.dialogues++
	e.clean = false
	t := talk{e: e, in: in, limit: e.target.Timeout, work: e.target.Timeout}
	switch {
	case o.Ask.Quick:
		t.limit, t.work = t.limit/quickPart, t.work/quickPart
	case !o.Ask.Full && e.thorough == 0:
		t.work = e.early(e.target.Timeout)
	}
	began := e.cpu()
	if err := t.run(ctx); err != nil {
		return err
	}
	if used := e.cpu() - began; !t.over && used > e.longest { // in all of its messages, which may be many
		e.longest = used
	}
	e.served.slept = t.slept
	return e.settleAccount(ctx, &t, o)
}

// cpu returns the processor time that the server has used; 0: it is not ours.
func (e *executor) cpu() time.Duration {
	if e.server == nil {
		return 0
	}
	return e.server.CPU()
}

// quickPart says what part of the time limit is enough where another execution has the last word.
const quickPart = 4

// settleAccount turns what has become of a dialogue into an observation.
func (e *executor) settleAccount(ctx context.Context, t *talk, o *teasel.Observation) error {
	v := &e.evidence
	e.said = t.at + 1
	e.sent += e.said
	o.Messages += uint32(e.said)
	if e.server != nil {
		v.Output = e.server.Output()
		e.target.Answers.silent(v.Output, e.server.Lacks)
	}
	e.noteSignal(t)
	v.Output = append(v.Output, e.reports.take(v.Fault == judge.FaultDeath)...)
	o.Exit = teasel.ExitOK
	if t.cut || t.refused {
		o.Exit = teasel.ExitRejected
	}
	e.readOutput(v)
	if e.address.Network == conn.Stdio && v.Refused() {
		v.Fault, o.Exit = judge.FaultNone, teasel.ExitRejected
	}
	switch {
	case v.Fault == judge.FaultDeath, v.Gone != nil:
		o.Exit = teasel.ExitCrash
	case v.Fault == judge.FaultFlood, v.Fault >= judge.FaultClosed:
		o.Exit = teasel.ExitHang
		o.Short = (v.Fault == judge.FaultHang || v.Fault == judge.FaultStuck) && !o.Ask.Quick && t.work < e.target.Timeout
		if o.Short {
			e.cut++
		}
	case v.Fault == judge.FaultNone && len(v.Output) == 0:
		return nil
	}
	if v.Fault == judge.FaultNone { // a report: the server went on
		v.At, v.Message = t.at, t.called()
	}
	o.Evidence = v
	if fs := judge.Detect(o); len(fs) > 0 {
		o.Detail = fs[0].Message
	}
	if o.Exit > teasel.ExitRejected {
		o.Expensive = true // the server has to be started again
		e.down = true
		return e.hangUpAll()
	}
	return nil
}

// messageWork is what a message counts for beside the edges that it hits: teasel and the kernel have about as much to do for each as a server
// for so many edges.
const messageWork = 1 << 10

// trace fills in the hash of everything that was reached, and the work: the hits of edges and the messages, so that the scheduler gives a long
// dialogue less time, as it does a long input of a program.
func (e *executor) trace(o *teasel.Observation) {
	hash := uint64(1)
	if e.coverage != nil {
		hash, o.Work = e.coverage.novelty.Hash(e.coverage.counts())
	}
	o.Work += uint64(e.said) * messageWork
	for _, f := range e.responses.all {
		hash = stir(hash ^ uint64(f))
	}
	o.Trace = max(hash, 1)
}

// holdAgain holds a dialogue once more that went well. A fault is that of the dialogue.
func (e *executor) holdAgain(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation) error {
	if e.down {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	again := teasel.Observation{Ask: o.Ask}
	if err := e.hold(ctx, in, &again); err != nil {
		return err
	}
	o.Runs++
	o.Messages += again.Messages
	if again.Exit > teasel.ExitRejected {
		e.inRepetition(o, &again, 1)
	}
	return nil
}
