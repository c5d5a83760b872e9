package run

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// A group is many talks with one server at once, in two halves that take turns: while the server works on one half, the answers
// of the other are read and judged, and its next lines are sent. What goes on the wire depends on the scripts, and not on when
// answers come, unless the group is loose.
type group struct {
	e      *executor
	server *peer
	todo   []*talk // not begun
	halves [2]half
	over   []*talk // to be judged a turn later: lines that they have caused beside their answers have come by then
	before []*talk // that were over a turn ago
	begun  int     // talks
	done   int     // of those, which came to their end
	again  bool    // an earlier server of this call has died
	// loose says that a half has its turn as soon as part of its talks have their answers. Over HTTP answers come in any order: when the last of
	// one half has come, most of the other half have come too, and the server would have next to nothing to do.
	loose bool
}

// looseShare is the part of a half that has to be answered in a loose group: each turn costs something.
const looseShare = 4

// half is the talks that are in flight together.
type half struct {
	talks []*talk
	ping  *flight // behind what they have said; nil: none was sent
}

// answered reports whether the talks, or in a loose group enough of them, have all the answers that they await.
func (g *group) answered(h *half) bool {
	most := 0 // that may still wait
	if g.loose {
		most = len(h.talks) - (len(h.talks)+looseShare-1)/looseShare
	}
	for _, k := range h.talks {
		if k.open > 0 {
			most--
		}
	}
	return (h.ping == nil || h.ping.answered) && most >= 0
}

// together runs scripts that may be in flight at the same time.
func (e *executor) together(ctx context.Context, talks []*talk) error {
	for again := false; len(talks) > 0; again = true {
		s, err := e.up(ctx)
		if err != nil {
			return err
		}
		g := &group{e: e, server: s, todo: talks, again: again, loose: s.OverHTTP() && !e.target.Exact}
		s.unrequested, s.unattributed, s.alone = 0, false, nil
		f, err := g.run(ctx)
		last := g.last()
		if f == waitRefuses {
			g.takeBack()
		}
		g.judge()
		g.judge()
		if err == nil {
			unanswered, _ := g.inFlight(f)
			err = e.lives(ctx, s, f, unanswered)
		}
		if err != nil {
			return e.discard(s, err)
		}
		if f == waitDone {
			return nil
		}
		if talks, err = g.ended(ctx, f, last); err != nil {
			return err
		}
	}
	return nil
}

// run holds the conversation.
func (g *group) run(ctx context.Context) (waitEnd, error) {
	for turn := 0; ; turn ^= 1 {
		h := &g.halves[turn]
		if len(h.talks) > 0 {
			if f, err := g.await(ctx, h); f != waitDone || err != nil {
				return f, err
			}
		}
		if err := g.advance(ctx, h); err != nil {
			return waitInvalid, err
		}
		if f, err := g.e.flush(ctx, g.server); f != waitDone || err != nil {
			return f, err
		}
		g.judge()
		if len(g.todo)+len(g.halves[0].talks)+len(g.halves[1].talks) == 0 {
			return g.drain(ctx)
		}
	}
}

// drain takes what else comes of the talks that were over last. What is seen of them would otherwise depend on the clock, and so would
// which of them were in flight when something came that belongs to one of them: where that matters it may be any.
func (g *group) drain(ctx context.Context) (waitEnd, error) {
	if e := g.e; e.target.Exact && len(g.before) > 0 && g.server.canPing() {
		if _, f, err := e.alive(ctx, g.server, atMost(e.target.timeout())); err != nil || f == waitEnded || f == waitFlood {
			return f, err
		}
		if e.troubled(g.server) || g.server.unattributed {
			g.server.unattributed = false
			recheck(e.talks)
		}
	}
	return waitDone, nil
}

