package teasel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// connection is what a worker has to do with the hub.
type connection struct {
	x                Exchange
	news             News
	inbox            []Entry
	over             bool      // the hub has returned ErrStop
	cause            string    // why the campaign is over
	synced           time.Time // last call of Sync
	asked            time.Time // last call of Sync that asked for seeds
	reported         uint64    // executions that the hub knows of
	reportedMessages uint64    // that the hub knows of
}

// seeding is how far a worker is with the seeds that the hub has.
type seeding struct {
	more    bool      // the hub may have more seeds
	atOnce  int       // seeds that run together
	pending bool      // some seeds of the last replies may not have been run yet, or are postponed or not calibrated
	ran     bool      // all of them have been run
	dropped bool      // one will not be calibrated, since the campaign ends
	seeded  bool      // the hub had no more seeds once, or their time is over
	opened  time.Time // first call of Sync
	fed     uint64    // executions when seeds were last received
}

// publish reports the news, and waits while the campaign is paused. What is done when it is over does not wait.
func (w *Worker[T]) publish(ctx context.Context) error {
	wants, began := w.news.WantsSeeds, time.Now()
	wait, err := w.call(ctx)
	if err != nil || !wait || w.draining {
		return err
	}
	if w.background != nil {
		w.background.hold(true)
		defer w.background.hold(false)
	}
	for err == nil && wait {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pauseCheck):
		}
		w.news.WantsSeeds = wants
		wait, err = w.call(ctx)
	}
	paused := time.Since(began) // is not part of the time that is shared out
	w.meter.began, w.opened = w.meter.began.Add(paused), w.opened.Add(paused)
	return err
}

// call reports the news to the hub, which says whether to wait. Entries of the reply stay in the inbox until no testcase is being worked on.
func (w *Worker[T]) call(ctx context.Context) (wait bool, err error) {
	w.news.Sightings = w.seen.report()
	w.reportTime()
	for i := range w.stages {
		if s := &w.stages[i]; s.Executions > 0 || s.Kept > 0 || s.Time > 0 {
			if i < len(w.plan) {
				if p, ok := w.plan[i].(planner); ok {
					s.Planned = p.Planned()
				}
			}
			w.news.Stages = append(w.news.Stages, *s)
			*s = StageStats{Name: s.Name}
		}
	}
	w.state.Executions = w.previousExecutions + w.made()
	w.pending = w.pending && (!w.ran || w.dropped || w.queue.len(classKeep) > 0 || w.putsOff != nil && w.putsOff.Postponed())
	w.news.Executions, w.news.Worker, w.news.Pending, w.news.Ran = w.state.Executions-w.reported, w.state, w.pending, w.ran
	w.news.Messages += w.messages - w.reportedMessages
	w.news.Reproducing = w.seen.pending
	w.news.Errands = w.c.Errands || w.c.Resume != nil && len(w.c.Resume.Untried) > 0
	got, err := w.x.Sync(ctx, w.news)
	w.news, w.reported, w.reportedMessages, w.synced = News{}, w.state.Executions, w.messages, time.Now()
	if err != nil && !errors.Is(err, ErrStop) {
		return false, err
	}
	w.inbox = append(w.inbox, got.Entries...)
	if len(got.Entries) > 0 {
		w.pending, w.ran = true, false
	}
	for _, f := range got.Unstable {
		w.unstable[f] = unstableTimes
	}
	w.errands = append(w.errands, got.Errands...)
	if err != nil {
		w.over, w.cause = true, got.Stopped
	}
	return got.Wait, err
}

// reportTime adds the time that the classes of jobs have taken since the last call to their rows.
func (w *Worker[T]) reportTime() {
	if w.meter.counts {
		return
	}
	for c := range classes {
		w.stages[w.row(rowClasses)+int(c)].Time += time.Duration(w.meter.spent[c] - w.meter.reported[c])
	}
	w.meter.reported = w.meter.spent
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
		j.errand, j.stage, j.cost, j.crash = e.ID, w.row(rowSeeds), slowFind, true
		w.begin(j)
	}
	w.errands = nil
}

