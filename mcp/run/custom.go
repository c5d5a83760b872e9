package run

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// Most servers do the same with all odd lines of a sort: they answer them, or drop them without a word. Once one has
// done so several times in a row when such a line had it for itself, others share it with ordinary scripts, as guests,
// which takes a tenth of the time: what is dropped, and what shows which answer is its own. A guest that meets with
// something else is run again by itself.
const (
	customKnown = 8  // times in a row after which it is known what a server does
	customEvery = 64 // then one script in so many still has it for itself
)

// custom is what a server does with the odd lines of a sort.
type custom struct {
	answers bool
	took    time.Duration // that answers took of late
	times   int           // in a row
	guests  int
}

// sort returns what an odd line is as far as it matters for what a server does with it: one of a bounded number.
func (e *executor) sort(p *planned) topic {
	m := &p.message
	t := topic{name: cmp.Or(p.odd, jsonrpc.Unusual(m))}
	switch {
	case m.HasFreshID():
		t.method = cmp.Or(e.methods[m.Method], "unknown")
	case m.Class == jsonrpc.ClassNotification:
		t.method = "notification"
	}
	var id *mutate.JSON
	switch t.name {
	case jsonrpc.UnusualTwice:
		t.name += " " + twiceIn(m)
	case jsonrpc.UnusualMeta:
		meta := m.Params.Get("_meta")
		t.meta, id = meta.Kind, meta.Get("progressToken")
	case jsonrpc.UnusualID:
		id = m.Root.Get("id")
	}
	if id != nil {
		if t.token = id.Kind; id.Kind == mutate.Number && !jsonrpc.IsSafeInteger(id) {
			t.name += " out of range"
		}
	}
	return t
}

// twiceIn returns which member of a message stands there twice, if it is one that servers look at.
func twiceIn(m *jsonrpc.Message) string {
	seen := ""
	for i := range m.Root.Members {
		switch name := m.Root.Members[i].Name; name {
		case "jsonrpc", "id", "method", "params":
			if strings.Contains(seen, name) {
				return name
			}
			seen += name
		}
	}
	return ""
}

// custom returns what is known of the sort that an odd line belongs to.
func (e *executor) custom(p *planned) *custom {
	t := e.sort(p)
	c := e.customs[t]
	if c == nil {
		c = new(custom)
		e.customs[t] = c
	}
	return c
}

// invite makes a script a guest, if it is known what the server does with each of its odd lines.
func (e *executor) invite(l *lane) bool {
	if !l.odd || l.withdraws() {
		return false
	}
	for i := range l.plan {
		if p := &l.plan[i]; p.odd != "" {
			if p.custom = e.custom(p); !p.custom.suits(p.message.HasFreshID()) {
				return false
			}
		}
	}
	turn := false
	for i := range l.plan {
		if c := l.plan[i].custom; c != nil {
			c.guests++
			turn = turn || c.guests%customEvery == 0
		}
	}
	l.guest, l.alone = !turn, turn
	return l.guest
}

// withdraws reports whether the script cancels anything, which may get an answer or not.
func (l *lane) withdraws() bool {
	for i := range l.plan {
		if m := &l.plan[i].message; m.Method == jsonrpc.CancelMethod || len(m.Withdrawn()) > 0 {
			return true
		}
	}
	return false
}

// suits reports whether a line of the sort may be a guest's. What takes its time to be answered would hold up the others.
func (c *custom) suits(named bool) bool {
	return c.times >= customKnown && (!c.answers || named && c.took < oddGrace)
}

// board notes that an answer to a guest's odd line may come, which the group waits for if the server mostly answers.
func (e *executor) board(r *round, l *lane, p *planned, sent int) {
	id, ok := jsonrpc.IntegerID(l.t.Sent[sent].Message.ID)
	if !p.message.HasFreshID() || !ok || !r.server.ours(id) {
		return
	}
	blocking := p.custom.answers && !l.in.Steps[l.step].NoWait
	r.server.flights[id] = flight{lane: l, sent: sent, blocking: blocking}
	if blocking {
		l.group.open++
		l.group.odd++
	}
}

// surprised reports whether the server did something else with a guest than it mostly does, and forgets what it mostly
// does then.
func (l *lane) surprised() bool {
	surprised := false
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		c := l.plan[s.Step].custom
		if c != nil && c.answers != (s.Answer >= 0) {
			c.times = 0
			surprised = true
		}
	}
	return surprised
}

// recheck runs the guests of a round by themselves that met with something else than was expected.
func (e *executor) recheck(ctx context.Context, r *round, lanes []*lane) error {
	for _, l := range lanes {
		if !l.guest || l.skip || l.parked || l.resumes || !l.surprised() && !r.loose {
			continue
		}
		l.again(e)
		if err := e.solo(ctx, l, false); err != nil {
			return err
		}
	}
	return nil
}

// overtaken returns the place of the last line that was answered: a server that works in order has read what came
// before it.
func overtaken(lanes []*lane) (last int64) {
	for _, l := range lanes {
		for i := range l.t.Sent {
			if s := &l.t.Sent[i]; s.Answer >= 0 {
				last = max(last, s.Place)
			}
		}
	}
	return last
}

// inFlight returns the place of the script's first line in flight; 0: none is. An odd line of a guest is in flight if no
// request was answered that came after it.
func (l *lane) inFlight(overtaken int64) int64 {
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		if s.Answer < 0 && (s.Regular || l.plan[s.Step].custom != nil && s.Place > overtaken) {
			return s.Place
		}
	}
	return 0
}

// observe learns from a script that had the server for itself what the server does with odd requests.
func (e *executor) observe(l *lane) {
	if !l.odd || l.withdraws() {
		return
	}
	clear := l.t.Noisy == 0
	for i := range l.t.Received {
		r := &l.t.Received[i]
		clear = clear && (r.Sent >= 0 && !r.Loose || r.Message.Class == jsonrpc.ClassNotification)
	}
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		p := &l.plan[s.Step]
		if p.odd == "" {
			continue
		}
		c := e.custom(p)
		answers := s.Answer >= 0
		if answers {
			c.took = max(c.took/2, l.t.Received[s.Answer].At-s.At)
		}
		switch {
		case !clear || answers && l.t.Received[s.Answer].Message.ID != s.Message.ID:
			c.times = 0
		case answers != c.answers:
			c.answers, c.times = answers, 1
		default:
			c.times++
		}
	}
}
