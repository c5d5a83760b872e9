package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

func newCmin() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "cmin DIR...",
		Short: "Merge the corpora of campaigns and leave out what adds nothing",
		Long: `Take the testcases of one or more campaigns, leave out doubles, and of the rest the smallest and simplest set that
still reaches every feature that all of them reach. What each testcase reaches is stored with the campaign, so nothing
is run. The result goes into a new directory, which --corpus takes.`,
		Example: "  teasel cmin teasel-out other-out -o corpus",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("for example: teasel cmin teasel-out -o corpus", "cmin takes one or more campaigns' directories")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var all [][]teasel.Entry
			kind, extension, total := "", "", 0
			for _, path := range args {
				dir, err := openCampaign(path)
				if err != nil {
					return err
				}
				m := dir.Meta()
				if kind == "" {
					kind, extension = m.Kind, m.Extension
				} else if kind != m.Kind {
					return usage("", "%s is a campaign of kind %s, %s of kind %s: they cannot be merged", args[0], kind, path, m.Kind)
				}
				s, problems, err := dir.Snapshot(nil)
				if err != nil {
					return failure(err)
				}
				warn(cmd.ErrOrStderr(), problems)
				total += len(s.Entries)
				all = append(all, s.Entries)
			}
			kept := corpus.Minimal(corpus.Merge(all...))
			if err := writeEntries(out, extension, kept); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d testcases, %d kept: %s\n", total, len(kept), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "corpus", "directory to write; it must not exist or be empty")
	return cmd
}

func writeEntries(out, extension string, entries []teasel.Entry) error {
	if old, err := os.ReadDir(out); err == nil && len(old) > 0 {
		return usage("choose another directory with --out", "%s is not empty", out)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return usage("choose another directory with --out", "writing corpus: %w", err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		name := e.Key + extension
		if names[name] {
			continue
		}
		names[name] = true
		if err := os.WriteFile(filepath.Join(out, name), slices.Clone(e.Data), 0o644); err != nil {
			return usage("choose another directory with --out", "writing corpus: %w", err)
		}
	}
	return nil
}
