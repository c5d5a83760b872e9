package teasel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// publish reports the news. Entries of the reply stay in the inbox until no testcase is being worked on.
func (w *Worker[T]) publish(ctx context.Context) error {
	w.news.Sightings = w.seen.report()
	for i := range w.stages {
		if s := &w.stages[i]; s.Executions > 0 || s.Kept > 0 {
			w.news.Stages = append(w.news.Stages, *s)
			*s = StageStats{Name: s.Name}
		}
	}
	w.state.Executions = w.previousExecutions + w.made()
	w.news.Executions, w.news.Worker, w.news.Pending = w.state.Executions-w.reported, w.state, w.pending
	w.news.Errands = w.c.Errands || w.c.Resume != nil && len(w.c.Resume.Untried) > 0
	got, err := w.x.Sync(ctx, w.news)
	w.news, w.reported, w.synced = News{}, w.state.Executions, time.Now()
	if err != nil && !errors.Is(err, ErrStop) {
		return err
	}
	w.inbox = append(w.inbox, got.Entries...)
	w.pending = w.pending || len(got.Entries) > 0
	for _, f := range got.Unstable {
		w.unstable[f] = unstableTimes
	}
	w.errands = append(w.errands, got.Errands...)
	if err != nil {
		w.over, w.cause = true, got.Stopped
	}
	return err
}

// skipNotes is how many inputs that cannot be decoded are noted before only some of them are.
const skipNotes = 8

// due reports whether Sync is due, by count or, for slow targets, by the clock.
func (w *Worker[T]) due() bool {
	if w.previousExecutions+w.made()-w.reported >= syncRuns {
		return true
	}
	if w.batch == nil && w.state.Draws%clockEvery != 0 && !w.slow {
		return false
	}
	return time.Since(w.synced) >= syncTime
}

// accept starts jobs for errands: findings of which another worker has died.
func (w *Worker[T]) accept() {
	for _, e := range w.errands {
		in, history, err := w.decodeErrand(&e)
		if err != nil {
			w.news.Notes = append(w.news.Notes, fmt.Sprintf("confirming finding %s for an earlier run or another worker: %v", e.Finding.ID(), err))
			w.news.Unconfirmed = append(w.news.Unconfirmed, e.Finding)
			w.news.Finished = append(w.news.Finished, e.ID)
			continue
		}
		w.seen.reopen(&e.Finding)
		j := w.findJob(in, history, e.Finding)
		j.errand, j.stage, j.cost = e.ID, w.row(rowSeeds), slowFind
		w.begin(j)
	}
	w.errands = nil
}

func (w *Worker[T]) decodeErrand(e *Errand) (in T, history []T, err error) {
	if in, err = w.codec.Decode(e.Finding.Input); err != nil {
		return in, nil, fmt.Errorf("decoding its input: %w", err)
	}
	history = make([]T, len(e.History))
	for i := range history {
		if history[i], err = w.codec.Decode(e.History[i]); err != nil {
			return in, nil, fmt.Errorf("decoding input %d of its history: %w", i, err)
		}
	}
	return in, history, nil
}

// skip notes that an input from outside cannot be decoded. The first few are all noted, and then ever fewer: another fuzzer's corpus
// may have thousands.
func (w *Worker[T]) skip(key string, err error) {
	w.skipped++
	if n := w.skipped; n <= skipNotes || n&(n-1) == 0 {
		w.news.Notes = append(w.news.Notes, fmt.Sprintf("skipping input %s, number %d that cannot be decoded: %v", key, n, err))
	}
}

// sync reports the news and takes in what others have found and the next few seeds: all of them as long as there is no
// testcase to work on, and as many as are worth the executions made since the last ones, for a slow target may have time for
// little else, and seeds are the best that there is to run.
func (w *Worker[T]) sync(ctx context.Context) error {
	idle := len(w.news.Entries)+len(w.news.Findings) == 0 && len(w.inbox) == 0
	if idle && !w.more && !w.asked.IsZero() && !w.due() && time.Since(w.asked) < syncTime {
		return nil
	}
	began := w.made()
	enough := began + (began - w.fed)
	defer func() { w.fed = w.made() }()
	for {
		w.news.WantsSeeds, w.asked = true, time.Now()
		if err := w.publish(ctx); err != nil {
			return err
		}
		w.accept()
		if len(w.inbox) == 0 {
			w.more = false
			return nil
		}
		in := w.inbox
		w.inbox = nil
		if err := w.takeIn(ctx, in); err != nil {
			return err
		}
		w.pending = false
		if w.more = len(w.live) > 0; w.more && w.made() >= enough { // the next call continues after one round of fuzzing
			return nil
		}
	}
}

// takeIn runs seeds and keeps what others have found and judged.
func (w *Worker[T]) takeIn(ctx context.Context, es []Entry) error {
	if err := w.finishInFlight(ctx); err != nil {
		return err
	}
	var seeds []T
	w.setOrigin(nil, w.row(rowSeeds))
	for _, e := range es {
		in, err := w.c.Codec.Decode(e.Data)
		if err != nil {
			w.skip(e.Key, err)
			continue
		}
		if e.Runs == 0 {
			seeds = append(seeds, in)
		} else if err := w.adopt(ctx, in, e); err != nil {
			return err
		}
	}
	room := maxFallback - min(len(w.fallback), maxFallback)
	if w.fallback = append(w.fallback, seeds[:min(len(seeds), room)]...); len(w.live) > 0 {
		w.fallback = nil // not needed once there is a testcase, and some are large
	}
	for len(seeds) > 0 {
		n := min(len(seeds), w.size)
		if _, err := w.Probe(ctx, seeds[:n], Ask{}); err != nil {
			return err
		}
		seeds = seeds[n:]
	}
	return nil
}
