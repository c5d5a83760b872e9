package libfuzzer

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
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/native"
)

// reached is what a number of inputs reach.
type reached struct {
	features map[teasel.Feature]bool
	edges    corpus.EdgeSet
}

func newReached() reached { return reached{map[teasel.Feature]bool{}, corpus.EdgeSet{}} }

// add adds what an input reaches.
func (r *reached) add(fs teasel.FeatureSet) {
	for f := range fs.All() {
		r.features[f] = true
	}
	r.edges.Add(fs)
}

// sha1Name is libFuzzer's name for an input.
func sha1Name(data []byte) string {
	h := sha1.Sum(data)
	return hex.EncodeToString(h[:])
}

// reporter prints what happens in a campaign as libFuzzer does, and writes its files.
type reporter struct {
	h      *harness
	cancel context.CancelFunc
	start  time.Time

	known   *nameSet          // names of the inputs that were given, and of the files in the first directory
	written map[string]bool   // names of the files that this run has written there
	sizes   map[string]int    // of the testcases, by key
	names   map[string]string // of the testcases, by key
	bytes   int               // of all testcases
	reached reached
	inited  bool   // the line INITED was printed
	pulse   uint64 // executions at which the next line pulse is due
	runs    uint64
	memory  uint64
	added   int // testcases that were not given

	seen   map[string]bool // ids of findings
	status int
}

var _ teasel.Reporter = (*reporter)(nil)

func newReporter(h *harness, seeds []corpus.Seed, cancel context.CancelFunc) *reporter {
	r := &reporter{h: h, cancel: cancel, start: time.Now(), known: &nameSet{names: map[string]bool{}}, written: map[string]bool{}, reached: newReached(), sizes: map[string]int{},
		names: map[string]string{}, seen: map[string]bool{}, pulse: 2}
	for _, s := range seeds {
		r.known.add(sha1Name(s.Data))
	}
	return r
}

// Report implements [teasel.Reporter].
func (r *reporter) Report(e teasel.Event) error {
	switch e.Kind {
	case teasel.EventAdded:
		if e.Entry.Stage != "" {
			r.init()
		}
		r.runs = max(r.runs, e.Entry.Execution)
		r.count(&e.Entry)
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

// init prints, once, that the corpus was read.
func (r *reporter) init() {
	if !r.inited {
		r.inited = true
		r.line("INITED", "")
	}
}

// line prints a line of figures.
func (r *reporter) line(what, more string) {
	speed := uint64(0)
	if s := time.Since(r.start).Seconds(); s >= 1 {
		speed = uint64(float64(r.runs) / s)
	}
	r.h.printf("#%d\t%s cov: %d ft: %d corp: %d/%s exec/s: %d rss: %dMb%s\n", r.runs, what, len(r.reached.edges), len(r.reached.features),
		len(r.sizes), byteCount(r.bytes), speed, r.memory>>20, more)
}

// byteCount returns a size as libFuzzer prints it.
func byteCount(n int) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%dMb", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%dKb", n>>10)
	}
	return fmt.Sprintf("%db", n)
}

// count counts a testcase.
func (r *reporter) count(e *teasel.Entry) {
	r.reached.add(e.Features)
	if _, known := r.sizes[e.Key]; !known {
		r.sizes[e.Key], r.names[e.Key] = len(e.Data), sha1Name(e.Data)
		r.bytes += len(e.Data)
	}
}

// write keeps a testcase in the first directory, unless it is there.
func (r *reporter) write(e *teasel.Entry) error {
	dir, name := r.h.output(), r.names[e.Key]
	if r.known.has(name) {
		return nil
	}
	r.added++
	if dir == "" {
		return nil
	}
	r.written[name] = true
	r.known.add(name) // before the reloader may see the file
	if err := os.WriteFile(filepath.Join(dir, name), e.Data, 0o644); err != nil {
		return fmt.Errorf("writing to the corpus: %w", err)
	}
	return nil
}

// evicted removes the file of a testcase, if this run has written it.
func (r *reporter) evicted(key string) error {
	name := r.names[key]
	r.bytes -= r.sizes[key]
	delete(r.sizes, key)
	delete(r.names, key)
	if !r.written[name] {
		return nil
	}
	delete(r.written, name)
	if err := os.Remove(filepath.Join(r.h.output(), name)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing from the corpus: %w", err)
	}
	r.known.remove(name) // now that the reloader cannot see the file any more
	return nil
}

// found writes the input of a finding, and ends the campaign if that is what the flags say.
func (r *reporter) found(f *teasel.Finding) error {
	ignored, err := r.artifact(f)
	if err == nil && !ignored {
		r.cancel()
	}
	return err
}

// unconfirmed writes the input of a finding that was not reproduced: libFuzzer reports a crash at once.
func (r *reporter) unconfirmed(f *teasel.Finding) error {
	why := "not reproduced in " + replay.Tries(f.Tries)
	if f.Tries == 0 {
		why = "there was no time to reproduce it"
	}
	r.h.printf("INFO: seen, and %s:\n", why)
	_, err := r.artifact(f)
	return err
}

// artifact writes the input of a finding, once. ignored reports whether the flags say that it does not end the run. The exit status
// is that of the first finding that is not ignored.
func (r *reporter) artifact(f *teasel.Finding) (ignored bool, err error) {
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
		kind, what, status = "oom-", fmt.Sprintf("out-of-memory (limit: %dMb)", h.rss), statusOOM
		ignored = ignored || h.fork > 0 && h.ignoreOOMs > 0
	}
	path := h.exact
	if path == "" {
		path = h.prefix + kind + sha1Name(f.Input)
	}
	if err := os.WriteFile(path, f.Input, 0o644); err != nil {
		return ignored, fmt.Errorf("writing the input of a finding: %w", err)
	}
	h.printf("==%d== ERROR: libFuzzer: %s\n%s\n%s\nSUMMARY: libFuzzer: %s\n", os.Getpid(), what, f.Message, f.Detail, what)
	h.printf("artifact_prefix='%s'; Test unit written to %s\n", h.prefix, path)
	if len(f.Input) <= 256 {
		h.printf("Base64: %s\n", base64.StdEncoding.EncodeToString(f.Input))
	}
	if !ignored && r.status == exit.StatusOK {
		r.status = status
	}
	return ignored, nil
}

// done prints the end of a run.
func (r *reporter) done(s *teasel.Summary) {
	r.runs, r.memory = max(r.runs, s.Executions), max(r.memory, s.Memory)
	r.init()
	if r.status == exit.StatusOK {
		r.line("DONE  ", "")
	}
	seconds := s.Elapsed.Seconds()
	r.h.printf("Done %d runs in %d second(s)\n", s.Executions, int(seconds))
	if r.h.stats > 0 {
		r.h.printf("stat::number_of_executed_units: %d\nstat::average_exec_per_sec:     %d\nstat::new_units_added:          %d\n"+
			"stat::slowest_unit_time_sec:    0\nstat::peak_rss_mb:              %d\n", s.Executions, int(float64(s.Executions)/max(seconds, 1)), r.added, r.memory>>20)
	}
}
