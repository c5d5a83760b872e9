package fleet

import (
	"context"
	"maps"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel/corpus"
)

// Find stores a finding, in place of what the hub has of it if this one is better confirmed or simpler, or was tried and the other one was not. When it returns without an error, the
// hub has it on disk.
func (l *Link) Find(ctx context.Context, f *corpus.FindingFile) error {
	text, err := f.MarshalText()
	if err != nil {
		return err
	}
	if len(text) > l.most() && (f.Finding.Original != nil || f.Finding.History != nil) { // the simplest input is what matters
		short := *f
		short.Finding.Original, short.Finding.History = nil, nil
		return l.Find(ctx, &short)
	}
	id := f.Finding.ID()
	for ctx.Err() == nil {
		var known *corpus.FindingFile
		var sequence uint64
		err := l.last(ctx, findingsStream, id, func(m *jetstream.RawStreamMsg) {
			sequence = m.Sequence
			if k, ok := findingOf(m); ok {
				known = &k
			}
		})
		if err != nil {
			return err
		}
		if known != nil && !better(&f.Finding, &known.Finding) {
			return nil
		}
		if stored, err := l.publish(ctx, l.subject(findingsStream, id), text, sequence); stored || err != nil {
			return err
		}
	}
	return l.failed(ctx.Err())
}

// findingOf returns the finding of a message. One under the name of another would take that one's place.
func findingOf(m *jetstream.RawStreamMsg) (corpus.FindingFile, bool) {
	f, err := corpus.ParseFinding(m.Subject, m.Data)
	return f, err == nil && f.Finding.ID() == lastToken(m.Subject)
}

// Findings returns the findings after a sequence number as they were stored, and the number of the last message.
func (l *Link) Findings(ctx context.Context, after uint64, most int) (fs []corpus.FindingFile, last uint64, n int, err error) {
	last = after
	err = l.read(ctx, findingsStream, after, most, func(m *jetstream.RawStreamMsg) {
		last, n = m.Sequence, n+1
		if f, ok := findingOf(m); ok {
			fs = append(fs, f)
		}
	})
	return fs, last, n, err
}

// Best returns all findings, each as it is best confirmed or simplest, the worst first.
func (l *Link) Best(ctx context.Context) ([]corpus.FindingFile, error) {
	last := map[string]corpus.FindingFile{}
	for at := uint64(0); ; {
		fs, next, n, err := l.Findings(ctx, at, pullMost)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for _, f := range fs {
			last[f.Finding.ID()] = f
		}
		at = next
	}
	return slices.SortedFunc(maps.Values(last), func(f, g corpus.FindingFile) int { return f.Finding.Compare(&g.Finding) }), nil
}
