package fleet

import (
	"context"
	"maps"
	"slices"
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
	for _, h := range todo {
		if time.Since(b.beaten) > b.options.Every { // the first one sends a lot, each of which the hub's disk has to take
			if err := b.beat(ctx); err != nil {
				return err
			}
		}
		if err := b.pushOne(ctx, &h.entry); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) pushOne(ctx context.Context, e *teasel.Entry) error {
	b.mu.Lock()
	_, kept := b.outbox[e.Key]
	fresh := b.unstable.adds(e.Features, b.fleet)
	b.mu.Unlock()
	if !kept { // it was evicted meanwhile
		return nil
	}
	if fresh {
		err := b.link.Push(ctx, &Entry{Key: e.Key, Build: b.about.build(), Machine: b.link.config.Machine, Features: e.Features, Data: e.Data})
		if err != nil && explain("", err).Kind == ProblemTooLarge {
			b.say("large", "fleet: testcase %s is too large for the hub, and stays on this machine", e.Key)
			err, fresh = nil, false
		}
		if err != nil {
			return err
		}
	}
	if err := b.acks.entry(e.Key, fresh); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.outbox, e.Key)
	if fresh {
		b.sent++
		for f := range e.Features.All() {
			b.fleet[f] = struct{}{}
		}
	}
	return nil
}
