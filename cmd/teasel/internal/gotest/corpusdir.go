package gotest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
)

// CorpusDirs returns the absolute paths of the directories testdata/fuzz/FuzzX that a path is or contains; nil: it is neither, or it
// is a campaign's directory.
func CorpusDirs(path string) ([]string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, exit.Failure(err)
	}
	if info, err := os.Stat(full); err != nil || !info.IsDir() || corpus.IsCampaign(full) {
		return nil, nil
	}
	if _, _, ok := testOf(full); ok {
		return []string{full}, nil
	}
	if _, _, ok := testOf(filepath.Join(full, "FuzzX")); !ok {
		return nil, nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil, exit.Usage("", "%w", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(full, e.Name()))
		}
	}
	return dirs, nil
}

// RunCorpusDir returns the corpus files of a fuzz test with what each reaches. One that fails has no features.
func RunCorpusDir(ctx context.Context, stderr io.Writer, dir string) (entries []teasel.Entry, err error) {
	pkg, test, _ := testOf(dir)
	raw, err := campaign.RawJSON(Target{Dir: pkg, Test: test})
	if err != nil {
		return nil, err
	}
	r, err := openTest(ctx, raw, stderr)
	if err != nil {
		return nil, err
	}
	files, problems, err := corpus.Load(dir, func(data []byte) error {
		_, err := r.Codec.Decode(data)
		return err
	})
	if err != nil {
		return nil, exit.Usage("", "%w", err)
	}
	campaign.Warn(stderr, problems)
	ex, err := r.Target.Open(ctx, teasel.Role{})
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	line := progress.New(stderr, "files", len(files))
	defer line.Clear()
	for i, f := range files {
		line.Show(i, "")
		in, err := r.Codec.Decode(f.Data)
		if err != nil {
			return nil, exit.Failure(err)
		}
		obs := teasel.Observation{Ask: teasel.Ask{Features: true, Quiet: true}}
		if err := ex.Exec(ctx, in, &obs); err != nil {
			return nil, exit.InterruptedOr(ctx, err)
		}
		e := teasel.Entry{Key: teasel.Key(f.Data), Data: f.Data, Runs: 1, Complexity: r.Mutator.Complexity(in)}
		if obs.Exit == teasel.ExitOK {
			e.Features = teasel.NewFeatureSet(obs.Features...)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
