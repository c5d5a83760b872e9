package teasel

import (
	"sync"
	"time"
)

// Pause is a switch that holds up the campaigns that have it: their workers begin nothing new from their next call of [Exchange.Sync]
// on. Time that is paused is not run time: the campaign's clock stands still, and so does its Duration. The zero value lets campaigns run, and
// so does a nil pointer. Methods may be called concurrently.
type Pause struct {
	mu     sync.Mutex
	since  time.Time // zero: it is off
	before time.Duration
}

// Set pauses the campaigns, or lets them go on.
func (p *Pause) Set(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on && p.since.IsZero():
		p.since = time.Now()
	case !on && !p.since.IsZero():
		p.before += time.Since(p.since)
		p.since = time.Time{}
	}
}

// On reports whether campaigns are paused.
func (p *Pause) On() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.since.IsZero()
}

// total returns how long campaigns have been paused in all by now.
func (p *Pause) total(now time.Time) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return p.before
	}
	return p.before + now.Sub(p.since)
}

// pauseCheck is how often those who wait for the end of a pause look.
const pauseCheck = 100 * time.Millisecond

// AfterFunc calls f in a goroutine of its own when d has passed, time that is paused not counted. After stop, f is not called any more.
func (p *Pause) AfterFunc(d time.Duration, f func()) (stop func()) {
	begun := time.Now()
	paused := p.total(begun)
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	stopped := false
	var t *time.Timer
	t = time.AfterFunc(d, func() {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		switch left := d - now.Sub(begun) + p.total(now) - paused; {
		case stopped:
		case left > 0:
			t.Reset(max(left, pauseCheck))
		default:
			go f()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		t.Stop()
	}
}
