package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
)

// plainKey reports whether a key can be the name of a file: it may come from another machine.
func plainKey(key string) bool {
	return key != "" && len(key) <= 64 && strings.Trim(key, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == ""
}

func (d *Dir) entryPath(key string) string {
	return filepath.Join(d.path, Interesting, key+d.meta.Extension)
}

// RemovedError is what the methods of a [Dir] return when somebody has removed it, or a part of it, while its campaign ran.
type RemovedError struct {
	Dir string
	Err error // what could not be written
}

// Error implements error.
func (e *RemovedError) Error() string {
	return fmt.Sprintf("the directory of the campaign, %s, or a part of it was removed while the campaign ran: %v", e.Dir, e.Err)
}

// Unwrap returns Err.
func (e *RemovedError) Unwrap() error { return e.Err }

// explain returns an error of writing to the directory: all that is written to is made when the directory is opened.
func (d *Dir) explain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &RemovedError{d.path, err}
	}
	return err
}

// Report records an event. A finding is on disk when Report returns; the rest is about a second later.
func (d *Dir) Report(e teasel.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	if d.failed != nil {
		return d.explain(d.failed)
	}
	return d.explain(d.record(&e))
}

func (d *Dir) record(e *teasel.Event) error {
	switch e.Kind {
	case teasel.EventAdded:
		return d.added(&e.Entry)
	case teasel.EventEvicted:
		return d.evicted(e.Entry.Key)
	case teasel.EventFound:
		return d.finding(&e.Finding)
	case teasel.EventUnconfirmed:
		return d.unconfirmed(&e.Finding)
	case teasel.EventProgress:
		return d.progress(e)
	}
	return nil
}

// log applies a record to the state and writes it to the journal.
func (d *Dir) log(r *record) error {
	d.state.apply(r)
	if err := d.journal.append(r); err != nil {
		return err
	}
	if err := d.collect(false); err != nil {
		return err
	}
	if d.journal.size > d.journal.limit {
		return d.rotate()
	}
	return nil
}

// added writes the file of a testcase. That of one which is known already is written again if it was lost or damaged: the testcase
// then comes from a seed or was found anew.
func (d *Dir) added(e *teasel.Entry) error {
	if !plainKey(e.Key) {
		return fmt.Errorf("keeping a testcase: key %.80q: expected letters and digits", e.Key)
	}
	path := d.entryPath(e.Key)
	if d.state.entry(e.Key) == nil || !intact(path, e.Data) {
		if err := restore(path, e.Data, false); err != nil {
			return fmt.Errorf("keeping a testcase: %w", err)
		}
		d.pending = append(d.pending, path)
		if err := d.enqueue(e, e.Data); err != nil {
			return err
		}
	}
	d.addEdges(e)
	return d.log(&record{Added: newTestcase(e)})
}

