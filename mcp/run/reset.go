package run

import (
	"context"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
)

// The engine wants a fresh server for the last word on each finding, and most servers take longer to start than to answer
// ten thousand requests. So the server that the campaign runs on is only put aside meanwhile, with all that it has in
// flight; and one of which nothing was asked that could have changed it is as good as fresh for a script about
// something else.

// release frees what is kept of the last calls: the trees of a long line take forty times as much memory as it.
func (e *executor) release() {
	e.lanes, e.before, e.active, e.reader = nil, nil, 0, new(mutate.JSONParser)
}

// Reset implements [teasel.Resetter]: the next call runs on a server that is as good as fresh.
func (e *executor) Reset(context.Context) error {
	switch {
	case e.live == nil || e.live.past.Added == 0:
		return nil
	case e.quick:
		return e.drop(e.live)
	}
	e.resets = true
	return nil
}

// enter puts the server aside if the call wants a fresh one.
func (e *executor) enter(ins []script.Script) error {
	if !e.resets {
		return nil
	}
	e.resets = false
	if len(ins) == 1 && ins[0].Start == script.Fresh { // it has one anyway
		return nil
	}
	clean := e.clean
	e.clean = nil
	if clean != nil && !(len(ins) == 1 && clean.Proc.Running() && e.isNews(clean, &ins[0])) {
		e.end(clean)
		clean = nil
	}
	e.aside, e.live = e.live, clean
	return nil
}

// leave takes the server back that was put aside.
func (e *executor) leave() error {
	if e.aside == nil {
		return nil
	}
	s := e.live
	e.live, e.aside = e.aside, nil
	if s == nil {
		return nil
	}
	if l := e.lanes[0]; e.active == 1 && s.past.Added > 0 && l.leavesNoTrace() {
		for i := range l.plan {
			s.topics = append(s.topics, l.plan[i].topic)
		}
		e.clean = s
		return nil
	}
	e.abandon(s)
	e.end(s)
	return nil
}

// isNews reports whether the script is about nothing that the server was asked before.
func (e *executor) isNews(s *server, in *script.Script) bool {
	if check.MeasuresTime(in.Check) || in.Check == check.GrowthMemory {
		return false
	}
	return !slices.ContainsFunc(newLane(e, in).plan, func(p planned) bool { return slices.Contains(s.topics, p.topic) })
}

// leavesNoTrace reports whether the script has asked only for what no server remembers: it was refused, or it reads.
func (l *lane) leavesNoTrace() bool {
	if l.bad() || l.t.End.Kind != script.EndInvalid || l.t.Noisy > 0 || l.parked || l.resumes || l.dangling || len(l.t.Sent) == 0 {
		return false
	}
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		if !s.Regular || s.Answer < 0 {
			return false
		}
		if l.t.Received[s.Answer].Message.Error == nil && !reads(s.Message.Method) {
			return false
		}
	}
	return true
}

// reads reports whether a method only asks for something.
func reads(method string) bool {
	switch method {
	case "ping", "prompts/get", "resources/read", "completion/complete":
		return true
	}
	return strings.HasSuffix(method, "/list")
}
