package gotest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/noun"
)

// loadSeeds collects the seeds: those of F.Add, of testdata, of an earlier run, of go test -fuzz, and of --corpus. Each is there once.
func (t *fuzzTest) loadSeeds(ctx context.Context, own [][]byte, cache string, o *flags.Options, w io.Writer) error {
	codec := t.campaign.Codec
	known := map[string]bool{}
	take := func(name string, in []byte) {
		if !known[string(in)] {
			known[string(in)] = true
			t.seeds = append(t.seeds, campaign.Seed[[]byte]{Folder: corpus.Valid, Name: name, Input: in})
		}
	}
	for i, in := range own {
		take(fmt.Sprintf("seed%d", i), in)
	}
	testdata := filepath.Join(t.pkg.Dir, "testdata", "fuzz", t.target.Name)
	dirs := o.Corpus
	for _, dir := range append([]string{testdata, t.out, filepath.Join(cache, "fuzz", filepath.FromSlash(t.pkg.Path), t.target.Name)}, dirs...) {
		if _, err := os.Stat(dir); err != nil || dir == t.out && o.Fresh {
			continue
		}
		files, problems, err := corpus.Load(dir, func(data []byte) error {
			_, err := codec.Decode(data)
			return err
		})
		if err != nil {
			fmt.Fprintf(w, "teasel: warning: %v\n", err)
			continue
		}
		if n := len(files); dir == t.out && n > 0 {
			fmt.Fprintf(w, "teasel: %s: going on from %s of the earlier campaign; --fresh begins anew\n", t, noun.Count(n, "input", "inputs"))
		}
		why, err := t.checkTypes(ctx, files)
		if err != nil {
			return err
		}
		for i, f := range files {
			if why[i] != nil {
				problems = append(problems, &corpus.Problem{File: filepath.Join(dir, f.Name), Text: "is no input: " + why[i].Error() + "; if the type has changed, adapt or remove the file"})
			} else if in, err := codec.Decode(f.Data); err == nil {
				take(filepath.Base(f.Name), in)
			}
		}
		if !slices.Contains(dirs, dir) { // those of --corpus may be for fuzz tests of other types
			campaign.Warn(w, problems)
		}
	}
	if !o.Fresh {
		for i, in := range unconfirmedInputs(t.out) { // they may be confirmed this time
			if in, err := codec.Decode(in); err == nil {
				take(fmt.Sprintf("unconfirmed%d", i), in)
			}
		}
	}
	if t.typed != nil { // the simplest value is a seed
		return nil
	}
	for i, in := range fuzztest.Seeds(t.target.Kinds) {
		take(fmt.Sprintf("zero%d", i), in)
	}
	return nil
}

// checkTypes returns, for each file of a corpus, why it is no value of the type of the test; nil: it is one.
func (t *fuzzTest) checkTypes(ctx context.Context, files []corpus.Seed) ([]error, error) {
	if t.typed == nil || len(files) == 0 {
		return make([]error, len(files)), nil
	}
	inputs := make([][]byte, len(files))
	for i := range files {
		inputs[i] = files[i].Data
	}
	return t.typed.Check(ctx, inputs...)
}

// unconfirmedInputs returns the inputs of the findings in a campaign's directory that there was no time to reproduce.
func unconfirmedInputs(dir string) (inputs [][]byte) {
	files, _ := filepath.Glob(filepath.Join(glob.Escape(dir), corpus.Unconfirmed, "*.json")) // the pattern is well formed
	for _, name := range files {
		if f, err := corpus.ReadFinding(name); err == nil {
			inputs = append(inputs, f.Finding.Input)
		}
	}
	return inputs
}
