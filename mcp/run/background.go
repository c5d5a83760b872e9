package run

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// background runs postponed talks, one after the other on an executor of its own, while the campaign goes on: most of their time servers
// start, or compute.
type background struct {
	e      *executor  // nil: there was none yet
	todo   chan *talk // a few, so that it need not wait for the end of a batch
	done   chan *talk // that have run
	cancel context.CancelFunc
	ended  chan struct{} // closed when nothing runs any more
	err    error         // of ours, why it has ended
}

// ahead is how many talks the background is given before it needs them.
const ahead = 4

// postpones reports whether a talk is not to be run now, since it needs a server of its own or much time, or is likely to need one: it is a
// check that is about what has killed servers. When too many are postponed, only checks are.
func (e *executor) postpones(k *talk) bool {
	switch {
	case k.in.Start != script.Fresh && !k.meter.Demanding() && e.affordsAll(k), e.target.Exact:
		return false
	case k.in.Check != "" || len(e.in(postponed)) < maxLate:
		k.state = postponed
	default:
		k.state = skipped
	}
	return true
}

// advanceBackground gives the background what is postponed, as far as it takes it, and keeps what has run for who asks for late talks.
// While some wait for that already, the background waits too.
func (e *executor) advanceBackground(ctx context.Context) error {
	b := &e.background
	waiting := e.in(postponed)
	if b.e == nil && len(waiting) > 0 {
		*b = background{e: newExecutor(e.target.background(lowNiceness), e.session), todo: make(chan *talk, ahead), done: make(chan *talk), ended: make(chan struct{})}
		ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it goes on after the batch
		go b.serve(ctx)
	}
	for n := len(e.in(over)); n < maxOver && b.e != nil; n++ {
		select {
		case k := <-b.done:
			e.takeBack(k)
			continue
		case <-b.ended:
			return b.err
		default:
		}
		break
	}
	for _, k := range waiting[:min(len(waiting), cap(b.todo)-len(b.todo))] {
		e.remove(k)
		b.todo <- k
	}
	return nil
}

// takeBack takes a talk that has run in the background.
func (e *executor) takeBack(k *talk) {
	if k.e, k.obs = e, nil; k.failed() {
		e.charge(k, deathPrice)
	}
	if k.check {
		e.checks.Add(-1)
	}
	e.finish(k)
}

// serve runs what it is given, until the context ends or an error of ours.
func (b *background) serve(ctx context.Context) {
	defer close(b.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case k := <-b.todo:
			runs, late := k.runs, k.lateness
			k.take(b.e, k.in, &teasel.Observation{})
			k.runs, k.lateness = runs, late
			b.e.read, b.e.kept = 0, 0
			b.err = b.e.runAlone(ctx, k, true)
			if k.halt(); b.err != nil {
				return
			}
			for _, k := range append(b.e.late, k) { // the server may have ended with the one before
				if k.in.Start != script.Fresh && k.server != nil && k.t.Past == &k.server.past { // other scripts are about to be added to it
					k.copyPast()
				}
				select {
				case b.done <- k:
				case <-ctx.Done():
				}
			}
			b.e.late = nil
		}
	}
}

// close ends the background.
func (b *background) close() error {
	if b.e == nil {
		return nil
	}
	b.cancel()
	<-b.ended
	return b.e.Close()
}
