package results

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/gotest"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/corpus"
)

// NewRepro returns the verb repro.
func NewRepro() *cobra.Command {
	var tries int
	var script, all bool
	var g gotest.Target
	cmd := &cobra.Command{
		Use:   "repro [DIR] [FINDING]",
		Short: "Show a finding again",
		Long: `Show a finding again on a fresh target, from its file alone.

FINDING is its file, the file with its input in crashes/ or hangs/, or its id or the beginning of it, of the campaign in DIR or teasel-out.
If a campaign has only one finding, its directory is enough; teasel-out need not be named.

The file names the target; nothing else of the campaign is needed. Exit status: 1 the finding was shown, or an input of
'teasel go' fails in another way, 0 it was not (it may have been mended), 3 the target could not be started.

Go's own files, testdata/fuzz/FuzzX/NAME, are run too. They do not say what limits and flags the fuzz test had.`,
		Example: `  teasel repro
  teasel repro 4f1c
  teasel repro other-out 4f1c
  teasel repro other-out/findings/4f1c8a0d2b6e9f37.json
  teasel repro --all teasel-out
  teasel repro --script 4f1c > repro.py`,
		Args:              flags.Args(0, 2, "a finding, or its campaign's directory and its id"),
		ValidArgsFunction: completeFinding,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.CheckNumbers(cmd.Flags()); err != nil {
				return err
			}
			if all {
				return reproAll(cmd, orDefault(args), tries)
			}
			f, _, ours, err := findingOf(cmd, args, g)
			if err != nil {
				return err
			}
			if !ours {
				return gotest.ReproCorpusFile(cmd, f, tries)
			}
			if script {
				return writeScript(cmd.OutOrStdout(), f)
			}
			return withReplayer(cmd.Context(), cmd.ErrOrStderr(), f, func(b campaign.Replayer) error {
				return b.Repro(cmd.Context(), cmd.OutOrStdout(), f, tries)
			})
		},
	}
	cmd.Flags().IntVar(&tries, "tries", 3, "how often to try; a flaky finding is tried ten times as often, and one that was reproduced 1 of 300 times up to 1,500 times")
	flags.SetPositive(cmd.Flags(), "tries")
	cmd.Flags().BoolVar(&script, "script", false, "write a program in Python, or for one HTTP request a script of curl, that shows a finding of teasel mcp or net without teasel, and run nothing")
	cmd.Flags().BoolVar(&all, "all", false, "run all findings of the campaigns in a directory again, or of the files in it; those with the same id once")
	cmd.MarkFlagsMutuallyExclusive("all", "script")
	g.AddFlags(cmd)
	return cmd
}

// writeScript writes a program that shows a finding without teasel.
func writeScript(w io.Writer, f *corpus.FindingFile) error {
	k, err := kinds.Of(f.Kind, "a finding")
	if err != nil {
		return err
	}
	if k.Script == nil {
		return exit.Usage("'teasel show' says how to reproduce it", "--script is for findings of teasel mcp and net, this one is of teasel %s", f.Kind)
	}
	text, err := k.Script(f.Target, f)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return exit.Failure(err)
}

// readFinding reads a finding's file.
func readFinding(path string) (*corpus.FindingFile, error) {
	f, err := corpus.ReadFinding(path)
	if before := previousFinding(path); err != nil && before != "" {
		f, err = corpus.ReadFinding(before)
	}
	if err != nil {
		return nil, exit.Usage("a finding's file is written by a campaign, under findings/ in its directory", "%w", err)
	}
	return &f, nil
}

// previousFinding returns where a finding's file of teasel go is after the next run has renamed its campaign; "": it is not there.
func previousFinding(path string) string {
	folder := filepath.Dir(path)
	moved := filepath.Join(filepath.Dir(folder)+campaign.PreviousSuffix, filepath.Base(folder), filepath.Base(path))
	if _, err := os.Stat(path); err == nil {
		return ""
	}
	if _, err := os.Stat(moved); err != nil {
		return ""
	}
	return moved
}

// withReplayer opens what runs the input of a finding, where its campaign was begun if the target needs that, and uses it. What that takes is
// printed to w.
func withReplayer(ctx context.Context, w io.Writer, f *corpus.FindingFile, use func(campaign.Replayer) error) (err error) {
	k, err := kinds.Of(f.Kind, "a finding")
	if err != nil {
		return err
	}
	from := campaign.OriginOf(f.Directory)
	if file, needed := from.Needed(f.Target); needed {
		if err := from.Enter(w, file); err != nil {
			return err
		}
		defer func(from campaign.Origin) { err = errors.Join(err, from.Leave()) }(from)
		from = campaign.Origin{}
	}
	b, err := k.NewReplayer(ctx, f.Target, w)
	if err != nil {
		return from.Explain(err, exit.StatusTarget, exit.StatusUsage)
	}
	return from.Explain(use(b), exit.StatusTarget)
}
