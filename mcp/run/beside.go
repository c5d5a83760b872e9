package run

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

const (
	maxBeside = 512 // scripts that wait to be run beside; mutated ones that come later are not run
	maxHeld   = 16  // talks that wait to be taken back: those of long lines have much memory
)

// beside holds talks that need a server of their own or take long, one after the other on an executor of its own, while the campaign
// goes on: most of their time servers start, or compute.
type beside struct {
	e      *executor          // nil: there was none yet
	queue  chan script.Script // to be run
	held   chan held          // to be taken back
	cancel context.CancelFunc
	over   chan struct{} // closed when nothing is held any more
}

// held is a talk that was held beside.
type held struct {
	talk *talk
	err  error
}

// postpone sets a talk aside that needs a server of its own or takes long, and reports whether it has. Its end is handed out by Late.
func (e *executor) postpone(ctx context.Context, k *talk) bool {
	if k.in.Start != script.Fresh && !k.meter.Demanding() || e.target.Exact {
		return false
	}
	b := &e.beside
	if b.e == nil {
		b.e = newExecutor(e.target.background(lowNiceness), e.session)
		b.queue, b.held, b.over = make(chan script.Script, maxBeside), make(chan held, maxHeld), make(chan struct{})
		ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it goes on after the batch
		go b.serve(ctx)
	}
	if len(b.queue) == maxBeside {
		k.state = skipped
		return k.in.Check == ""
	}
	k.state = aside
	b.queue <- script.Unpack(script.AppendPacked(nil, k.in)) // by nobody else
	return true
}

// serve runs what is in the queue, until the context ends or an error of ours.
func (b *beside) serve(ctx context.Context) {
	defer close(b.over)
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-b.queue:
			k := new(talk)
			k.take(b.e, &in, &teasel.Observation{})
			b.e.read, b.e.kept = 0, 0
			err := b.e.runAlone(ctx, k, true)
			for _, k := range append(b.e.finished, k) { // the server may have ended with the one before
				if k.halt(); k.in.Start != script.Fresh {
					k.t.Past = nil // other scripts are about to be added to it
				}
				select {
				case b.held <- held{k, err}:
				case <-ctx.Done():
				}
			}
			if b.e.finished = nil; err != nil {
				return
			}
		}
	}
}

// catchUp keeps the talks that were held beside for who asks for late ones.
func (e *executor) catchUp() error {
	for {
		select {
		case h := <-e.beside.held:
			if h.err != nil {
				return h.err
			}
			h.talk.e, h.talk.obs = e, nil
			e.finish(h.talk)
		default:
			return nil
		}
	}
}

// closeBeside ends what is held beside.
func (e *executor) closeBeside() error {
	b := &e.beside
	if b.e == nil {
		return nil
	}
	b.cancel()
	<-b.over
	return b.e.Close()
}
