package netserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/netproto/model"
)

func newImport() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "import FILE.ksy",
		Short: "Make a description of a protocol out of a Kaitai Struct one",
		Long: `Make a model of a Kaitai Struct description, which only says how to read: lengths and numbers of items are inverted, and what
cannot be becomes bytes. What that is, and why, is written to standard error. Responses, states and seeds are still to be added.`,
		Example: `  teasel net import dns_packet.ksy
  teasel net check dns_packet.yaml`,
		Args: flags.Args(1, 1, "the file of a Kaitai Struct description"),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := os.ReadFile(args[0])
			if err != nil {
				return exit.Usage("", "reading the description: %w", err)
			}
			content, report, err := model.ImportKSY(src, args[0])
			if err != nil {
				if problems := model.Problems(err); len(problems) > 0 {
					return badModel(problems, cmd.ErrOrStderr())
				}
				return exit.Failure(err)
			}
			for _, line := range report {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", line)
			}
			path := out
			if path == "" {
				path = strings.TrimSuffix(filepath.Base(args[0]), ".ksy") + ".yaml"
			}
			return createModel(cmd, path, content)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: the name of the description with .yaml, in this folder)")
	return cmd
}
