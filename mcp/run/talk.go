package run

import (
	"iter"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// A talk is the conversation of one script with a server. Its walk is straight-line code that sends and awaits; it runs as a
// coroutine, so that many talks share one connection and one goroutine.
type talk struct {
	e      *executor
	server *peer
	in     *script.Script // lent, but for a talk that is suspended
	obs    *teasel.Observation
	t      script.Transcript
	outline
	mem   memory
	state talkState

	step, times int // that is sent next
	counts
	moments
	lateness
	meter    check.Meter
	recheck  bool  // something came of it, or of another in flight at that time
	unsure   bool  // it has sent what the server is free to answer
	answered []int // steps that have answered a question of the server
	coroutine
}

// outline is what is known of a script before anything of it is sent.
type outline struct {
	plan   []planned // of its steps
	alone  bool      // it must have the server for itself
	refers bool      // a step refers to an earlier one
}

// counts is what a talk counts.
type counts struct {
	open       int    // answers that are awaited
	unanswered int    // regular requests that have no answer
	runs       uint32 // executions of earlier tries, and of requests that the transcript does not have
}

// lateness is what matters of a talk that outlives its call.
type lateness struct {
	reported uint32    // executions that were in the observation of the call
	due      time.Time // of one that is suspended: when its time is over
	slow     *record   // of one that is suspended: what it waits for
	check    bool      // it counts among [executor.checks]
}

// moments are the times that matter of a talk.
type moments struct {
	began time.Time // when the first line was sent
	last  time.Time // when the last answer came
	paced time.Time // when it may send its next line; zero: now
}

// A coroutine is the walk of a talk.
type coroutine struct {
	next    func() (struct{}, bool) // goes on until it awaits something
	stop    func()
	yield   func(struct{}) bool
	walking bool // it has begun and is not at its end
}

// talkState is how far a talk has come.
type talkState uint8

const (
	waiting   talkState = iota // to begin
	talking                    // some of it was sent
	over                       // all of it was sent, and what it awaited has come or was given up
	judged                     // the same, and its observation is filled in
	skipped                    // it is not to be run now
	lost                       // the server died with it and others in flight
	suspended                  // it goes on after the call that it came from
	postponed                  // it runs after that, in the background
)

// memory is what a talk uses again for its next script.
type memory struct {
	sent      []byte               // what was sent
	received  []byte               // what was received
	begun     []byte               // the end of what was sent if it has no newline
	given     []int64              // ids that it was given
	exchanges []int64              // exchanges that it has begun
	reader    *mutate.JSONParser   // of what it says
	readers   []*mutate.JSONParser // of what it has heard, as many as used; the others are idle
	used      int
	bytes     int // of what was sent and is kept
}

// Bounds of what is kept of one script.
const (
	maxKept     = 1024     // lines, beyond which only the first of each step is
	maxRepeated = 1 << 20  // bytes of lines, beyond which it is the same, and a step that is repeated waits for answers
	maxMemory   = 64 << 10 // bytes that the next script is given
)

// take makes the talk one of a script.
func (k *talk) take(e *executor, in *script.Script, obs *teasel.Observation) {
	k.terminate() // an error has broken it off
	t, plan, mem := k.t, k.plan, k.mem
	clear(t.Sent) // a tree would live on behind shorter scripts
	clear(t.Received)
	clear(plan)
	if cap(mem.sent)+cap(mem.received) > maxMemory || cap(t.Sent) > 64 || cap(t.Received) > 64 || len(t.Noise) > 0 || cap(plan) > 64 {
		t, plan, mem = script.Transcript{}, nil, memory{}
	}
	if mem.reader == nil {
		mem.reader = new(mutate.JSONParser)
	}
	mem.reader.Reset()
	mem = memory{sent: mem.sent[:0], received: mem.received[:0], begun: mem.begun[:0], given: mem.given[:0], exchanges: mem.exchanges[:0], reader: mem.reader, readers: mem.readers}
	*k = talk{e: e, in: in, obs: obs, outline: outline{plan: plan[:0]}, mem: mem, coroutine: k.coroutine}
	k.t = script.Transcript{Script: in, Session: e.session, Sent: t.Sent[:0], Received: t.Received[:0]}
	k.meter = check.Meter{Needs: check.NeedsOf(in.Check)}
	if k.prepare(e.names, e.target.Withheld); k.tooMany() {
		k.state = skipped
	}
}

// halt ends the talk's coroutine, when only what it has heard matters any more.
func (k *talk) halt() {
	if k.stop != nil {
		k.stop()
	}
	k.coroutine = coroutine{}
}

// free ends the talk's coroutine and gives up its memory.
func (k *talk) free() {
	k.halt()
	*k = talk{}
}

// again makes the talk as it was before its first line was sent.
func (k *talk) again() {
	runs := k.t.Executions() + k.runs
	if k.server != nil {
		k.server.finishTalk(k)
	}
	k.take(k.e, k.in, k.obs)
	k.runs = runs
}

// begin gives the talk a server.
func (k *talk) begin(s *peer) {
	k.server, k.state = s, talking
	k.began = time.Now()
	k.last = k.began
	k.t.Past = &s.past
	if k.alone {
		k.remember(k.in)
	}
	if k.next == nil {
		k.next, k.stop = iter.Pull(func(yield func(struct{}) bool) {
			k.yield = yield
			for {
				k.walking = true
				k.walk()
				if k.walking = false; k.state == talking {
					k.state = over
				}
				if !yield(struct{}{}) {
					return
				}
			}
		})
	}
}

// terminate ends a walk that awaits something which will not come. The talk is kept for another script.
func (k *talk) terminate() {
	if k.walking {
		k.state = lost
		k.next()
	}
}

// walk sends the script, step by step.
func (k *talk) walk() {
	for k.step = range k.in.Steps {
		step := &k.in.Steps[k.step]
		if step.Asked != "" {
			continue
		}
		for k.times = 0; k.times < max(step.Times, 1); {
			if !k.transmit(k.step, nil, nil) {
				return
			}
			if k.times++; k.times%k.burst() == 0 && k.times < step.Times && (!k.await() || k.meter.Over || k.e.read >= maxRepeatBytes) {
				break
			}
		}
		switch {
		case k.state != talking:
			return
		case step.Close && !k.server.OverHTTP():
			k.await()
			return
		case !step.NoWait && !step.NoNewline && (k.server.OverHTTP() || k.t.Sent[len(k.t.Sent)-1].Message.Class != jsonrpc.ClassNotification):
			if !k.await() || !k.carryOn(k.step) || k.meter.Over {
				return
			}
		case k.e.target.Exact && strings.HasPrefix(step.Head, "GET"): // on a connection of its own: what arrives first would be the clock's doing
			if !k.await() {
				return
			}
		}
	}
	k.step = len(k.in.Steps)
	k.awaitAll()
	if k.await() && k.server.endLine() {
		k.await()
	}
}

// await returns when the awaited answers have come, and the server has read what it is free to answer, or, of one that has the server
// for itself, nothing more comes. False: they will not, and the walk is over.
func (k *talk) await() bool {
	if (k.open > 0 || k.alone || k.unsure) && !k.yield(struct{}{}) {
		k.state = lost
	}
	k.unsure = false
	return k.state == talking
}

// awaitAll makes the talk await all that it has not awaited before.
func (k *talk) awaitAll() {
	for i := range k.t.Sent {
		if s := &k.t.Sent[i]; s.Regular && s.Answer < 0 {
			n, _ := jsonrpc.IntegerID(s.Message.ID)
			if f := k.server.flights[n]; f != nil && f.talk == k && !f.answered && !f.awaited {
				f.awaited = true
				k.open++
			}
		}
	}
}

// detach makes a talk live on without the memory of the call that it came from.
func (k *talk) detach() {
	in := script.Unpack(script.AppendPacked(nil, k.in))
	k.in, k.t.Script, k.obs = &in, &in, nil
}

// missing returns how many requests are still to be answered, those included that were not sent yet: how far a script had come
// when it was suspended is the clock's doing, and executions must not be.
func (k *talk) missing() (n uint32) {
	for i := range k.t.Sent {
		if s := &k.t.Sent[i]; s.Regular && s.Answer < 0 {
			n++
		}
	}
	for i := k.step + 1; i < len(k.plan); i++ {
		if p := &k.plan[i]; p.regular && p.message.Class == jsonrpc.ClassRequest {
			n++
		}
	}
	return n
}

// failed reports whether the server was the worse for the script.
func (k *talk) failed() bool {
	return k.t.End.Kind != script.EndInvalid && !k.t.End.EOF || k.t.Hung || k.t.Unresponsive || k.t.Refuses != "" || k.t.Flood
}