// evicted writes the journal before it removes the file: if the process is killed in between, no file is missing.
func (d *Dir) evicted(key string) error {
	if !plainKey(key) {
		return fmt.Errorf("evicting a testcase: key %.80q: expected letters and digits", key)
	}
	if err := d.log(&record{Evicted: key}); err != nil {
		return err
	}
	if err := os.Remove(d.entryPath(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("evicting a testcase: %w", err)
	}
	return nil
}

// unconfirmed writes the file of a finding that was seen and is not confirmed, so that it can be reproduced later. If a later run has
// tried that without success, the file says so.
func (d *Dir) unconfirmed(f *teasel.Finding) error {
	id, c := f.ID(), *f
	if old, ok := d.notConfirmed[id]; ok && f.Tries > 0 {
		c = old
		c.Stable, c.Tries = f.Stable, f.Tries
	}
	if err := os.MkdirAll(filepath.Join(d.path, Unconfirmed), 0o777); err != nil {
		return fmt.Errorf("keeping an unconfirmed finding: %w", err)
	}
	if err := d.writeFinding(d.UnconfirmedPath(id), &c); err != nil {
		return err
	}
	d.notConfirmed[id] = c
	return nil
}

// finding writes the files of a finding.
func (d *Dir) finding(f *teasel.Finding) error {
	id, c := f.ID(), *f
	c.Occurrences = max(c.Occurrences, d.state.counts[id])
	if err := d.writeFinding(d.FindingPath(id), &c); err != nil {
		return err
	}
	if err := d.plainInput(id, f); err != nil {
		return err
	}
	isNew := d.state.findings[id] == nil
	if isNew {
		d.series.countFinding(d.meta.folder(f.Rule))
	}
	d.state.findings[id] = &c
	if err := d.removeUnconfirmed(id); err != nil {
		return err
	}
	r := &record{Found: id, Occurrences: map[string]uint64{id: c.Occurrences}}
	if isNew {
		r.Folder, r.At = d.meta.folder(f.Rule), seconds(d.elapsed())
	}
	return d.log(r)
}

// removeUnconfirmed removes the file of a finding that is confirmed now. A directory in its place is left to whoever made it.
func (d *Dir) removeUnconfirmed(id string) error {
	delete(d.notConfirmed, id)
	path := d.UnconfirmedPath(id)
	if info, err := os.Lstat(path); err != nil || info.IsDir() {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what is confirmed now: %w", err)
	}
	return nil
}

func (d *Dir) writeFinding(path string, f *teasel.Finding) error {
	if err := clearName(path); err != nil {
		return fmt.Errorf("writing finding %s: %w", f.ID(), err)
	}
	return WriteFinding(path, &FindingFile{Kind: d.meta.Kind, Target: d.meta.Target, Directory: d.meta.Directory, Seed: d.meta.Seed, Finding: *f})
}

// elapsed returns the time on the campaign's clock, from the last progress event on.
func (d *Dir) elapsed() time.Duration {
	return d.state.stats.Elapsed + max(d.now().Sub(d.lastProgress), 1)
}

// updateCounts brings the counts in the files of findings up to date.
func (d *Dir) updateCounts() error {
	for id, f := range d.state.findings {
		if n := d.state.counts[id]; n > f.Occurrences {
			f.Occurrences = n
			if err := d.writeFinding(d.FindingPath(id), f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Dir) progress(e *teasel.Event) error {
	if _, err := os.Stat(filepath.Join(d.path, lockName)); err != nil { // files that are open do not tell that they were removed
		return fmt.Errorf("looking for its lock: %w", err)
	}
	r := record{Stats: newFigures(&e.Stats), Unstable: features{teasel.NewFeatureSet(e.Unstable...)}, Occurrences: make(map[string]uint64, len(e.Sightings))}
	for _, w := range e.Workers {
		r.Workers = append(r.Workers, worker(w))
	}
	for _, a := range e.Advances {
		r.Advances = append(r.Advances, advance{a.Key, a.Step, a.Picked, seconds(a.At)})
	}
	for _, s := range e.Sightings {
		r.Occurrences[s.ID] = s.Times
	}
	d.lastProgress = d.now()
	if err := d.log(&r); err != nil {
		return err
	}
	if err := d.series.add(d); err != nil {
		return err
	}
	select {
	case d.syncing <- job{d.pending, d.journal.file}:
		d.pending = nil
	default: // the disk is slow: with the next progress event
	}
	return nil
}

// Finish records the outcome of a run. It is called last.
func (d *Dir) Finish(s teasel.Summary) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	r := record{Stats: newFigures(&s.Stats), Stopped: s.Stopped, Occurrences: map[string]uint64{}}
	for i := range s.Findings {
		r.Occurrences[s.Findings[i].ID()] = s.Findings[i].Occurrences
	}
	return d.explain(d.log(&r))
}

// SetUntested notes why what the campaign was for was not tested, as a sentence, until it goes on. It is called after Finish.
func (d *Dir) SetUntested(why string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.writable(); err != nil {
		return err
	}
	return d.explain(d.log(&record{Untested: why}))
}
