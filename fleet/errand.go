package fleet

import (
	"context"
	"maps"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// errands are what machines ask of each other: to confirm a finding for which one had no time. The hub's list of them is its findings that
// nobody has tried. Of many machines about one takes an errand in a round, as long as the hub has not heard how it went, so that nobody waits for
// one that is gone.
type errands struct {
	wanted map[string]corpus.FindingFile // on the hub, not tried, and not this machine's own, by id
	taken  []teasel.Errand               // for the workers
	ours   map[string]bool               // ids of those that were taken
}

func newErrands() errands {
	return errands{wanted: map[string]corpus.FindingFile{}, ours: map[string]bool{}}
}

// pullFindings looks for findings that another machine had no time to confirm.
func (b *Bridge) pullFindings(ctx context.Context) error {
	for {
		fs, last, n, err := b.link.Findings(ctx, b.findAt, pullMost)
		if err != nil || n == 0 {
			return err
		}
		b.mu.Lock()
		for i := range fs {
			b.consider(fs[i])
		}
		b.mu.Unlock()
		b.findAt = last
	}
}

// consider looks at a finding of the hub. The lock is held.
func (b *Bridge) consider(f corpus.FindingFile) {
	id := f.Finding.ID()
	_, ours := b.known[id]
	tried, done := b.tried[id]
	switch {
	case f.Finding.Tries > 0:
		delete(b.errands.wanted, id)
	case ours || b.errands.ours[id] || f.Finding.Severity < teasel.Info:
	case done: // before it was asked to
		b.queue(tried)
	default:
		b.errands.wanted[id] = f
	}
}

// volunteer takes errands.
func (b *Bridge) volunteer(context.Context) error {
	b.mu.Lock()
	wanted := slices.SortedFunc(maps.Values(b.errands.wanted), func(f, g corpus.FindingFile) int { return f.Finding.Compare(&g.Finding) })
	b.mu.Unlock()
	for _, f := range wanted {
		if !b.turn() {
			continue
		}
		b.mu.Lock()
		id := f.Finding.ID()
		delete(b.errands.wanted, id)
		b.errands.ours[id] = true
		f.Finding.Occurrences = 0 // those were elsewhere
		b.errands.taken = append(b.errands.taken, teasel.Errand{Finding: f.Finding, Worker: -1})
		b.mu.Unlock()
	}
	return nil
}

// notReproduced keeps how a finding was tried in vain, for the machine that has asked, or will ask. The lock is held.
func (b *Bridge) notReproduced(f teasel.Finding) {
	id := f.ID()
	if b.tried[id] = b.file(f); b.errands.ours[id] {
		b.queue(b.tried[id])
	}
}

// better reports whether a finding takes the place of what the hub has of it. One that was tried in vain needs no other machine.
func better(f, g *teasel.Finding) bool {
	if f.Stable == 0 && g.Stable == 0 {
		return f.Tries > 0 && g.Tries == 0
	}
	return f.Improves(g)
}
