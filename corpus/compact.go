package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A compaction replaces campaign.json in the background: that takes long for a large corpus, and workers wait while Report is busy.
// The journal is replaced at once. Until the new campaign.json is complete, the state is that of the old one, the previous journal and
// the new journal, in this order.
type compaction struct {
	done chan struct{} // closed when the other fields are set
	size int64         // of campaign.json
	err  error
}

// rotate begins a compaction. It must be called with the lock held, and when no other is in progress.
func (d *Dir) rotate() error {
	path := filepath.Join(d.path, journalName)
	if err := os.Rename(path, filepath.Join(d.path, previousName)); err != nil {
		return fmt.Errorf("replacing the journal: %w", err)
	}
	full := d.journal.file
	j, err := startJournal(d.path, opening{Version: journalVersion, Epoch: d.epoch + 1, Meta: &d.meta}, false)
	if err != nil {
		return err
	}
	d.epoch++
	j.limit = math.MaxInt64
	d.journal, d.pending = j, append(d.pending, path)
	c := &compaction{done: make(chan struct{})}
	d.compacting = c
	meta, s, epoch := d.meta, d.state.snapshot(), d.epoch
	go func() {
		defer close(c.done)
		if d.beforeWrite != nil {
			d.beforeWrite()
		}
		c.err = errors.Join(full.Sync(), full.Close())
		if c.err == nil {
			c.size, c.err = writeCampaign(d.path, &meta, s, epoch)
		}
		if c.err == nil {
			c.err = removePrevious(d.path)
		}
	}()
	return nil
}

// collect takes the result of a compaction. Without wait it does so only if the compaction has ended.
func (d *Dir) collect(wait bool) error {
	c := d.compacting
	if c == nil {
		return nil
	}
	if !wait {
		select {
		case <-c.done:
		default:
			return nil
		}
	}
	<-c.done
	d.compacting = nil
	d.journal.limit = journalLimit(c.size)
	if c.err != nil {
		return fmt.Errorf("writing %s: %w", campaignName, c.err)
	}
	return nil
}

// compact writes all that is known to campaign.json and starts a new journal before it returns. A kill in between leaves a
// journal of an earlier epoch, which is not read again. It must be called with the lock held.
func (d *Dir) compact() error {
	if err := d.collect(true); err != nil {
		return err
	}
	size, err := writeCampaign(d.path, &d.meta, &d.state, d.epoch+1)
	if err != nil {
		return fmt.Errorf("writing %s: %w", campaignName, err)
	}
	d.epoch++
	j, err := startJournal(d.path, opening{Version: journalVersion, Epoch: d.epoch, Meta: &d.meta}, true)
	if err != nil {
		return err
	}
	if d.journal != nil {
		d.journal.file.Close() // its records are in campaign.json
	}
	j.limit = journalLimit(size)
	d.journal = j
	return removePrevious(d.path)
}

// journalLimit returns the size that a journal may have beside a campaign.json: campaign.json is then rewritten
// rarely enough that most of what is written is news.
func journalLimit(campaign int64) int64 { return 1<<20 + 2*campaign }

func removePrevious(dir string) error {
	if err := os.Remove(filepath.Join(dir, previousName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the previous journal: %w", err)
	}
	return nil
}

// snapshot returns a copy that later records do not change. It shares the testcases, which are replaced and never changed.
func (s *state) snapshot() *state {
	c := *s
	c.stats.Stages = slices.Clone(s.stats.Stages)
	c.workers, c.unstable, c.list = slices.Clone(s.workers), slices.Clone(s.unstable), slices.Clone(s.list)
	c.counts = make(map[string]uint64, len(s.counts))
	for id, n := range s.counts {
		c.counts[id] = n
	}
	c.last = make(map[string]seconds, len(s.last))
	for folder, at := range s.last {
		c.last[folder] = at
	}
	c.at, c.findings = nil, nil
	return &c
}

// writeCampaign writes campaign.json durably and returns its size.
func writeCampaign(dir string, m *Meta, s *state, epoch int) (size int64, err error) {
	err = replaceBy(filepath.Join(dir, campaignName), true, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		n := &counter{w: b}
		err := campaignText(n, m, s, epoch)
		size = n.n
		return errors.Join(err, b.Flush())
	})
	return size, err
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
