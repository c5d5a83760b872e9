package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
)

func newMin() *cobra.Command {
	var runs int
	var out string
	var g goTarget
	cmd := &cobra.Command{
		Use:   "min FINDING",
		Short: "Make a finding's input simpler",
		Long: `Make the input of a finding simpler as long as it shows the same finding, each time on a fresh target.

A campaign does this already, within limits; this goes on from there, slowly and thoroughly. The finding's file is
rewritten unless --out names another.`,
		Example: "  teasel min teasel-out/findings/4f1c8a0d2b6e9f37.json",
		Args:    oneArg("a finding's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < 1 {
				return usage("", "--runs %d: expected 1 or more", runs)
			}
			if out == "" {
				out = args[0]
			}
			if f, err := corpusFileFinding(args[0], g); err != nil {
				return err
			} else if f != nil {
				return minCorpusFile(cmd, f, args[0], out, runs)
			}
			f, err := readFinding(args[0])
			if err != nil {
				return err
			}
			if err := unneeded(cmd, args[0]); err != nil {
				return err
			}
			if err := replaceable(args[0], out); err != nil {
				return err
			}
			b, err := openBench(cmd.Context(), cmd.ErrOrStderr(), f)
			if err != nil {
				return err
			}
			before := len(f.Finding.Input)
			changed, err := b.minimize(cmd.Context(), cmd.ErrOrStderr(), f, runs)
			if err != nil {
				return err
			}
			if err := keepSmaller(args[0], out, f, changed); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d bytes before, %d now: %s\n", before, len(f.Finding.Input), out)
			if cmd.Context().Err() != nil {
				return &exit{status: exitInterrupted, hint: "to go on: teasel min " + report.Quote(out)}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&runs, "runs", 5000, "executions after which to be content")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: the finding's own)")
	addGoFlags(cmd, &g)
	return cmd
}

// replaceable looks whether what min comes to can be written, before it takes its time.
func replaceable(finding, out string) error {
	folder := filepath.Dir(out)
	if info, err := os.Stat(folder); err != nil {
		return usage("name a file that can be written", "--out %s: %w", out, err)
	} else if !info.IsDir() {
		return usage("name a file that can be written", "--out %s: %s is no directory", out, folder)
	}
	if info, err := os.Stat(out); err == nil && !info.Mode().IsRegular() {
		return usage("name a file that can be written", "--out %s is no file", out)
	}
	if err := corpus.Writable(folder); err != nil {
		return usage("name a file that can be written with --out", "%w", err)
	}
	// A campaign writes its findings again as it sees them.
	if out == finding && corpus.Held(filepath.Join(filepath.Dir(finding), "..")) {
		return usage("wait for it to end, or name another file with --out", "%s belongs to a campaign that is running", finding)
	}
	return nil
}

// keepSmaller writes what a finding has become, and its plain input if it is the campaign's own.
func keepSmaller(finding, out string, f *corpus.FindingFile, changed bool) error {
	if !changed && out == finding {
		return nil
	}
	if err := corpus.WriteFinding(out, f); err != nil {
		return failure(err)
	}
	if plain := corpus.InputFile(finding, f.Finding.ID()); out == finding && plain != "" {
		if err := os.WriteFile(plain, f.Finding.Input, 0o644); err != nil {
			return failure(fmt.Errorf("writing the input: %w", err))
		}
	}
	return nil
}

func notShown() error {
	return usage("'teasel repro' tries several times; only what shows every time can be minimised", "the finding was not shown")
}

func (b *bench[T]) minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error) {
	in, ex, err := b.open(ctx, f, "the finding's input")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	id, left := f.Finding.ID(), runs
	progress := &minProgress{w: w, runs: runs}
	show := func(ctx context.Context, c T) (T, bool, error) {
		if left--; left < 0 {
			return c, false, nil
		}
		fs, _, err := teasel.Replay(ctx, ex, b.detectors, c)
		if err != nil {
			return c, false, err
		}
		for i := range fs {
			if first := left == runs-1; fs[i].ID() == id || first && f.Finding.Matches(&fs[i]) {
				id = fs[i].ID() // its name here, where its group is uncertain
				progress.show(runs-left, b.mutator.Complexity(c))
				return c, true, nil
			}
		}
		return c, false, nil
	}
	if _, ok, err := show(ctx, in); err != nil || !ok {
		if err != nil {
			return false, cutShort(ctx, err)
		}
		return false, notShown()
	}
	simple, err := teasel.Minimize(ctx, b.mutator, in, show)
	progress.end()
	if err != nil && ctx.Err() == nil {
		return false, targetFailure(err)
	}
	if b.mutator.Complexity(simple) >= b.mutator.Complexity(in) {
		return false, nil
	}
	f.Finding.Input, err = b.codec.Encode(simple)
	return err == nil, failure(err)
}

// minProgress shows how far min has come, in one line of a terminal; elsewhere in none.
type minProgress struct {
	w     io.Writer
	runs  int
	begun bool
}

func (p *minProgress) show(made int, complexity float64) {
	if f, ok := p.w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.begun = true
		fmt.Fprintf(p.w, "\rteasel: %d of %d executions, complexity %.0f ", made, p.runs, complexity)
	}
}

func (p *minProgress) end() {
	if p.begun {
		fmt.Fprintln(p.w)
	}
}
