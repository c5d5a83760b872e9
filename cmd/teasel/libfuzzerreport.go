package main

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/native"
)

// reach is what inputs reach together.
type reach struct {
	features map[teasel.Feature]bool
	edges    map[teasel.Feature]bool
}

// add takes features in; native ones up to 2^32 are the number of an edge times 8 plus the bucket of its count, plus 1.
func (r *reach) add(fs teasel.FeatureSet) {
	if r.features == nil {
		r.features, r.edges = map[teasel.Feature]bool{}, map[teasel.Feature]bool{}
	}
	for f := range fs.All() {
		r.features[f] = true
		if f <= 1<<32 {
			r.edges[(f-1)/8] = true
		}
	}
}

// sha1Name is libFuzzer's name for an input.
func sha1Name(data []byte) string {
	h := sha1.Sum(data)
	return hex.EncodeToString(h[:])
}

// harnessReporter shows a campaign in libFuzzer's words and keeps its files.
type harnessReporter struct {
	h      *harness
	cancel context.CancelFunc
	begun  time.Time

	there  *nameSet        // names of the inputs that were given, or are in the first directory
	ours   map[string]bool // of them, those that this run has written
	sizes  map[string]int  // of what is kept, by key
	names  map[string]string
	bytes  int
	reach  reach
	inited bool
	pulse  uint64 // executions at which the next line is due
	runs   uint64
	memory uint64
	fresh  int // testcases that were not given

	seen   map[string]bool // findings
	status int
}

var _ teasel.Reporter = (*harnessReporter)(nil)

func newHarnessReporter(h *harness, seeds []corpus.Seed, cancel context.CancelFunc) *harnessReporter {
	r := &harnessReporter{h: h, cancel: cancel, begun: time.Now(), there: &nameSet{names: map[string]bool{}}, ours: map[string]bool{}, sizes: map[string]int{},
		names: map[string]string{}, seen: map[string]bool{}, pulse: 2}
	for _, s := range seeds {
		r.there.add(sha1Name(s.Data))
	}
	return r
}

// Report implements [teasel.Reporter].
func (r *harnessReporter) Report(e teasel.Event) error {
	switch e.Kind {
	case teasel.EventAdded:
		if e.Entry.Stage != "" {
			r.init()
		}
		r.runs = max(r.runs, e.Entry.Execution)
		r.added(&e.Entry)
		if e.Entry.Stage != "" && r.h.verbose > 0 {
			r.line("NEW   ", fmt.Sprintf(" L: %d MS: 1 %s-", len(e.Entry.Data), e.Entry.Stage))
		}
		return r.write(&e.Entry)
	case teasel.EventEvicted:
		return r.evicted(e.Entry.Key)
	case teasel.EventFound:
		return r.found(&e.Finding)
	case teasel.EventUnconfirmed:
		return r.unconfirmed(&e.Finding)
	case teasel.EventProgress:
		r.runs, r.memory = max(r.runs, e.Stats.Executions), e.Stats.Memory
		if e.Stats.Waiting == 0 {
			r.init()
		}
		if r.runs >= r.pulse {
			r.line("pulse ", "")
			for r.pulse <= r.runs {
				r.pulse *= 2
			}
		}
	}
	return nil
}

// init says once that the corpus was read.
func (r *harnessReporter) init() {
	if !r.inited {
		r.inited = true
		r.line("INITED", "")
	}
}

func (r *harnessReporter) line(what, more string) {
	speed := uint64(0)
	if s := time.Since(r.begun).Seconds(); s >= 1 {
		speed = uint64(float64(r.runs) / s)
	}
	r.h.say("#%d\t%s cov: %d ft: %d corp: %d/%s exec/s: %d rss: %dMb%s\n", r.runs, what, len(r.reach.edges), len(r.reach.features),
		len(r.sizes), byteCount(r.bytes), speed, r.memory>>20, more)
}

func byteCount(n int) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%dMb", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%dKb", n>>10)
	}
	return fmt.Sprintf("%db", n)
}

// added counts a testcase.
func (r *harnessReporter) added(e *teasel.Entry) {
	r.reach.add(e.Features)
	if _, known := r.sizes[e.Key]; !known {
		r.sizes[e.Key], r.names[e.Key] = len(e.Data), sha1Name(e.Data)
		r.bytes += len(e.Data)
	}
}

