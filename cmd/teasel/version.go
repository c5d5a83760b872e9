package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of teasel and of what it was built with",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			revision := "unknown revision"
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "teasel %s (%s), %s %s/%s\n", campaign.Version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: `Write one manual page for each command into a directory, for example

  teasel man ~/.local/share/man/man1`,
		Args: oneArg("a directory for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return exit.Usage("name a directory that can be written", "writing manual pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same input, the same page
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: "TEASEL", Section: "1", Source: "teasel " + campaign.Version}, args[0]); err != nil {
				return exit.Usage("name a directory that can be written", "writing manual pages: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "manual pages written to %s\n", args[0])
			return nil
		},
	}
}
