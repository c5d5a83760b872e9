package run

import (
	"sync"
	"time"
)

// A Rate limits how often something is done, by all who share it. It is given out one slot after the other, evenly spaced: there are no
// bursts, and what was not used is lost. Its methods may be called concurrently.
type Rate struct {
	mu   sync.Mutex
	each time.Duration
	next time.Time // when the next slot is free
}

// NewRate returns a limit of so many a second; nil, which is none, if that is 0.
func NewRate(perSecond int) *Rate {
	if perSecond == 0 {
		return nil
	}
	return &Rate{each: time.Second / time.Duration(perSecond)}
}

// Lasts returns how long it takes to do something so many times.
func (r *Rate) Lasts(times int) time.Duration { return time.Duration(times) * r.each }

// Take takes a slot that is free; otherwise it returns when there will be one.
func (r *Rate) Take(now time.Time) (free time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.next) {
		return r.next, false
	}
	r.next = now.Add(r.each)
	return now, true
}
