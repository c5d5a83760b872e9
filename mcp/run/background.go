package run

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

const (
	maxBackground = 512 // scripts that wait to be run in the background; mutated ones that come later are not run
	maxResults    = 2   // talks that wait to be handed out, beside one that waits to be taken back: a huge line takes tens of megabytes, and a batch may last
)

// background runs talks that need a server of their own or take long, one after the other on an executor of its own, while the campaign
// goes on: most of their time servers start, or compute.
type background struct {
	e       *executor          // nil: there was none yet
	queue   chan script.Script // to be run
	results chan result        // to be taken back
	cancel  context.CancelFunc
	over    chan struct{} // closed when nothing runs any more
}

// result is a talk that has run in the background.
type result struct {
	talk *talk
	err  error
}

// runInBackground suspends a talk that needs a server of its own or takes long, and reports whether it has. Its end is handed out by Late.
func (e *executor) runInBackground(ctx context.Context, k *talk) bool {
	if k.in.Start != script.Fresh && !k.meter.Demanding() || e.target.Exact {
		return false
	}
	b := &e.background
	if b.e == nil {
		b.e = newExecutor(e.target.background(lowNiceness), e.session)
		b.queue, b.results, b.over = make(chan script.Script, maxBackground), make(chan result), make(chan struct{})
		ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx)) // it goes on after the batch
		go b.serve(ctx)
	}
	if len(b.queue) == maxBackground {
		k.state = skipped
		return k.in.Check == ""
	}
	k.state = suspended
	b.queue <- script.Unpack(script.AppendPacked(nil, k.in)) // by nobody else
	return true
}

// serve runs what is in the queue, until the context ends or an error of ours.
func (b *background) serve(ctx context.Context) {
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
				case b.results <- result{k, err}:
				case <-ctx.Done():
				}
			}
			if b.e.finished = nil; err != nil {
				return
			}
		}
	}
}

// collectBackground keeps the talks that have run in the background for who asks for late ones. While some wait for that already, the
// background waits too.
func (e *executor) collectBackground() error {
	for len(e.finished) < maxResults {
		select {
		case h := <-e.background.results:
			if h.err != nil {
				return h.err
			}
			h.talk.e, h.talk.obs = e, nil
			e.finish(h.talk)
		default:
			return nil
		}
	}
	return nil
}

// closeBackground ends the background.
func (e *executor) closeBackground() error {
	b := &e.background
	if b.e == nil {
		return nil
	}
	b.cancel()
	<-b.over
	return b.e.Close()
}
