package libfuzzer

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// NewCommand returns the hidden verb that a harness calls when it is started by hand.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "libfuzzer -- HARNESS [-flag=value...] [FILE|DIR...]",
		Short:              "Do what libFuzzer does with these arguments: a harness calls this when it is to fuzz",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			mains := 0 // arguments behind the path that are those of a main of the harness's own
			if len(args) > 0 {
				if n, ok := strings.CutPrefix(args[0], "--main="); ok {
					mains, _ = strconv.Atoi(n)
					args = args[1:]
				}
			}
			if len(args) > 0 && args[0] == "--" {
				args = args[1:]
			}
			if len(args) < 1+mains || mains < 0 {
				return exit.Usage("run the harness itself: ./harness -help=1", "libfuzzer takes the path of a harness and its arguments")
			}
			return run(cmd.Context(), args[:1+mains], args[1+mains:], cmd.ErrOrStderr())
		},
	}
}