// await waits for the answers to one half. Talks whose answers do not come for now are suspended.
func (g *group) await(ctx context.Context, h *half) (waitEnd, error) {
	e, s := g.e, g.server
	soon := e.target.soon()
	l := limit{work: soon / soonShare}
	if e.target.Exact { // what goes on the wire would depend on when slow answers come
		l = atMost(e.target.timeout())
	}
	f, err := e.await(ctx, s, func() bool { return g.answered(h) }, l)
	switch {
	case err != nil:
		return f, err
	case f != waitIdle && f != waitBusy:
		if f == waitDone {
			e.adaptWindow(true)
			return e.checkAlive(ctx, s)
		}
		return f, nil
	}
	// It may be about to die, or may answer nothing any more.
	if ok, f, err := e.alive(ctx, s, limit{sleep: soon, clock: soon, work: e.target.timeout()}); err != nil || f == waitEnded || f == waitFlood {
		return f, err
	} else if !ok {
		return waitUnresponsive, nil
	}
	for _, k := range h.talks {
		switch {
		case k.open <= 0:
		case e.target.Exact:
			k.giveUp()
		default:
			e.suspend(k)
		}
	}
	return e.checkAlive(ctx, s)
}

// advance lets those talks of a half go on that have their answers, then those that were suspended and have theirs, and then
// begins others.
func (g *group) advance(ctx context.Context, h *half) error {
	e, talks := g.e, slices.Clone(h.talks)
	*h = half{talks: h.talks[:0]}
	step := func(k *talk) error {
		if k.state == talking {
			if err := e.goOn(ctx, k); err != nil {
				return err
			}
		}
		switch {
		case k.state != talking:
			g.over = append(g.over, k)
		case !e.target.Exact && e.isSlow(k):
			e.suspend(k)
		default:
			h.talks = append(h.talks, k)
		}
		return nil
	}
	for _, k := range talks {
		switch {
		case k.state == suspended:
		case k.state == talking && k.open > 0:
			h.talks = append(h.talks, k)
		default:
			if err := step(k); err != nil {
				return err
			}
		}
	}
	if err := e.resume(ctx, g.server); err != nil {
		return err
	}
	for size := max(e.window/2, 1); len(h.talks) < size && len(g.todo) > 0; {
		k := g.todo[0]
		if g.todo = g.todo[1:]; !e.admit(k) {
			continue
		}
		k.begin(g.server)
		g.begun++
		if err := step(k); err != nil {
			return err
		}
	}
	unsure := slices.ContainsFunc(h.talks, func(k *talk) bool { return k.unsure }) // the server is free to answer what they have sent
	if unsure && !g.server.OverHTTP() && g.server.canPing() {
		h.ping = g.server.sendPing()
	}
	if !e.target.Exact && (e.troubled(g.server) || g.server.unattributed) {
		g.server.unattributed = false
		for _, h := range g.halves {
			recheck(h.talks)
		}
		recheck(g.over)
	}
	return nil
}

// last returns the talks that came to their end last.
func (g *group) last() []*talk {
	if len(g.over) > 0 {
		return slices.Clone(g.over) // from which some may be taken back
	}
	return slices.Clone(g.before)
}

// recheck has talks run again by themselves, since something came of one of them.
func recheck(talks []*talk) {
	for _, k := range talks {
		k.recheck = true
	}
}

// judge judges the talks that were over a turn ago.
func (g *group) judge() {
	for _, k := range g.before {
		k.recheck = k.recheck || k.missesOptional()
		k.conclude()
	}
	g.done += len(g.before)
	g.before, g.over = g.over, g.before[:0]
}

// takeBack counts among those in flight the talks that were over and have a response without a message: they were refused as all is since.
func (g *group) takeBack() {
	for _, over := range []*[]*talk{&g.before, &g.over} {
		*over = slices.DeleteFunc(*over, func(k *talk) bool {
			lost := k.firstLost() != nil
			if lost {
				g.halves[0].talks = append(g.halves[0].talks, k)
			}
			return lost
		})
	}
}

