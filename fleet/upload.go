package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// resend has everything that the campaign keeps sent again. The lock is held.
func (b *Bridge) resend() {
	for _, e := range b.kept {
		if _, waits := b.outbox[e.Key]; !waits {
			b.outbox[e.Key] = held{e, time.Now()}
		}
	}
	maps.Copy(b.finds, b.known)
}

// sendFindings sends the findings that the hub has not acknowledged.
func (b *Bridge) sendFindings(ctx context.Context) error {
	b.mu.Lock()
	var todo []corpus.FindingFile
	for _, f := range b.finds {
		todo = append(todo, f)
	}
	b.mu.Unlock()
	slices.SortFunc(todo, func(f, g corpus.FindingFile) int { return f.Finding.Compare(&g.Finding) })
	for i := range todo {
		f := &todo[i]
		id, name := f.Finding.ID(), digest(&f.Finding)
		if b.acks.findings[id] != name {
			err := b.link.Find(ctx, f)
			if err != nil && explain("", err).Kind == ProblemTooLarge {
				b.say("large "+id, "fleet: finding %s is too large for the hub, and is only in this campaign's directory", id)
				err = nil
			}
			if err == nil {
				err = b.acks.finding(id, name)
			}
			if err != nil {
				return err
			}
		}
		b.mu.Lock()
		if now := b.finds[id]; digest(&now.Finding) == name { // it has not become better meanwhile
			delete(b.finds, id)
		}
		b.mu.Unlock()
	}
	return nil
}

// push sends the testcases that have been kept long enough and reach what nothing on the hub does.
func (b *Bridge) push(ctx context.Context, all bool) error {
	b.mu.Lock()
	var todo []held
	for key, h := range b.outbox {
		switch {
		case b.acks.entries[key]:
			delete(b.outbox, key)
		case all || time.Since(h.since) >= b.options.Hold:
			todo = append(todo, h)
		}
	}
	b.mu.Unlock()
	slices.SortFunc(todo, func(x, y held) int { return x.since.Compare(y.since) })
	for len(todo) > 0 {
		if time.Since(b.beaten) > b.options.Every { // the first one sends a lot, each of which the hub's disk has to take
			if err := b.beat(ctx); err != nil {
				return err
			}
		}
		batch, needless, rest := b.choose(todo)
		for i := range needless {
			if err := b.pushed(&needless[i], false); err != nil {
				return err
			}
		}
		if err := b.send(ctx, batch); err != nil {
			return err
		}
		todo = rest
	}
	return nil
}

// What is on its way to the hub at once, so that sending many testcases does not take as many times the way there and back: so many testcases, and
// about so many bytes.
const (
	pushMost  = 32
	pushBytes = 4 << 20
)

// choose returns the testcases that are to be sent next, each of which reaches what neither those on the hub do nor those before it; the needless
// ones, which reach nothing that those on the hub do not; and the rest. What only the batch makes needless is of the rest, for it may not arrive.
func (b *Bridge) choose(todo []held) (batch, needless []teasel.Entry, rest []held) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ahead, bytes := map[teasel.Feature]struct{}{}, 0
	for i, h := range todo {
		if len(batch) == pushMost || bytes > pushBytes {
			return batch, needless, append(rest, todo[i:]...)
		}
		e := h.entry
		switch _, kept := b.outbox[e.Key]; {
		case !kept: // it was evicted meanwhile
		case !b.unstable.adds(e.Features, b.fleet):
			needless = append(needless, e)
		case !b.unstable.adds(e.Features, b.fleet, ahead):
			rest = append(rest, h)
		default:
			batch, bytes = append(batch, e), bytes+len(e.Data)
			for f := range e.Features.All() {
				ahead[f] = struct{}{}
			}
		}
	}
	return batch, needless, rest
}

// send sends testcases, all at once.
func (b *Bridge) send(ctx context.Context, batch []teasel.Entry) error {
	first, errs := make([]bool, len(batch)), make([]error, len(batch))
	var group sync.WaitGroup
	for i, e := range batch {
		group.Go(func() {
			first[i], errs[i] = b.link.Push(ctx, &Entry{Key: e.Key, Build: b.about.build(), Machine: b.link.config.Machine, Features: e.Features, Data: e.Data})
		})
	}
	group.Wait()
	for i := range batch {
		e, err := &batch[i], errs[i]
		if err != nil && explain("", err).Kind == ProblemTooLarge {
			b.say("large", "fleet: testcase %s is too large for the hub, and stays on this machine", e.Key)
		} else if err != nil {
			continue
		}
		if errs[i] = b.pushed(e, first[i]); err == nil {
			b.mu.Lock()
			for f := range e.Features.All() {
				b.fleet[f] = struct{}{}
			}
			b.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// pushed records that a testcase need not be sent any more; first says that this machine was the first to send it.
func (b *Bridge) pushed(e *teasel.Entry, first bool) error {
	if err := b.acks.entry(e.Key, first); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.outbox, e.Key)
	if first {
		b.sent++
	}
	return nil
}