// write keeps a testcase in the first directory, unless it is there.
func (r *harnessReporter) write(e *teasel.Entry) error {
	dir, name := r.h.output(), r.names[e.Key]
	if r.there.has(name) {
		return nil
	}
	r.fresh++
	if dir == "" {
		return nil
	}
	r.ours[name] = true
	r.there.add(name) // before the reloader may see the file
	if err := os.WriteFile(filepath.Join(dir, name), e.Data, 0o644); err != nil {
		return fmt.Errorf("writing to the corpus: %w", err)
	}
	return nil
}

// evicted removes a file that this run has written and has found something simpler for.
func (r *harnessReporter) evicted(key string) error {
	name := r.names[key]
	r.bytes -= r.sizes[key]
	delete(r.sizes, key)
	delete(r.names, key)
	if !r.ours[name] {
		return nil
	}
	delete(r.ours, name)
	if err := os.Remove(filepath.Join(r.h.output(), name)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing from the corpus: %w", err)
	}
	r.there.remove(name) // now that the reloader cannot see the file any more
	return nil
}

// found writes the input of a finding, and ends the campaign if that is what the flags say.
func (r *harnessReporter) found(f *teasel.Finding) error {
	ignored, err := r.artifact(f)
	if err == nil && !ignored {
		r.cancel()
	}
	return err
}

// unconfirmed writes the input of a finding that was not reproduced. libFuzzer does not try to.
func (r *harnessReporter) unconfirmed(f *teasel.Finding) error {
	why := fmt.Sprintf("not reproduced in %d tries", f.Tries)
	if f.Tries == 0 {
		why = "there was no time to reproduce it"
	}
	r.h.say("INFO: seen, and %s:\n", why)
	_, err := r.artifact(f)
	return err
}

// artifact writes the input of a finding, once. ignored reports whether the flags say that it is not to end the run. The status
// is that of the first one that is not.
func (r *harnessReporter) artifact(f *teasel.Finding) (ignored bool, err error) {
	if r.seen[f.ID()] {
		return true, nil
	}
	r.seen[f.ID()] = true
	h := r.h
	kind, what, status, ignored := "crash-", "deadly signal", h.crashStatus, h.ignoreCrashes > 0
	switch {
	case slices.Contains(native.HangRules(), f.Rule):
		kind, what, status = "timeout-", fmt.Sprintf("timeout after %d seconds", h.timeout), h.timeoutStatus
		ignored = ignored || h.fork > 0 && h.ignoreTimeouts > 0
	case f.Rule == native.LeakRule:
		kind, what = "leak-", "detected memory leaks"
	case f.Rule == native.MemoryRule:
		kind, what, status = "oom-", fmt.Sprintf("out-of-memory (limit: %dMb)", h.rss), harnessOOM
		ignored = ignored || h.fork > 0 && h.ignoreOOMs > 0
	}
	path := h.exact
	if path == "" {
		path = h.prefix + kind + sha1Name(f.Input)
	}
	if err := os.WriteFile(path, f.Input, 0o644); err != nil {
		return ignored, fmt.Errorf("writing the input of a finding: %w", err)
	}
	h.say("==%d== ERROR: libFuzzer: %s\n%s\n%s\nSUMMARY: libFuzzer: %s\n", os.Getpid(), what, f.Message, f.Detail, what)
	h.say("artifact_prefix='%s'; Test unit written to %s\n", h.prefix, path)
	if len(f.Input) <= 256 {
		h.say("Base64: %s\n", base64.StdEncoding.EncodeToString(f.Input))
	}
	if !ignored && r.status == exitOK {
		r.status = status
	}
	return ignored, nil
}

// done says what a run came to.
func (r *harnessReporter) done(s *teasel.Summary) {
	r.runs, r.memory = max(r.runs, s.Executions), max(r.memory, s.Memory)
	r.init()
	if r.status == exitOK {
		r.line("DONE  ", "")
	}
	seconds := s.Elapsed.Seconds()
	r.h.say("Done %d runs in %d second(s)\n", s.Executions, int(seconds))
	if r.h.stats > 0 {
		r.h.say("stat::number_of_executed_units: %d\nstat::average_exec_per_sec:     %d\nstat::new_units_added:          %d\n"+
			"stat::slowest_unit_time_sec:    0\nstat::peak_rss_mb:              %d\n", s.Executions, int(float64(s.Executions)/max(seconds, 1)), r.fresh, r.memory>>20)
	}
}
