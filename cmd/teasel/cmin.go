package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/corpus"
)

func newCmin() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "cmin DIR...",
		Short: "Merge the corpora of campaigns and leave out what adds nothing",
		Long: `Take the testcases of one or more campaigns, leave out doubles, and of the rest the smallest and simplest set that
still reaches every feature that all of them reach. What each testcase reaches is stored with the campaign, so nothing
is run. The result goes into a new directory, which --corpus takes.

A directory with the campaigns of many fuzz tests, as teasel go writes it, gives one corpus for each of them. Of a Go package's
testdata/fuzz, or testdata/fuzz/FuzzX, each file is run to see what it reaches; those that fail stay.`,
		Example: `  teasel cmin teasel-out other-out -o corpus
  teasel cmin testdata/fuzz -o smaller`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("for example: teasel cmin teasel-out -o corpus", "cmin takes one or more campaigns' directories")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m := merger{stderr: cmd.ErrOrStderr()}
			for _, path := range args {
				if err := m.add(cmd.Context(), path); err != nil {
					return err
				}
			}
			return m.write(cmd.OutOrStdout(), out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "corpus", "directory to write; it must not exist or be empty")
	return cmd
}

// merger collects the corpora of campaigns. Those with the same path below the arguments belong together.
type merger struct {
	stderr    io.Writer
	kind      string // of all campaigns; "": not known yet
	first     string // path of the first campaign
	extension string
	places    []string // in order
	corpora   map[string][][]teasel.Entry
}

// add takes a campaign, a directory of campaigns, or a directory of Go's corpus files.
func (m *merger) add(ctx context.Context, path string) error {
	if tests, err := gotest.CorpusDirs(path); err != nil {
		return err
	} else if len(tests) > 0 {
		return m.addTests(ctx, path, tests)
	}
	dirs, err := campaign.Find(path)
	if err != nil {
		return err
	}
	for _, at := range dirs {
		dir, err := campaign.OpenReadOnly(at)
		if err != nil {
			return err
		}
		if err := m.checkKind(at, dir.Meta().Kind, dir.Meta().Extension); err != nil {
			return err
		}
		s, problems, err := dir.Snapshot(nil)
		if err != nil {
			return exit.Failure(err)
		}
		campaign.Warn(m.stderr, problems)
		m.take(path, at, s.Entries)
	}
	return nil
}

// addTests takes the files of the directories testdata/fuzz/FuzzX below a path, each of which is run.
func (m *merger) addTests(ctx context.Context, path string, dirs []string) error {
	top, err := filepath.Abs(path)
	if err != nil {
		return exit.Failure(err)
	}
	for _, dir := range dirs {
		if err := m.checkKind(path, "go", ""); err != nil {
			return err
		}
		entries, err := gotest.RunCorpusDir(ctx, m.stderr, dir)
		if err != nil {
			return err
		}
		m.take(top, dir, entries)
	}
	return nil
}

// checkKind refuses a campaign of another kind than the others.
func (m *merger) checkKind(path, kind, extension string) error {
	if m.kind == "" {
		m.kind, m.first, m.extension = kind, path, extension
	}
	if kind != m.kind {
		return exit.Usage("", "%s is a campaign of kind %s, %s of kind %s: they cannot be merged", m.first, m.kind, path, kind)
	}
	return nil
}

// take adds a corpus, at a path below the argument top.
func (m *merger) take(top, at string, entries []teasel.Entry) {
	place, err := filepath.Rel(top, at)
	if err != nil {
		place = "."
	}
	if m.corpora == nil {
		m.corpora = map[string][][]teasel.Entry{}
	}
	if m.corpora[place] == nil {
		m.places = append(m.places, place)
	}
	m.corpora[place] = append(m.corpora[place], entries)
}

// write writes the minimal part of each corpus.
func (m *merger) write(w io.Writer, out string) error {
	if old, err := os.ReadDir(out); err == nil && len(old) > 0 {
		return exit.Usage("choose another directory with --out", "%s is not empty", out)
	}
	for _, place := range m.places {
		total := 0
		for _, c := range m.corpora[place] {
			total += len(c)
		}
		kept := corpus.Minimal(corpus.Merge(m.corpora[place]...))
		to := filepath.Join(out, place)
		if err := writeEntries(to, m.extension, kept); err != nil {
			return err
		}
		fmt.Fprintf(w, "%d testcases, %d kept: %s\n", total, len(kept), to)
	}
	return nil
}

// writeEntries writes testcases to a directory.
func writeEntries(out, extension string, entries []teasel.Entry) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return exit.Usage("choose another directory with --out", "writing corpus: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		name := e.Key + extension
		if names[name] {
			continue
		}
		names[name] = true
		if err := os.WriteFile(filepath.Join(out, name), slices.Clone(e.Data), 0o644); err != nil {
			return exit.Usage("choose another directory with --out", "writing corpus: %w", err)
		}
	}
	return nil
}
