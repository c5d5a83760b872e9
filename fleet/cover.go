package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// cover names testcases that reach everything that the first ones of a stream reach, so that a machine that joins reads those and what came
// later. The hub has one, in one message: it is there as a whole or not at all, whatever happens to the machine that makes it. Since no testcase
// is removed from a stream, a cover never becomes wrong, but with every new testcase a little less useful.
type cover struct {
	Version int       `json:"version"`
	Birth   time.Time `json:"birth"`   // of the stream
	Through uint64    `json:"through"` // sequence number of the last message that it stands for
	Keys    []string  `json:"keys"`    // in the order of the stream
}

const (
	coverName    = "cover"
	coverVersion = 1
	coverLeast   = 200 // testcases that no cover stands for: with fewer, reading them all is as quick
)

// fits reports whether a machine may read what the cover names in place of the beginning of a stream. Any machine may store a cover: a name that
// is no key could ask the hub for other testcases, or for nothing that it answers.
func (c *cover) fits(s *Streams) bool {
	return c.Version == coverVersion && c.Birth.Equal(s.Birth) && c.Through <= s.Last && len(c.Keys) > 0 &&
		!slices.ContainsFunc(c.Keys, func(key string) bool { return CheckName(key) != nil })
}

// cover returns the cover that the hub has, its zero value if it has none, and the sequence number of its message.
func (l *Link) cover(ctx context.Context) (c cover, sequence uint64, err error) {
	err = l.last(ctx, controlStream, coverName, func(m *jetstream.RawStreamMsg) {
		if sequence = m.Sequence; json.Unmarshal(m.Data, &c) != nil {
			c = cover{}
		}
	})
	return c, sequence, err
}

// join begins to read the stream. What a cover stands for need not be read but for what it names.
func (b *Bridge) join(ctx context.Context) error {
	if b.joined {
		return nil
	}
	c, _, err := b.link.cover(ctx)
	if err != nil {
		return err
	}
	b.covered, b.coverSize = 0, 0
	if c.fits(&b.streams) {
		b.covered, b.coverSize = c.Through, len(c.Keys)
		// An earlier run that was not through with a cover may have run another selection than this one.
		ran := b.acks.at.Cursor
		if ran < c.Through {
			ran = 0
		}
		whole, err := b.link.named(ctx, c.Keys, func(es []Entry) { b.accept(es, ran) })
		if err != nil {
			return err
		}
		if whole { // somebody with more rights than machines have may have removed some
			b.advance(c.Through)
		}
	}
	b.joined = true
	return nil
}

// renew replaces the cover when there are as many new testcases as it names, so that who joins reads at most twice what is needed, and all
// renewing together costs the hub about as much as each testcase read once more. Of many machines that find that it is due, about one does it
// in a round; if that one ends in the middle of it, another does.
func (b *Bridge) renew(ctx context.Context) error {
	due := func() bool { return b.read-b.covered >= max(coverLeast, uint64(b.coverSize)) }
	if b.beaten.IsZero() || b.coverless || b.trouble == ProblemFull || !due() || !b.turn() {
		return nil
	}
	old, sequence, err := b.link.cover(ctx)
	if err != nil {
		return err
	}
	if !old.fits(&b.streams) {
		old = cover{}
	}
	if b.covered, b.coverSize = old.Through, len(old.Keys); !due() {
		return nil
	}
	c := cover{Version: coverVersion, Birth: b.streams.Birth}
	if c.Keys, c.Through, err = b.minimal(ctx, &old); err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	stored, err := b.link.publish(ctx, b.link.subject(controlStream, coverName), text, sequence)
	if err != nil {
		switch explain("", err).Kind {
		case ProblemRights, ProblemTooLarge: // a hub whose users were made by an older teasel-hub; hundreds of thousands of testcases
			b.coverless = true
			b.say("cover", "fleet: %v: machines that join have to read all testcases", err)
			return nil
		}
		return err
	}
	if stored {
		b.covered, b.coverSize = c.Through, len(c.Keys)
	}
	return nil
}

// minimal returns the keys of testcases that reach all that is reached by those that a cover names and those after it, for each build apart, and
// the sequence number up to which it has looked.
func (b *Bridge) minimal(ctx context.Context, old *cover) (keys []string, through uint64, err error) {
	builds := map[string][]teasel.Entry{}
	at := map[string]uint64{}
	add := func(es []Entry) {
		for i := range es {
			e := &es[i]
			at[e.Key] = e.Sequence
			features := e.Features
			if e.Build == b.about.build() {
				if features = b.unstable.stable(features); features.Len() == 0 && e.Features.Len() > 0 {
					continue
				}
			}
			builds[e.Build] = append(builds[e.Build], teasel.Entry{Key: e.Key, Runs: 1, Features: features, Complexity: float64(len(e.Data))})
		}
	}
	locked := func(es []Entry) {
		b.mu.Lock()
		defer b.mu.Unlock()
		add(es)
	}
	whole, err := b.link.named(ctx, old.Keys, locked)
	if err != nil {
		return nil, 0, err
	}
	if through = old.Through; !whole {
		through = 0
	}
	for {
		es, last, n, err := b.link.Pull(ctx, through, pullMost)
		if err != nil {
			return nil, 0, err
		}
		if n == 0 {
			break
		}
		locked(es)
		through = last
	}
	for _, es := range builds {
		for _, e := range corpus.Minimal(es) {
			keys = append(keys, e.Key)
		}
	}
	slices.SortFunc(keys, func(x, y string) int { return int(at[x]) - int(at[y]) })
	return keys, through, nil
}

// named calls take with the testcases that have some keys, a part at a time, and reports whether all of them are there.
func (l *Link) named(ctx context.Context, keys []string, take func([]Entry)) (whole bool, err error) {
	for rest := keys; len(rest) > 0; {
		asked := rest[:min(len(rest), pullMost)]
		subjects := make([]string, len(asked))
		for i, key := range asked {
			subjects[i] = l.subject(entriesStream, key)
		}
		got := map[string]bool{}
		var es []Entry
		if err := l.lastOf(ctx, entriesStream, subjects, func(m *jetstream.RawStreamMsg) {
			e := Entry{Key: lastToken(m.Subject), Sequence: m.Sequence}
			if got[e.Key] = true; e.UnmarshalBinary(m.Data) == nil {
				es = append(es, e)
			}
		}); err != nil {
			return false, fmt.Errorf("reading %d testcases: %w", len(asked), err)
		}
		if len(got) == 0 {
			return false, nil
		}
		take(es)
		// An answer that would be too large for the server ends early.
		before := len(rest)
		if rest = slices.DeleteFunc(slices.Clone(rest), func(key string) bool { return got[key] }); len(rest) == before {
			return false, nil // it has answered with others
		}
	}
	return true, nil
}