func (w *Worker[T]) decodeErrand(e *Errand) (in T, history []T, err error) {
	if in, err = w.codec.Decode(e.Finding.Input); err != nil {
		return in, nil, fmt.Errorf("decoding its input: %w", err)
	}
	history = make([]T, len(e.Finding.History))
	for i := range history {
		if history[i], err = w.codec.Decode(e.Finding.History[i]); err != nil {
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

// sync reports the news and takes in what others have found and seeds. All seeds that there are at first run once before anything is made
// of them: the bug may be behind the last one. Of those that come later, or that are left after [seedTime], it takes as many as are worth
// the executions made since the last ones, for a slow target may have time for little else.
func (w *Worker[T]) sync(ctx context.Context) error {
	idle := len(w.news.Entries)+len(w.news.Findings) == 0 && len(w.inbox) == 0
	if idle && !w.more && !w.asked.IsZero() && !w.due() && time.Since(w.asked) < syncTime {
		return nil
	}
	if w.opened.IsZero() {
		w.opened = time.Now()
	}
	began := w.made()
	enough := began + (began - w.fed)
	defer func() { w.fed = w.made() }()
	for {
		if err := w.askForSeeds(ctx); err != nil {
			return err
		}
		if len(w.inbox) == 0 {
			w.more = false
			if w.seeded {
				return nil
			}
			w.seeded = true
			return w.triage(ctx, true)
		}
		in := w.inbox
		w.inbox = nil
		if err := w.takeIn(ctx, in); err != nil {
			return err
		}
		w.ran = true
		if !w.c.SeedsOnly && (w.meter.counts && w.made() > seedRuns || !w.meter.counts && time.Since(w.opened) > seedTime) {
			w.seeded = true
		}
		if w.more = len(w.live) > 0; w.seeded && w.more && w.made() >= enough { // the next call continues after one round of fuzzing
			return nil
		}
	}
}

// askForSeeds has the hub send what others have found, and seeds: as many as are to run together, for a batch of a few leaves the target
// idle most of its time. The hub deals some at a time.
func (w *Worker[T]) askForSeeds(ctx context.Context) error {
	for size := 0; ; {
		before := len(w.inbox)
		w.news.WantsSeeds, w.asked = true, time.Now()
		if err := w.publish(ctx); err != nil {
			return err
		}
		w.accept()
		for _, e := range w.inbox[before:] {
			size += len(e.Data)
		}
		if n := len(w.inbox); n == before || n >= w.atOnce || w.meter.counts || w.over || size > replyBytes {
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
	var keys []string
	w.setOrigin(nil, w.row(rowSeeds))
	for _, e := range es {
		in, err := w.c.Codec.Decode(e.Data)
		if err != nil {
			w.skip(e.Key, err)
			continue
		}
		if e.Runs == 0 {
			seeds, keys = append(seeds, in), append(keys, e.Key)
		} else if err := w.adopt(ctx, in, e); err != nil {
			return err
		}
	}
	for len(seeds) > 0 {
		size, began := min(w.atOnce, len(seeds)), time.Now()
		if w.meter.counts {
			size = min(w.size, len(seeds))
		}
		obs, err := w.Probe(ctx, seeds[:size], Ask{})
		if err != nil {
			return err
		}
		if w.c.SeedsOnly {
			if err := w.try(ctx, seeds[:size], keys[:size], obs); err != nil {
				return err
			}
		}
		for i := range obs {
			w.give(seeds[i], keys[i], &obs[i])
		}
		seeds, keys = seeds[size:], keys[size:]
		affordable := float64(size) * slowProbe.Seconds() / time.Since(began).Seconds()
		w.atOnce = int(max(min(affordable, float64(2*w.atOnce), float64(w.size)), 1))
	}
	return nil
}

// How long nothing but seeds is run at first: on the clock or, where runs are counted, in executions.
const (
	seedTime = 5 * time.Second
	seedRuns = 2000
)

// slowProbe is how long seeds may take that run together: what they come to is reported between two probes. Of the first ones, nothing is
// known: they are firstSeeds, then up to twice as many.
const slowProbe = time.Second / 4

const firstSeeds = 2
