package mcp

import "context"

// Most servers do the same with all odd requests of a sort: they answer them, or drop them without a word. Once one has
// done so several times in a row when such a request had it for itself, others share it with ordinary scripts, as guests,
// which takes a tenth of the time. A guest that meets with something else is run again by itself.
const (
	customKnown = 8  // times in a row after which it is known what a server does
	customEvery = 64 // then one script in so many still has it for itself
)

// custom is what a server does with the odd requests of a sort.
type custom struct {
	answers bool
	times   int // in a row
	guests  int
}

// custom returns what is known of the sort that an odd request belongs to. There are only so many.
func (e *executor) custom(p *planned) *custom {
	method, ok := e.methods[p.message.Method]
	if !ok {
		method = "unknown"
	}
	t := topic{method: method, name: p.odd}
	c := e.customs[t]
	if c == nil {
		c = new(custom)
		e.customs[t] = c
	}
	return c
}

// invite makes a script a guest, if it is known what the server does with each of its odd requests.
func (e *executor) invite(l *lane) bool {
	if !l.odd {
		return false
	}
	for i := range l.plan {
		p := &l.plan[i]
		if p.message.Method == cancelMethod { // what it cancels may get an answer or not
			return false
		}
		if p.odd != "" {
			if p.custom = e.custom(p); p.custom.times < customKnown {
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

// board notes that an answer to a guest's odd request may come, which the group waits for if the server mostly answers.
func (e *executor) board(r *round, l *lane, p *planned, id int64, sent int) {
	blocking := p.custom.answers && !l.in.Steps[l.step].NoWait
	r.server.flights[id] = flight{lane: l, sent: sent, blocking: blocking}
	if blocking {
		l.group.open++
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

// overtaken returns the number of the last request that was answered: a server that works in order has read what came
// before it.
func overtaken(lanes []*lane) (last int64) {
	for _, l := range lanes {
		for i := range l.t.Sent {
			if s := &l.t.Sent[i]; s.Answer >= 0 {
				id, _ := integerID(s.Message.ID)
				last = max(last, id)
			}
		}
	}
	return last
}

// inFlight returns the number of the script's first request in flight; 0: there is none. An odd request of a guest is in
// flight if none was answered that came after it. Numbers are given out in the order of the wire.
func (l *lane) inFlight(overtaken int64) int64 {
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		if s.Answer >= 0 {
			continue
		}
		id, _ := integerID(s.Message.ID)
		if s.Regular || l.plan[s.Step].custom != nil && id > overtaken {
			return id
		}
	}
	return 0
}

// observe learns from a script that had the server for itself what the server does with odd requests.
func (e *executor) observe(l *lane) {
	if !l.odd {
		return
	}
	clear := l.t.Noisy == 0
	for i := range l.t.Received {
		r := &l.t.Received[i]
		clear = clear && (r.Sent >= 0 && !r.Loose || r.Message.Class == ClassNotification)
	}
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		p := &l.plan[s.Step]
		if p.odd == "" {
			continue
		}
		c := e.custom(p)
		answers := s.Answer >= 0
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
