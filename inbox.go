package teasel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// publish tells the news. What comes back waits in the inbox until no testcase is being worked on.
func (w *Worker[T]) publish(ctx context.Context) error {
	for id, s := range w.known {
		if s.again > 0 && !s.waits {
			w.news.Sightings = append(w.news.Sightings, Sighting{id, s.again})
			s.again = 0
		}
	}
	for i := range w.stages {
		if s := &w.stages[i]; s.Executions > 0 || s.Kept > 0 {
			w.news.Stages = append(w.news.Stages, *s)
			*s = StageStats{Name: s.Name}
		}
	}
	w.news.Executions, w.news.Worker, w.news.Pending = w.state.Executions-w.told, w.state, w.pending
	got, err := w.x.Sync(ctx, w.news)
	if err != nil && !errors.Is(err, ErrStop) { // the next call tells what is news again, but counts nothing twice
		w.news.Stages, w.news.Sightings, w.news.Unstable, w.told = nil, nil, nil, w.state.Executions
		return err
	}
	w.news, w.told, w.synced = News{}, w.state.Executions, time.Now()
	w.inbox = append(w.inbox, got.Entries...)
	w.pending = w.pending || len(got.Entries) > 0
	for _, f := range got.Unstable {
		w.unstable[f] = struct{}{}
	}
	w.over = w.over || err != nil
	return err
}

// sync tells the news and takes in what others have found and the next few seeds: all of them as long as there is no
// testcase to work on, and as many as are worth the executions made since the last ones, for a slow target may have time for
// little else, and seeds are the best that there is to run.
func (w *Worker[T]) sync(ctx context.Context) error {
	idle := len(w.news.Entries)+len(w.news.Findings) == 0 && len(w.inbox) == 0
	if idle && !w.more && !w.asked.IsZero() && !w.due() && time.Since(w.asked) < syncTime {
		return nil
	}
	began := w.state.Executions
	enough := began + (began - w.fed)
	defer func() { w.fed = w.state.Executions }()
	for {
		w.news.Hungry, w.asked = true, time.Now()
		if err := w.publish(ctx); err != nil {
			return err
		}
		if len(w.inbox) == 0 {
			w.more = false
			return nil
		}
		in := w.inbox
		w.inbox = nil
		if err := w.take(ctx, in); err != nil {
			return err
		}
		w.pending = false
		if w.more = len(w.live) > 0; w.more && w.state.Executions >= enough { // look again after the next round
			return nil
		}
	}
}

// take runs seeds and keeps what others have found and judged.
func (w *Worker[T]) take(ctx context.Context, es []Entry) error {
	if err := w.land(ctx); err != nil {
		return err
	}
	var seeds []T
	w.cur, w.stage = nil, len(w.stages)-2
	for _, e := range es {
		in, err := w.c.Codec.Decode(e.Data)
		if err != nil {
			return fmt.Errorf("decoding entry %s: %w", e.Key, err)
		}
		if e.Runs == 0 {
			seeds = append(seeds, in)
		} else if err := w.adopt(ctx, in, e); err != nil {
			return err
		}
	}
	if w.dull = append(w.dull, seeds[:min(len(seeds), dullSeeds-min(len(w.dull), dullSeeds))]...); len(w.live) > 0 {
		w.dull = nil // they are of no more use, and some are large
	}
	for len(seeds) > 0 {
		n := min(len(seeds), len(w.slots))
		if _, err := w.Probe(ctx, seeds[:n], Ask{}); err != nil {
			return err
		}
		seeds = seeds[n:]
	}
	return nil
}
