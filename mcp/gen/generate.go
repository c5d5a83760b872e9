package gen

import (
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Generate makes a script from the session: a call of a tool more often than not, any other request, a sequence of calls
// that hang together, a check with other values than it had before the campaign.
func (m *Mutator) Generate(r *teasel.Rand) script.Script { return m.generate(r, script.Script{}) }

// Odds of what is generated, out of their sum.
const (
	oddsCall     = 48
	oddsMethod   = 20
	oddsSequence = 16
	oddsBurst    = 4
	oddsTell     = 4
	oddsUnknown  = 3
	oddsCheck    = 1
	oddsAll      = oddsCall + oddsMethod + oddsSequence + oddsBurst + oddsTell + oddsUnknown + oddsCheck
)

func (m *Mutator) generate(r *teasel.Rand, dst script.Script) script.Script {
	e := &m.e
	e.begin(r, dst, script.Script{Start: script.Shared})
	if m.mayStart(r) {
		return m.generateAlone()
	}
	e.compose(e.r.IntN(oddsAll))
	if len(e.in.Steps) == 0 {
		e.add(script.Send(e.call()))
	}
	e.endWhole()
	stamp(e.b.Session, &e.in)
	in := e.in // a check keeps its label
	e.in = script.Script{}
	return in
}

func (e *editor) compose(n int) {
	for _, part := range []struct {
		odds  int
		write func()
	}{
		{oddsCall, func() { e.add(script.Send(e.call())) }},
		{oddsMethod, func() { e.add(script.Send(e.ask(choose(e, e.b.Methods)))) }},
		{oddsSequence, e.sequence},
		{oddsBurst, e.burst},
		{oddsTell, func() { e.add(script.SendOn(e.tell())); e.add(script.SendText(session.PingLine)) }},
		{oddsUnknown, e.unknown},
		{oddsCheck, func() { e.check(false) }},
	} {
		if n < part.odds {
			part.write()
			return
		}
		n -= part.odds
	}
}

// unknown asks for what the server has not declared, or for nothing there is.
func (e *editor) unknown() {
	if e.r.IntN(2) == 0 {
		e.add(script.Send(e.ask(choose(e, session.Methods))))
		return
	}
	e.add(script.Send(jsonrpc.RequestLine(choose(e, oddMethods), e.oddParams())))
}

// burst makes several requests that are in flight at once, and cancels one of them now and then.
func (e *editor) burst() {
	n := 2 + e.r.IntN(7)
	for range n {
		line := e.ask(choose(e, e.b.Methods))
		if e.r.IntN(2) == 0 {
			line = e.call()
		}
		e.add(script.SendOn(line))
	}
	if e.r.IntN(3) == 0 {
		e.add(script.SendOn(check.CancelLine(`"@id:` + strconv.Itoa(e.r.IntN(n)) + `"`)))
	}
	e.in.Steps[len(e.in.Steps)-1].NoWait = false
}

// sequence makes calls that have to do with each other: a chain, or calls that share values.
func (e *editor) sequence() {
	if len(e.b.chains) > 0 && e.r.IntN(2) == 0 {
		e.callChain(&e.b.chains[e.r.IntN(len(e.b.chains))])
		return
	}
	switch {
	case len(e.b.Tools) == 0 || e.r.IntN(8) == 0:
		e.listPages(choose(e, check.Lists))
	default:
		e.relatedCalls()
	}
}

// callChain opens once or twice and then uses and closes what was opened, in any order.
func (e *editor) callChain(c *chain) {
	opens := 1 + e.r.IntN(2)
	for range opens {
		e.add(script.Send(session.CallLine(c.opener.Name, e.arguments(c.opener))))
	}
	guess := e.r.IntN(4)
	for n := 2 + e.r.IntN(5); n > 0; n-- {
		from := c.users
		if len(from) == 0 || len(c.closes) > 0 && e.r.IntN(3) == 0 {
			from = c.closes
		}
		l := choose(e, from)
		v := e.arguments(l.tool)
		if v.Kind == mutate.Object {
			v.Set(l.property, l.capture(e.r.IntN(opens), l.pointers[min(guess, len(l.pointers)-1)]))
		}
		e.add(script.Step{Line: session.CallLine(l.tool.Name, v), NoWait: e.r.IntN(8) == 0})
	}
}

// relatedCalls makes calls of any tools in which properties of one name have one value, as somebody would who first
// creates a thing and then works with it.
func (e *editor) relatedCalls() {
	var shared []mutate.Member
	for n := 2 + e.r.IntN(5); n > 0; n-- {
		c := choose(e, e.b.Tools)
		v := e.arguments(c)
		for i := range v.Members {
			at := &v.Members[i]
			known := false
			for _, s := range shared {
				if s.Name == at.Name && e.r.IntN(8) > 0 {
					at.Value, known = s.Value.Clone(), true
				}
			}
			if !known && at.Value != nil && (at.Value.Kind == mutate.String || at.Value.Kind == mutate.Number) {
				shared = append(shared, jsonrpc.Member(at.Name, at.Value.Clone()))
			}
		}
		e.add(script.Send(session.CallLine(c.Name, v)))
	}
}

// listPages follows a list's cursors, and then uses an old one again.
func (e *editor) listPages(method string) {
	e.add(script.Send(jsonrpc.RequestLine(method, nil)))
	n := 1 + e.r.IntN(6)
	for i := range n {
		e.add(script.Send(jsonrpc.RequestLine(method, check.CursorParams(script.Placeholder(i, "/nextCursor")))))
	}
	e.add(script.Send(jsonrpc.RequestLine(method, check.CursorParams(script.Placeholder(e.r.IntN(n), "/nextCursor")))))
}

// check makes one script of a check, with other values than before, for one tool. Only one of its scripts is wanted, and
// which is not known before all were made.
func (e *editor) check(expensive bool) {
	c := &check.All[e.r.IntN(len(check.All))]
	for c.Expensive != expensive {
		c = &check.All[e.r.IntN(len(check.All))]
	}
	b := *e.b.Catalog
	if n := len(b.Tools); n > 0 {
		i := e.r.IntN(n)
		b.Tools = b.Tools[i : i+1]
	}
	seen := 0
	c.Make(&b, e.r, func(_ string, in script.Script) {
		if seen++; e.r.IntN(seen) == 0 {
			e.in = in
		}
	})
	e.forget()
}

// generateAlone makes a script that has a process of its own: a handshake that is right or not quite, something expensive, an
// end in the middle.
func (m *Mutator) generateAlone() script.Script {
	e := &m.e
	switch e.r.IntN(4) {
	case 0:
		e.check(true)
		if len(e.in.Steps) > 0 {
			in := e.in
			e.in = script.Script{}
			return in
		}
	case 1:
		e.in.Start = script.Fresh
		e.add(script.Send(e.ask(choose(e, e.b.Methods))))
		e.add(script.Send(e.initialize()))
	default:
		e.in.Start = script.Fresh
		e.add(script.Send(e.initialize()))
	}
	e.in.Start = script.Fresh
	if e.r.IntN(4) > 0 {
		e.add(script.SendText(session.InitializedLine))
	}
	for n := 1 + e.r.IntN(4); n > 0; n-- {
		e.add(script.Send(e.ask(choose(e, e.b.Methods))))
	}
	if m.drops && e.r.IntN(2) == 0 {
		dropConnection(e)
	}
	return e.end()
}