// ended deals with the end of a server that had several talks in flight, and returns those that are still to be run. If others were
// suspended on it, those are tried by themselves, and all that were in flight run again, once in a call: it may take long until
// something is suspended again. Else all that it has left unanswered are lost, the first unanswered first; or, if it had answered
// all, those that it has answered last. It takes the engine, and fresh servers, to find out which it was.
func (g *group) ended(ctx context.Context, f waitEnd, last []*talk) (todo []*talk, err error) {
	e := g.e
	candidates, begun := g.inFlight(f)
	if g.begun == 1 && len(candidates) == 1 {
		candidates[0].noteEnd(f)
		candidates[0].explain() // while it can be seen
	}
	whole := talk{server: g.server} // what is true of any of them
	whole.noteEnd(f)
	whole.t.End = g.server.End(f == waitEnded)
	ended := e.forget(g.server)
	worn, err := e.wears(ctx, &whole.t, g.server.lines())
	if err != nil {
		return nil, err
	}
	switch {
	case worn > 0 && g.done == 0 && g.begun > 1: // all that it takes is less than what runs together, and would be the next time
		again(slices.Concat(candidates, begun), true)
		return g.todo, nil
	case worn > 0 && g.begun > len(candidates), len(ended) > 0 && !g.again:
		again(candidates, false)
		todo, candidates, last = candidates, nil, nil
	}
	slices.SortStableFunc(candidates, func(a, b *talk) int { return cmp.Compare(a.firstLost().Place, b.firstLost().Place) })
	if len(candidates) == 0 {
		candidates = last
		slices.Reverse(candidates)
	}
	begun = slices.DeleteFunc(begun, func(k *talk) bool { return slices.Contains(candidates, k) })
	e.adaptWindow(false)
	for _, k := range candidates {
		k.t.Place, k.t.End = g.server.past.Added(), whole.t.End
		if g.begun == 1 && len(ended) == 0 {
			k.noteEnd(f)
			k.terminate()
			k.state = over
			k.conclude()
			break
		}
		k.terminate()
		k.state = lost
	}
	if len(candidates) > 0 {
		e.charge(candidates[0], deathPrice)
	}
	for _, k := range begun {
		if last := k.step >= len(k.in.Steps)-1; last { // it was answered all the same
			k.terminate()
			k.state = over
			k.conclude()
			continue
		}
		k.again()
		todo = append(todo, k)
	}
	return append(todo, g.todo...), nil
}

// again makes talks as they were before their first line was sent.
func again(talks []*talk, alone bool) {
	for _, k := range talks {
		k.again()
		k.alone = k.alone || alone
	}
}

// inFlight returns the talks in flight when the server has ended: those with a line that it has not answered, and the others.
func (g *group) inFlight(f waitEnd) (unanswered, answered []*talk) {
	for _, h := range g.halves {
		for _, k := range h.talks {
			if f == waitEnded || f == waitRefuses {
				k.retract()
			}
			if k.firstLost() != nil {
				unanswered = append(unanswered, k)
			} else {
				answered = append(answered, k)
			}
		}
	}
	return unanswered, answered
}

// firstLost returns the first request that is not answered, or else the first line whose response has no message; nil: there is none.
func (k *talk) firstLost() *script.Sent {
	if s := k.t.FirstUnanswered(); s != nil {
		return s
	}
	if i := slices.IndexFunc(k.t.Sent, func(s script.Sent) bool { return s.Broken }); i >= 0 {
		return &k.t.Sent[i]
	}
	return nil
}

// giveUp ends a talk whose answers have not come.
func (k *talk) giveUp() {
	switch {
	case k.t.Unanswered() < 0:
	case k.isQueued():
		k.recheck = true
	default:
		k.t.Hung, k.last = true, time.Now()
		k.keepPast()
	}
	for _, x := range k.mem.exchanges {
		k.server.Drop(x)
	}
	k.terminate()
	k.state = over
}

// isQueued reports whether the first request that has no answer was never written, since others hold all connections.
func (k *talk) isQueued() bool {
	id, _ := jsonrpc.IntegerID(k.t.Sent[k.t.Unanswered()].Message.ID)
	f := k.server.flights[id]
	return f != nil && k.server.Queued(f.exchange)
}

// noteEnd notes whether the server said nothing any more, or did not stop: then it took as long as was listened to.
func (k *talk) noteEnd(f waitEnd) {
	if k.t.Unresponsive, k.t.Flood = f == waitUnresponsive || f == waitBusy, f == waitFlood; k.t.Unresponsive || k.t.Flood {
		k.last = time.Now()
	}
	k.t.Ended = k.t.Unresponsive && k.server.ended
	if f == waitRefuses {
		k.t.Refuses = k.server.refusal
	}
}

// troubled reports whether the server has written something to standard error that looks like trouble and is new enough to look
// for its cause.
func (e *executor) troubled(s *peer) bool {
	text, written := s.Stderr(s.stderr) // what is in the pipe by now: it came before the answers that have come
	if s.stderr = written; len(text) == 0 {
		return false
	}
	line := observe.TroubleLine(text)
	return line != nil && e.novelty.IsNew("stderr", string(line))
}
