package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// corpusTests returns the directories testdata/fuzz/FuzzX that a path is or has, absolute; none: it is none of these, or a
// campaign.
func corpusTests(path string) ([]string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, failure(err)
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
		return nil, usage("", "%w", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(full, e.Name()))
		}
	}
	return dirs, nil
}

// addTests runs what is in the directories testdata/fuzz/FuzzX of a path.
func (m *merger) addTests(ctx context.Context, path string, dirs []string) error {
	top, err := filepath.Abs(path)
	if err != nil {
		return failure(err)
	}
	for _, dir := range dirs {
		if err := m.same(path, "go", ""); err != nil {
			return err
		}
		entries, err := m.runFiles(ctx, dir)
		if err != nil {
			return err
		}
		m.take(top, dir, entries)
	}
	return nil
}

// runFiles returns the corpus files of a fuzz test with what each reaches. One that fails reaches nothing, which keeps it.
func (m *merger) runFiles(ctx context.Context, dir string) (entries []teasel.Entry, err error) {
	pkg, test, _ := testOf(dir)
	raw, err := rawJSON(goTarget{Dir: pkg, Test: test})
	if err != nil {
		return nil, err
	}
	b, err := openBench(ctx, m.stderr, &corpus.FindingFile{Kind: "go", Target: raw})
	if err != nil {
		return nil, err
	}
	r := b.(*goReplayer)
	files, problems, err := corpus.Load(dir, func(data []byte) error {
		_, err := r.codec.Decode(data)
		return err
	})
	if err != nil {
		return nil, usage("", "%w", err)
	}
	warn(m.stderr, problems)
	ex, err := r.target.Open(ctx, teasel.Role{})
	if err != nil {
		return nil, cutShort(ctx, err)
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	for _, f := range files {
		in, err := r.codec.Decode(f.Data)
		if err != nil {
			return nil, failure(err)
		}
		obs := teasel.Observation{Ask: teasel.Ask{Features: true, Quiet: true}}
		if err := ex.Exec(ctx, in, &obs); err != nil {
			return nil, cutShort(ctx, err)
		}
		e := teasel.Entry{Key: teasel.Key(f.Data), Data: f.Data, Runs: 1, Complexity: r.mutator.Complexity(in)}
		if obs.Exit == teasel.ExitOK {
			e.Features = teasel.NewFeatureSet(obs.Features...)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
