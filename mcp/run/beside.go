package run

import (
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// maxBeside is how many scripts wait to be held beside. Mutated ones that come later are not run.
const maxBeside = 512

// beside holds talks that need a server of their own or take long, one after the other on an executor of its own, while the campaign
// goes on: most of their time servers start, or compute.
type beside struct {
	e      *executor // nil: there was none yet
	queue  []script.Script
	held   *talk // nil: none is
	back   chan error
	cancel context.CancelFunc
}

// postpone sets a talk aside that needs a server of its own or takes long, and reports whether it has. Its end is handed out by Late.
func (e *executor) postpone(k *talk) bool {
	if k.in.Start != script.Fresh && !k.meter.Demanding() || e.target.Exact {
		return false
	}
	if len(e.beside.queue) >= maxBeside {
		k.state = skipped
		return k.in.Check == ""
	}
	k.state = aside
	e.beside.queue = append(e.beside.queue, script.Unpack(script.AppendPacked(nil, k.in)))
	return true
}

// catchUp takes back the talk that was held beside the batches, if it is at its end, and has the next one held.
func (e *executor) catchUp(ctx context.Context) error {
	b := &e.beside
	if b.held != nil {
		select {
		case err := <-b.back:
			if err = e.takeBack(err); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	if len(b.queue) == 0 {
		return nil
	}
	if b.e == nil {
		b.e = newExecutor(e.target.background(lowNiceness), e.session)
	}
	in := b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	k := new(talk)
	k.take(b.e, &in, &teasel.Observation{})
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it goes on after the batch
	b.held, b.back = k, make(chan error, 1)
	go func() { b.back <- b.e.hold(ctx, k, false) }()
	return nil
}

// takeBack keeps the talk that was held beside for who asks for late ones.
func (e *executor) takeBack(err error) error {
	b := &e.beside
	b.cancel()
	if b.held.obs = nil; err == nil {
		e.finish(b.held)
	}
	b.held = nil
	return err
}

// closeBeside ends what is held beside.
func (e *executor) closeBeside() error {
	b := &e.beside
	if b.held != nil {
		b.cancel()
		<-b.back
		b.held.free()
	}
	if b.e == nil {
		return nil
	}
	return b.e.Close()
}
