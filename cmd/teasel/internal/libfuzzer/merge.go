package libfuzzer

import (
	"context"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// mergeInto copies inputs to the first directory that reach features which those in it do not.
func (h *harness) mergeInto(ctx context.Context) error {
	if len(h.inputs) == 0 {
		return usageError("for example: -merge=1 corpus new1 new2", "-merge=1 takes a directory to merge into, and others to merge")
	}
	old, err := h.load(h.inputs[:1])
	if err != nil {
		return err
	}
	added, err := h.load(h.inputs[1:])
	if err != nil {
		return err
	}
	h.printf("MERGE-OUTER: %d files, %d in the initial corpus\n", len(old)+len(added), len(old))
	m, err := replay.All(ctx, h.w, h.target, native.Detect, append(old, added...))
	if err != nil {
		return err
	}
	for i := range m.Findings {
		h.printf("MERGE-OUTER: %s was left out: %s\n", sha1Name(m.Findings[i].Input), m.Findings[i].Message)
	}
	if all := len(old) + len(added); m.Runs < all {
		h.printf("MERGE-OUTER: stopped early: %d of %d files were run\n", m.Runs, all)
	}
	kept, features, edges := additions(m.Entries, old)
	for _, e := range kept {
		if err := os.WriteFile(filepath.Join(h.inputs[0], sha1Name(e.Data)), e.Data, 0o644); err != nil {
			return usageError("", "merging: %w", err)
		}
	}
	h.printf("MERGE-OUTER: %d new files with %d new features added; %d new coverage edges\n", len(kept), features, edges)
	return nil
}

// additions returns a minimal part of the entries that reaches every feature that the old inputs do not, and how many features and
// edges those are.
func additions(entries []teasel.Entry, old []corpus.Seed) (kept []teasel.Entry, features, edges int) {
	isOld := map[string]bool{}
	for _, s := range old {
		isOld[teasel.Key(s.Data)] = true
	}
	known, added := newReached(), newReached()
	for _, e := range entries {
		if isOld[e.Key] {
			known.add(e.Features)
		}
	}
	for _, e := range entries {
		var fs []teasel.Feature
		for f := range e.Features.All() {
			if !known.features[f] {
				fs = append(fs, f)
			}
		}
		if e.Features = teasel.NewFeatureSet(fs...); len(fs) > 0 {
			added.add(e.Features)
			kept = append(kept, e)
		}
	}
	for edge := range added.edges {
		if _, ok := known.edges[edge]; !ok {
			edges++
		}
	}
	return corpus.Minimal(kept), len(added.features), edges
}

// minimizeCrash makes the input of a crash smaller, as long as the crash is the same.
func (h *harness) minimizeCrash(ctx context.Context) error {
	if len(h.inputs) != 1 {
		return usageError("for example: -minimize_crash=1 crash-0123", "-minimize_crash=1 takes one file (%d given)", len(h.inputs))
	}
	data, err := os.ReadFile(h.inputs[0])
	if err != nil {
		return usageError("", "%w", err)
	}
	m, err := replay.All(ctx, h.w, h.target, native.Detect, []corpus.Seed{{Name: h.inputs[0], Data: data}})
	if err != nil {
		return err
	}
	if m.Runs == 0 {
		h.printf("CRASH_MIN: stopped before the input was run\n")
		return nil
	}
	if len(m.Findings) == 0 {
		return usageError("an input that crashes only sometimes, or with other flags, cannot be minimised", "CRASH_MIN: the input %s did not crash", h.inputs[0])
	}
	h.printf("CRASH_MIN: minimizing crash input: '%s' (%d bytes)\n", h.inputs[0], len(data))
	b := &replay.Runner[[]byte]{Target: h.target, Codec: native.Codec{}, Mutator: &mutate.Bytes{}, Detectors: []teasel.Detector{teasel.DetectorFunc(native.Detect)}}
	runs := 5000
	if h.runs > 0 {
		runs = h.runs
	}
	f := &corpus.FindingFile{Kind: "native", Finding: m.Findings[0]}
	if _, err := b.Minimize(ctx, h.w, f, runs); err != nil && ctx.Err() == nil {
		return err
	}
	path := h.exact
	if path == "" {
		path = h.prefix + "minimized-from-" + sha1Name(data)
	}
	if err := os.WriteFile(path, f.Finding.Input, 0o644); err != nil {
		return usageError("", "writing the minimised input: %w", err)
	}
	h.printf("CRASH_MIN: failed to minimize beyond %s (%d bytes), exiting\n", path, len(f.Finding.Input))
	return nil
}
