package run

import (
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// A record is what was seen of one topic.
type record struct {
	ran     int     // scripts that were run
	slow    int     // talks that were suspended, or answered late
	pending int     // talks that are suspended now
	asks    bool    // the server asked something meanwhile: of what, only a script that is alone tells
	answers answers // to requests that the server is free to answer
	spent   uint64  // of the price of what went wrong
}

// answers says how a server answers the requests of one topic that it is free to answer, as seen when they ran alone. It is only ever
// raised: what the server does with one of them it may do with others.
type answers uint8

const (
	byID      answers = iota // all have had an answer with their id
	sometimes                // one had no answer
	nameless                 // one had an answer with another id, such as null
)

// learn notes how a script was answered that had the server for itself.
func (e *executor) learn(k *talk) {
	for i := range k.t.Sent {
		s := &k.t.Sent[i]
		if p := &k.plan[s.Step]; p.optional {
			r := e.record(p.topic)
			switch {
			case s.Answer < 0:
				r.answers = max(r.answers, sometimes)
			case s.Answer < len(k.t.Received) && k.t.Received[s.Answer].Message.ID != s.Message.ID:
				r.answers = nameless
			}
		}
	}
}

// missesOptional reports whether a script in flight with others lacks the answer to a request of a topic that has always had one: it may
// be late.
func (k *talk) missesOptional() bool {
	for i := range k.t.Sent {
		s := &k.t.Sent[i]
		if p := &k.plan[s.Step]; p.optional && s.Answer < 0 && k.e.record(p.topic).answers != sometimes {
			return true
		}
	}
	return false
}

// Prices, in executions. They are orders of magnitude, so that what is run does not depend on the clock. Without them a
// campaign on the planted server takes 68 s of the processor and not 45, and finds a bug less. With less at once, one death keeps a tool out
// for ten thousand executions, which are minutes of a slow server.
const (
	deathPrice = 1024 // a server that has died, and starts again
	hangPrice  = 4096 // the time limit
	priceShare = 10   // what goes wrong may take one part in so many of the work
	firstTimes = 4    // prices that a topic may take at once
)

func (e *executor) record(t script.Topic) *record {
	r := e.records[t]
	if r == nil {
		r = new(record)
		e.records[t] = r
	}
	return r
}

// affords reports whether what a record is about may kill a server once more. Where runs are counted it goes by counts, so that it is the
// same each time.
func (e *executor) affords(r *record) bool {
	affordable := (r.spent+deathPrice)*priceShare <= e.runs+firstTimes*priceShare*deathPrice
	return affordable && (r.spent == 0 || e.target.Exact || !e.restarts.exceed(time.Now()))
}

// restarts is what starting servers takes that take the place of others. A server that takes a second to start can do as much as the price
// of a death in that time, but each topic has prices of its own.
type restarts struct {
	began time.Time     // when there was the first server
	took  time.Duration // of the time since then
}

// freeRestarts is how much time restarts may take before their share applies, so that it is none of a server that starts quickly.
const freeRestarts = time.Second

// exceed reports whether restarts have taken more than the share of what goes wrong.
func (r *restarts) exceed(now time.Time) bool {
	return r.took > freeRestarts && r.took*priceShare > now.Sub(r.began)
}

// affordsAll reports whether a talk may kill a server once more, whatever it is about.
func (e *executor) affordsAll(k *talk) bool {
	return !slices.ContainsFunc(k.plan, func(p planned) bool { return !e.affords(e.record(p.topic)) })
}

// admit reports whether a script of a batch is run at all: one of a topic that kills the server again and again, or is not
// answered, takes no more than its share of the work.
func (e *executor) admit(k *talk) bool {
	if k.state == skipped {
		return false
	}
	for i := range k.plan {
		r := e.record(k.plan[i].topic)
		if k.in.Check == "" && (!e.affords(r) || r.pending >= e.target.window()) {
			k.state = skipped
			return false
		}
	}
	for i := range k.plan {
		e.record(k.plan[i].topic).ran++
	}
	return true
}

// charge puts the price of what went wrong down to what the talk was about.
func (e *executor) charge(k *talk, price uint64) {
	if k.t.Hung {
		price = hangPrice
	}
	if !e.replaying && len(k.plan) > 0 {
		e.record(k.plan[k.t.Guilty()].topic).spent += price
	}
}

// noteSlow counts the answers that came late to a script that had the server for itself.
func (e *executor) noteSlow(k *talk) {
	for i := range k.t.Sent {
		if s := &k.t.Sent[i]; s.Answer >= 0 && s.Answer < len(k.t.Received) && k.t.Received[s.Answer].At-s.At > conn.Slice {
			e.record(k.plan[s.Step].topic).slow++
		}
	}
}

// adaptWindow adapts how many talks are in flight, as the window of TCP: fewer after a death, so that few are candidates, more while answers
// come.
func (e *executor) adaptWindow(answered bool) {
	if answered {
		e.window = min(e.window+1, e.target.window())
	} else {
		e.window = max(e.window/2, 2)
	}
}
