package conn

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mostFruitless = 3                     // how often a thread that lets time pass is waited for for nothing before it is left alone
	firstSleep    = time.Second           // that a server may let pass once it listens
	nextSleep     = 20 * time.Millisecond // the same, where it has let more pass when it was started before
)

// firstRest waits until a server that listens sleeps. Threads that let time pass then do nothing else, for nothing was sent yet.
func (s *Server) firstRest(ctx context.Context, limit time.Duration) (State, error) {
	sleepLimit := firstSleep
	if s.paced {
		sleepLimit = nextSleep
	}
	state, err := s.quiet.settleWithin(ctx, -1, s.clock.Read, limit, sleepLimit)
	if state == Waiting {
		s.paced = true
		for range mostFruitless {
			s.quiet.noteSleeping()
		}
	}
	return state, err
}

// sleepingThread returns a thread that lets time pass, as sleep(3) does, and has not been waited for too often for nothing. Servers have
// threads that do nothing else, and some wait a little before they answer, or, as those in Go, before they die. awake says that a thread has begun to run again meanwhile.
func (q *quiet) sleepingThread() (p *process, id int, awake bool) {
	for _, p := range q.processes {
		for _, t := range p.threads {
			if p.fruitlessWaits[t.id] >= mostFruitless {
				continue
			}
			switch sleeps, awake := q.sleeps(t); {
			case awake:
				return nil, 0, true
			case sleeps:
				return p, t.id, false
			}
		}
	}
	return nil, 0, false
}

// sleeps reports whether a thread lets time pass. awake says that it runs instead.
func (q *quiet) sleeps(t thread) (sleeps, awake bool) {
	if t.call < 0 {
		return false, false
	}
	n, err := unix.Pread(t.call, q.buf[:], 0)
	if err != nil || n <= 0 {
		return false, false
	}
	number, _, _ := bytes.Cut(q.buf[:n], []byte(" "))
	c, err := strconv.Atoi(string(number))
	if err != nil { // "running"
		return false, true
	}
	return c == unix.SYS_NANOSLEEP || c == unix.SYS_CLOCK_NANOSLEEP, false
}

// timedOut reports whether a thread that lets time pass has been given all the time there is.
func (w *wait) timedOut() bool { return !w.began.IsZero() && time.Since(w.began) >= w.sleepLimit }

// waitFor notes that a thread is being waited for.
func (w *wait) waitFor(p *process, id int) {
	if w.waitedFor == nil {
		w.waitedFor = map[*process]int{}
	}
	w.waitedFor[p] = id
}

// learn remembers which threads have let time pass for nothing. The only thread of a process has not, now that it does something
// else: it has handled the message meanwhile, and the next one is not for a server that still sleeps.
func (w *wait) learn() {
	if w.waitedFor == nil || w.fd >= 0 && readable(w.fd) {
		return
	}
	for p, id := range w.waitedFor {
		if len(p.threads) > 1 {
			p.noteFruitlessWait(id)
		}
	}
}

func (p *process) noteFruitlessWait(id int) {
	if p.fruitlessWaits == nil {
		p.fruitlessWaits = map[int]int{}
	}
	p.fruitlessWaits[id]++
}

// noteSleeping remembers all threads that still let time pass when no more time was given: they may do nothing else, whether the
// message was answered or not.
func (q *quiet) noteSleeping() {
	for _, p := range q.processes {
		for _, t := range p.threads {
			if sleeps, _ := q.sleeps(t); sleeps {
				p.noteFruitlessWait(t.id)
			}
		}
	}
}
