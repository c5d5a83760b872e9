package run

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
)

// fate is how a round went.
type fate uint8

const (
	fateInvalid fate = iota
	fateFine         // all that was due has come, is parked or was given up
	fateDeaf         // the server answers nothing any more, not even a ping
	fateEnded        // the server has ended or has closed its output
	fateFlood        // the server has written too much
)

const (
	graceTime  = 50 * time.Millisecond // without an answer: then we ask whether the server is there at all
	maxLimits  = 4                     // times the limit that a server is waited for which is writing something
	busyTime   = time.Second           // that a server may be seen working before slow scripts are set aside
	brokenTime = 2 * time.Second       // for a server that does not take what we write to say why
	depth      = 2                     // groups in flight: the server works on one while we look at the other
)

// A round is a conversation: the scripts that are in flight together, or a single one that has the server for itself.
// A script is sent step by step, in groups: a group takes the next steps of scripts that can go on and the first ones
// of others, always in the order of the scripts, and is followed by the next but one when all of it is answered. So
// the order on the wire does not depend on when answers come. A ping closes the round.
type round struct {
	server  *server
	todo    []*lane  // not begun
	ready   []*lane  // what they waited for has come
	groups  []*group // in flight, oldest first
	over    []*lane  // at their end, to be judged
	alone   *lane    // the only one; nil: there are several
	patient bool     // wait for slow answers until limit; otherwise they are parked
	limit   time.Duration
	size    int // lines of a group

	mute   bool      // no pings: the session is not initialized
	broken bool      // the server no longer takes what we write
	open   bool      // the last thing written has no newline
	ping   int64     // the id of the ping after the last line; 0: none
	heard  bool      // it was answered
	asked  time.Time // when it was sent or answered
	late   time.Time // when the last line was written or the last answer came that somebody waited for
	stray  bool      // something came that belongs to one of several
	loose  bool      // something came that may be an answer, nobody knows to what
	bytes  int64     // that the server had written when we last looked
	lull   lull      // since an answer came last
	excess int       // bytes of what nobody has asked for, and something for each line
}

// logged returns how much the server has written to standard error since the script began that has it for itself.
func (r *round) logged() int {
	if r.alone == nil || r.server.Proc == nil {
		return 0
	}
	_, written := r.server.Proc.Stderr(r.server.Proc.Written())
	return max(0, int(written-r.server.stderr))
}

// maxRepeatBytes is how much a server may have answered in one call before a line is no longer repeated.
const maxRepeatBytes = 16 << 20

// maxExcess is how much a server may write in one round without being asked.
const maxExcess = 8 << 20

// group is a number of steps that are sent together.
type group struct {
	lanes []*lane
	open  int // answers that are waited for
	odd   int // of these, to odd lines of guests
}

// run holds the conversation.
func (e *executor) run(ctx context.Context, r *round) (fate, error) {
	defer e.judgeOver(r)
	r.late = time.Now()
	for {
		if r.alone != nil {
			e.measure(r, r.alone)
		}
		for len(r.groups) < depth && len(r.ready)+len(r.todo) > 0 {
			if e.fill(r); len(r.groups) > 1 || len(r.ready)+len(r.todo) == 0 {
				break
			}
			if f, err := e.deliver(ctx, r); f != fateInvalid || err != nil { // so that the server has something to do
				return f, err
			}
		}
		if r.canPing() && !r.heard && r.ping == 0 && (r.last() || r.alone != nil && !r.open && r.alone.expects() >= 0) {
			e.appendPing(r)
		}
		if f, err := e.deliver(ctx, r); f != fateInvalid || err != nil {
			return f, err
		}
		if len(r.groups) == 0 {
			return fateFine, nil
		}
		e.judgeOver(r)
		e.lookAhead(r)
		f, err := e.await(ctx, r, r.settled)
		if f == fateFine && r.alone != nil {
			f, err = e.linger(ctx, r)
		}
		if f != fateFine || err != nil {
			return f, err
		}
		e.pop(r)
	}
}

// settled reports whether all has come that the oldest group waits for; of the last group, the ping's answer too.
func (r *round) settled() bool {
	if r.groups[0].open > 0 {
		return false
	}
	return r.ping == 0 || r.heard || len(r.groups) > 1
}

// canPing reports whether a ping may be sent: not before the session is initialized, nor after the end of the input, also
// if that is still to be written.
func (r *round) canPing() bool {
	return !r.mute && !r.server.closing && !r.server.EOF && !r.broken
}

// last reports whether nothing will be sent any more, whatever the answers.
func (r *round) last() bool {
	if len(r.ready)+len(r.todo) > 0 {
		return false
	}
	for _, g := range r.groups {
		for _, l := range g.lanes {
			if !l.done() && !l.parked {
				return false
			}
		}
	}
	return true
}

