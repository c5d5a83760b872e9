package main

import (
	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/libfuzzer"
)

// newLibfuzzer returns the hidden verb that a harness calls when it is started by hand.
func newLibfuzzer() *cobra.Command {
	return &cobra.Command{
		Use:                "libfuzzer -- HARNESS [-flag=value...] [FILE|DIR...]",
		Short:              "Do what libFuzzer does with these arguments: a harness calls this when it is to fuzz",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "--" {
				args = args[1:]
			}
			if len(args) == 0 {
				return exit.Usage("run the harness itself: ./harness -help=1", "libfuzzer takes the path of a harness and its arguments")
			}
			return libfuzzer.Run(cmd.Context(), args[0], args[1:], cmd.ErrOrStderr())
		},
	}
}
