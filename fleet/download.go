package fleet

import "context"

// Pull implements [teasel.Source]. That it is called says that the workers have run what it has returned before.
func (b *Bridge) Pull(context.Context) ([][]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = b.given
	n := min(len(b.inbox), giveMost)
	var out [][]byte
	for _, a := range b.inbox[:n] {
		out = append(out, a.data)
		b.given = a.sequence
	}
	if b.inbox = b.inbox[n:]; len(b.inbox) == 0 {
		b.given, b.inbox = b.read, nil
	}
	b.taken += n
	return out, nil
}

// pull reads what others have sent.
func (b *Bridge) pull(ctx context.Context) error {
	for {
		es, last, n, err := b.link.Pull(ctx, b.read, pullMost)
		if err != nil || n == 0 {
			return err
		}
		b.accept(es, b.acks.at.Cursor)
		b.advance(last)
	}
}

// advance records up to which sequence number there is nothing left to read.
func (b *Bridge) advance(to uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read = to; len(b.inbox) == 0 {
		b.given = to
	}
}

// accept takes testcases from the hub. Those up to the sequence number ran have run here.
func (b *Bridge) accept(es []Entry, ran uint64) {
	b.mu.Lock()
	for i := range es {
		b.take(&es[i], ran)
	}
	b.mu.Unlock()
	for i := range es {
		if e := &es[i]; e.Machine != b.link.config.Machine {
			b.otherBuild(e.Build, "machine "+e.Machine)
		}
	}
}

// take keeps an entry for the workers if it may reach something new here. Of another build, the features say nothing. The lock is held.
func (b *Bridge) take(e *Entry, ran uint64) {
	_, ours := b.outbox[e.Key]
	ours = ours || b.acks.entries[e.Key]
	b.acks.entries[e.Key] = true
	delete(b.outbox, e.Key)
	same, fresh := e.Build == b.about.build(), false
	if same {
		for f := range e.Features.All() {
			b.fleet[f] = struct{}{}
			if _, known := b.here[f]; !known {
				fresh = true
			}
		}
	}
	if !ours && e.Machine != b.link.config.Machine && e.Sequence > ran && (fresh || !same) {
		b.inbox = append(b.inbox, arrived{e.Data, e.Sequence})
	}
}

// pullFindings brings the inputs of findings that another machine had no time to reproduce.
func (b *Bridge) pullFindings(ctx context.Context) error {
	for {
		fs, last, n, err := b.link.Findings(ctx, b.findAt, pullMost)
		if err != nil || n == 0 {
			return err
		}
		b.mu.Lock()
		for i := range fs {
			if f := &fs[i].Finding; f.Tries == 0 && b.known[f.ID()].Kind == "" {
				b.inbox = append(b.inbox, arrived{f.Input, b.read})
			}
		}
		b.mu.Unlock()
		b.findAt = last
	}
}