// pop takes the oldest group, all of which is answered, and lets its scripts go on. Those at their end are judged as soon as
// the server has something else to do, but for those to which an answer may still come.
func (e *executor) pop(r *round) {
	g := r.groups[0]
	r.groups = append(r.groups[:0], r.groups[1:]...)
	for _, l := range g.lanes {
		l.group = nil
		switch {
		case l.parked || l.skip:
		case !l.done():
			r.ready = append(r.ready, l)
		case r.alone == nil && !l.guest && !l.cancels && l.obs != nil && l.owed == 0 && len(r.groups) > 0:
			r.over = append(r.over, l)
		}
	}
}

// judgeOver judges the scripts that are at their end.
func (e *executor) judgeOver(r *round) {
	for _, l := range r.over {
		l.conclude(e)
	}
	r.over = r.over[:0]
}

// lookAhead prepares the scripts that are next, while the server works: when it has answered, it is not to wait for that.
func (e *executor) lookAhead(r *round) {
	for _, l := range r.todo[:min(len(r.todo), r.size)] {
		e.ensurePrepared(r, l)
	}
}

// ensurePrepared prepares a script, if it is to be run: a tree takes forty times as much as its text.
func (e *executor) ensurePrepared(r *round, l *lane) bool {
	if !l.prepared {
		if r.alone == nil && e.sated(l) {
			return false
		}
		l.prepare(e)
	}
	return true
}

// fill makes a group.
func (e *executor) fill(r *round) {
	g := &group{}
	size := r.size
	if len(r.groups) == 0 { // the server idles
		size = max(size/4, 1)
	}
	for n := 0; n < size; {
		var l *lane
		switch {
		case len(r.ready) > 0:
			l, r.ready = r.ready[0], r.ready[1:]
		case len(r.todo) > 0:
			l, r.todo = r.todo[0], r.todo[1:]
			if !e.admit(r, l) {
				continue
			}
			l.t.Past, l.t.Place = &r.server.past, r.server.past.Added
			r.server.past.Add(l.in)
		default:
			n = size
			continue
		}
		l.group = g
		g.lanes = append(g.lanes, l)
		n += e.say(r, l)
	}
	if len(g.lanes) > 0 {
		r.groups = append(r.groups, g)
		r.ping, r.heard = 0, false
	}
}

// admit reports whether a script takes part in the round.
func (e *executor) admit(r *round, l *lane) bool {
	if !e.ensurePrepared(r, l) {
		l.skip = true
		return false
	}
	if r.alone != nil {
		return true
	}
	if l.skip || l.alone && !e.invite(l) {
		return false
	}
	l.skip = !e.mayRun(l)
	return !l.skip
}

// appendPing puts a ping into the buffer. An answer to it says that everything before it was read.
func (e *executor) appendPing(r *round) {
	s := r.server
	if r.open {
		s.out = append(s.out, '\n')
		r.open = false
	}
	s.ids++
	s.out = append(s.out, `{"jsonrpc":"2.0","id":`...)
	s.out = strconv.AppendInt(s.out, s.ids, 10)
	s.out = append(s.out, `,"method":"ping"}`+"\n"...)
	r.ping, r.heard, r.asked, r.bytes = s.ids, false, time.Now(), s.Inbox.Total.Load()
}

// deliver writes what is in the buffer. A fate other than fateInvalid says that the server does not read it.
func (e *executor) deliver(ctx context.Context, r *round) (fate, error) {
	err := e.flush(ctx, r)
	if errors.Is(err, conn.ErrBlocked) {
		return e.stuck(r), nil
	}
	return fateInvalid, err
}

// flush writes what is in the buffer, unless it came after the end of the input, such as a reply to the server. That the
// server has closed its input shows in what comes next.
func (e *executor) flush(ctx context.Context, r *round) error {
	s := r.server
	if s.written < len(s.out) && !r.broken && !s.EOF {
		_, err := s.Write(ctx, s.out[s.written:], e.writeLimit(r))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, conn.ErrBlocked) {
			return err
		}
		r.broken = err != nil
	}
	s.out = s.out[:s.keep] // what nobody looks at later makes room: a line may be repeated a million times
	s.written = s.keep
	if s.closing {
		s.closing = false
		s.CloseInput()
	}
	return nil
}

// stuck is for a server that does not read: what it has written meanwhile counts.
func (e *executor) stuck(r *round) fate {
	r.server.written = len(r.server.out)
	if _, err := e.pull(r); err != nil {
		return endFate(err)
	}
	return fateDeaf
}

func endFate(err error) fate {
	if errors.Is(err, conn.ErrFlood) {
		return fateFlood
	}
	return fateEnded
}
