package results

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// NewMin returns the verb min.
func NewMin() *cobra.Command {
	var runs int
	var out string
	var g gotest.Target
	cmd := &cobra.Command{
		Use:   "min [DIR] [FINDING]",
		Short: "Make a finding's input simpler",
		Long: `Make the input of a finding simpler as long as it shows the same finding, each time on a fresh target.

A campaign does this already, within limits; this goes on from there, slowly and thoroughly. The finding's file is
rewritten unless --out names another. DIR and FINDING are named as for 'teasel repro'.`,
		Example:           "  teasel min 4f1c\n  teasel min other-out/findings/4f1c8a0d2b6e9f37.json",
		Args:              flags.Args(0, 2, "a finding, or its campaign's directory and its id"),
		ValidArgsFunction: completeFinding,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.CheckNumbers(cmd.Flags()); err != nil {
				return err
			}
			f, path, ours, err := findingOf(cmd, args, g)
			if err != nil {
				return err
			}
			if out = cmp.Or(out, path); !ours {
				return gotest.MinCorpusFile(cmd, f, path, out, runs)
			}
			if err := checkOutput(path, out); err != nil {
				return err
			}
			before, changed := len(f.Finding.Input), false
			err = withReplayer(cmd.Context(), cmd.ErrOrStderr(), f, func(b campaign.Replayer) (err error) {
				changed, err = b.Minimize(cmd.Context(), cmd.ErrOrStderr(), f, runs)
				return err
			})
			if err != nil {
				return err
			}
			if err := writeSmaller(path, out, f, changed); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d bytes before, %d now: %s\n", before, len(f.Finding.Input), out)
			if cmd.Context().Err() != nil {
				return &exit.Error{Status: exit.StatusInterrupted, Hint: "to go on: teasel min " + plain.Quote(out)}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&runs, "runs", 5000, "executions after which to be content")
	flags.SetPositive(cmd.Flags(), "runs")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: the finding's own)")
	g.AddFlags(cmd)
	return cmd
}

// checkOutput refuses a file that cannot be written, or whose campaign is running, before min takes its time.
func checkOutput(finding, out string) error {
	folder := filepath.Dir(out)
	if info, err := os.Stat(folder); err != nil {
		return exit.Usage("name a file that can be written", "--out %s: %w", out, err)
	} else if !info.IsDir() {
		return exit.Usage("name a file that can be written", "--out %s: %s is no directory", out, folder)
	}
	if info, err := os.Stat(out); err == nil && !info.Mode().IsRegular() {
		return exit.Usage("name a file that can be written", "--out %s is no file", out)
	}
	if err := corpus.Writable(folder); err != nil {
		return exit.Usage("name a file that can be written with --out", "%w", err)
	}
	// A campaign writes its findings again as it sees them.
	if out == finding && corpus.Held(filepath.Join(filepath.Dir(finding), "..")) {
		return exit.Usage("wait for it to end, or name another file with --out", "%s belongs to a campaign that is running", finding)
	}
	return nil
}

// writeSmaller writes a finding that min has changed, and its plain input if the file is a campaign's.
func writeSmaller(finding, out string, f *corpus.FindingFile, changed bool) error {
	if !changed && out == finding {
		return nil
	}
	if err := corpus.WriteFinding(out, f); err != nil {
		return exit.Failure(err)
	}
	if plain := corpus.InputFile(finding, f.Finding.ID()); out == finding && plain != "" {
		if err := os.WriteFile(plain, f.Finding.Input, 0o644); err != nil {
			return exit.Failure(fmt.Errorf("writing the input: %w", err))
		}
	}
	return nil
}
