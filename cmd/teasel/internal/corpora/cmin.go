// Package corpora is the verbs that work with corpora: cmin, which merges them, and corpus, which moves them between machines.
package corpora

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/native"
)

// NewCmin returns the verb cmin.
func NewCmin() *cobra.Command {
	var out string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "cmin DIR... [-- PROGRAM [ARG... @@]]",
		Short: "Merge the corpora of campaigns and leave out what adds nothing",
		Long: `Take the testcases of one or more campaigns, leave out doubles, and of the rest the smallest and simplest set that
still reaches every feature that all of them reach. What each testcase reaches is stored with the campaign, so nothing
is run. The result goes into a new directory, which --corpus takes.

With a native program behind --, directories may hold any inputs: each is run once to see what it reaches. A harness, standard
input and @@ are treated as 'teasel native' treats them. Inputs that crash or hang are left out.

A directory with the campaigns of many fuzz tests, as teasel go writes it, gives one corpus for each of them. Of a Go package's
testdata/fuzz, or testdata/fuzz/FuzzX, each file is run to see what it reaches; those that fail stay.`,
		Example: `  teasel cmin teasel-out other-out -o corpus
  teasel cmin afl-out/queue downloads -o corpus -- ./harness
  teasel cmin testdata/fuzz -o smaller`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			m := merger{stderr: cmd.ErrOrStderr()}
			dirs, command := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				dirs, command = args[:at], args[at:]
			}
			switch {
			case len(dirs) == 0:
				return exit.Usage("for example: teasel cmin teasel-out -o corpus", "cmin takes one or more campaigns' directories, or directories of inputs before -- and a program")
			case timeout <= 0:
				return exit.Usage("", "--timeout %v: expected more than nothing", timeout)
			case len(command) > 0:
				if err := m.run(cmd.Context(), native.Target{Command: command, Timeout: timeout}, dirs); err != nil {
					return err
				}
				return m.write(cmd.OutOrStdout(), out)
			}
			for _, path := range dirs {
				if err := m.add(cmd.Context(), path); err != nil {
					return err
				}
			}
			return m.write(cmd.OutOrStdout(), out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "corpus", "directory to write; it must not exist or be empty")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Second, "time limit of one run of the program")
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
	if info, err := os.Stat(path); err == nil && info.IsDir() && !campaign.Any(path) {
		return exit.Usage(fmt.Sprintf("inputs are run on a native program behind --: teasel cmin %s -o corpus -- ./harness", plain.Quote(path)),
			"%s is no campaign's directory, and has none below it", path)
	}
	return campaign.OpenEach(path, m.stderr, func(s campaign.Saved) error {
		meta := s.Meta()
		if err := m.checkKind(s.Path(), meta.Kind, meta.Extension); err != nil {
			return err
		}
		m.take(path, s.Path(), s.Kept.Entries)
		return nil
	})
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

// run runs the inputs of all directories on a program.
func (m *merger) run(ctx context.Context, target native.Target, dirs []string) error {
	target.Note = func(text string) { fmt.Fprintf(m.stderr, "teasel: warning: %s\n", text) }
	program, err := target.Inspect(ctx)
	if err != nil {
		return exit.InterruptedOr(ctx, err)
	}
	for _, text := range program.Warnings {
		target.Note(text)
	}
	var seeds []corpus.Seed
	for _, dir := range dirs {
		more, problems, err := corpus.Load(dir, nil)
		if err != nil {
			return exit.Usage("name a campaign's directory, or one of inputs", "%w", err)
		}
		campaign.Warn(m.stderr, problems)
		seeds = append(seeds, more...)
	}
	r, err := replay.All(ctx, m.stderr, target, native.Detect, seeds)
	switch {
	case err != nil:
		return exit.TargetFailure(err)
	case ctx.Err() != nil:
		return exit.InterruptedOr(ctx, ctx.Err())
	}
	if n := r.Runs - len(r.Entries); n > 0 {
		fmt.Fprintf(m.stderr, "teasel: %s left out, which crash or hang: 'teasel native --corpus' reports them\n", noun.Count(n, "input is", "inputs are"))
	}
	m.take(".", ".", r.Entries)
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
