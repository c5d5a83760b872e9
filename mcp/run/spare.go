package run

import (
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
)

const (
	spareTime  = 5 * time.Second         // after a spare process was needed, in which another one is likely to be
	quickStart = 150 * time.Millisecond  // of a server whose start is not worth doing anything else meanwhile
	restLook   = 50 * time.Millisecond   // between two looks whether a spare process is at rest
	restLooks  = 2                       // in a row after which it is
	starveTime = 2500 * time.Millisecond // in which a process starts that gets a tenth of a processor, mostly
)

// takeSpare returns a process to which nothing was said.
func (e *executor) takeSpare() (*server, error) {
	e.taken = time.Now()
	for len(e.spares) > 0 {
		s := e.spares[0]
		e.spares = slices.Delete(e.spares, 0, 1)
		switch {
		case !s.Proc.Running():
		case e.starves(s):
			e.pressed = true
			e.target = e.target.aside(niceness)
		default:
			return s, nil
		}
		s.Close()
	}
	return e.target.launch()
}

// starves reports whether a spare process has given way by so much that it could not even start: all that follow are to
// give way by less.
func (e *executor) starves(s *server) bool {
	return e.target.petty() && time.Since(s.born) >= starveTime && s.busy()
}

// warmUp starts processes for when they are needed: one, and more while they are needed one after the other, as when
// findings are confirmed, for most servers take longer to start than to show anything.
func (e *executor) warmUp() error {
	n := 1
	switch {
	case e.annexed:
		n = min(n, e.queued)
	case time.Since(e.taken) < spareTime:
		n = e.target.spares()
	}
	for len(e.spares) < n {
		s, err := e.target.launch()
		if err != nil {
			return err
		}
		e.spares = append(e.spares, s)
	}
	return nil
}

// ready reports whether a spare process has loaded all that it needs.
func (e *executor) ready() bool { return e.rested(restLooks) }

// rested reports whether the next spare process was at rest at so many looks, or need not be looked at.
func (e *executor) rested(looks int) bool {
	if e.quick || len(e.spares) == 0 {
		return true
	}
	s := e.spares[0]
	now := time.Now()
	if s.rests >= looks || now.Sub(s.looked) < restLook || now.Sub(s.born) < e.startup/4 {
		return s.rests >= looks
	}
	s.looked = now
	if s.rests++; s.busy() {
		s.rests = 0
	}
	return s.rests >= looks
}

// rerun runs a script that was set aside, and keeps it for whoever asks for stragglers.
func (e *executor) rerun(ctx context.Context, l *lane, patient bool) error {
	told := l.told
	l.obs = &teasel.Observation{}
	l.again(e)
	l.told = told
	if err := e.solo(ctx, l, patient); err != nil {
		return err
	}
	l.own()
	if !l.parked && !l.resumes {
		e.back = append(e.back, l)
	}
	return nil
}
