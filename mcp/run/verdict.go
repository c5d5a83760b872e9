package run

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// conclude fills in the observation of the i-th script of a call.
func (e *executor) conclude(i int) {
	l := e.lanes[i]
	switch {
	case l.lost:
		l.obs.Exit, l.obs.Runs = teasel.ExitLost, l.runs()+l.spent
		l.obs.Features, l.obs.Evidence = l.obs.Features[:0], &l.t
	case l.concluded:
	case l.skip && len(l.t.Sent) == 0:
		l.obs.Exit, l.obs.Runs = teasel.ExitOK, 0
	case l.parked || l.resumes || l.dangling:
		if l.told = l.runs() + l.spent; l.parked || l.resumes {
			l.told += l.owing()
		} else {
			e.dangle(l)
		}
		l.obs.Exit, l.obs.Runs = teasel.ExitOK, l.told
		l.own()
		e.lanes[i] = new(lane)
	default:
		l.conclude(e)
	}
}

// conclude fills in the observation of a script that is at its end.
func (l *lane) conclude(e *executor) {
	o := l.obs
	l.concluded = true
	e.count(l)
	o.Runs = max(l.runs()+l.spent, 1)
	o.Elapsed = l.last.Sub(l.began)
	o.Exit, o.Detail = l.exit()
	o.Evidence, o.Expensive, o.Work = &l.t, l.in.Start == script.Fresh, l.work()
	if o.Features = o.Features[:0]; l.in.Check == "" && !l.t.Cut { // a check is judged, not kept: its plain parts are seeds as well
		o.Features = observe.Fingerprint(o.Features, &l.t)
	}
	if o.Ask.Features {
		o.Note = observe.NewNote(&l.t)
	}
}

// Work in bytes on the wire, which is what most of the time of most servers goes with.
const (
	messageWork = 256
	aloneWork   = 16 << 10 // the server idles before and after it
)

// work returns how much there was to do for the script: a power of two, so that a date in an answer makes no difference
// to it.
func (l *lane) work() uint64 {
	n := uint64(len(l.wire) + messageWork*(len(l.t.Sent)+len(l.t.Received)))
	for i := range l.t.Sent {
		n += uint64(len(l.t.Sent[i].Raw))
	}
	if l.alone || l.guest { // whether it may be a guest is the clock's doing, too
		n += aloneWork
	}
	return 1 << bits.Len64(n)
}

// exit says how a script ended, and in a sentence if that was not well.
func (l *lane) exit() (teasel.Exit, string) {
	t := &l.t
	switch {
	case t.Flood:
		return teasel.ExitCrash, "the server wrote too much and was cut off"
	case t.Deaf:
		return teasel.ExitHang, "the server answers nothing any more" + l.detail
	case t.End.Closed && !t.End.EOF:
		return teasel.ExitCrash, "the server closed its standard output and went on running"
	case t.End.Kind == script.EndSignalled:
		return teasel.ExitCrash, "the server died of a signal: " + t.End.Signal
	case t.End.Kind == script.EndExited && !t.End.EOF:
		return teasel.ExitCrash, fmt.Sprintf("the server exited with status %d", t.End.Code)
	case t.Hung && t.End.Kind == script.EndInvalid:
		return teasel.ExitHang, "a request got no answer" + l.detail
	}
	for _, r := range slices.Backward(t.Received) {
		switch {
		case r.Message.Class != jsonrpc.ClassResponse, r.Sent >= 0 && t.Sent[r.Sent].Withdrawn:
		case r.Message.IsRefusal():
			return teasel.ExitRejected, ""
		default:
			return teasel.ExitOK, ""
		}
	}
	return teasel.ExitOK, ""
}

// explain notes what a server does that does not answer: whether it burns processor time or waits for something.
func (e *executor) explain(l *lane, s *server) {
	running, all := s.Proc.Threads()
	switch {
	case all == 0:
	case running > 0:
		l.t.Busy = true
		l.detail = "; it is using the processor"
	default:
		l.t.Idle = true
		l.detail = "; it is idle"
	}
}

// attribute looks for whom that belongs to which came while several scripts were in flight: each is run once more, by
// itself. That is done for what is new only, and a few times.
func (e *executor) attribute(ctx context.Context, r *round, lanes []*lane, mark int64) error {
	s := r.server
	if text, written := s.Proc.Stderr(mark); written != mark || r.stray {
		s.stderr = written
		if line := troubleLine(text); line != nil {
			r.stray = e.strange("stderr", string(line)) || r.stray
		}
	}
	if !r.stray {
		return nil
	}
	for _, l := range lanes {
		if l.parked || l.resumes || l.skip || l.alone || len(l.t.Sent) == 0 {
			continue
		}
		l.again(e)
		if err := e.solo(ctx, l, false); err != nil {
			return err
		}
	}
	return nil
}
