package netserver

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/netproto/model"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check MODEL...",
		Short: "Check the description of a protocol and show what its seeds consist of",
		Long: `Check the description of a protocol. Every message of every seed is taken apart and put together again, which has to give the
same bytes, and its fields are shown: the byte (and bit) at which each begins, its name, its value, and whether it follows from
other fields. What is wrong is reported with its line, column and field, and of a seed with the byte.

docs/model.md describes the format.`,
		Example: `  teasel net check thermostat.yaml
  teasel net check mqtt`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage(flags.SeeHelp(cmd), "check takes the file of a model")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, file := range args {
				m, err := loadModel(file, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				m.Describe(cmd.OutOrStdout())
				if problems := m.CheckSeeds(); len(problems) > 0 {
					return badModel(problems, cmd.ErrOrStderr())
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s is right: all messages of its seeds could be read and, written again, have the same bytes\n", m.File)
			}
			return nil
		},
	}
}

// loadModel reads a model. Its problems are written to stderr, but for the last one, which is the error.
func loadModel(file string, stderr io.Writer) (*model.Model, error) {
	m, err := model.Load(file)
	if err == nil {
		return m, nil
	}
	if problems := model.Problems(err); len(problems) > 0 {
		return nil, badModel(problems, stderr)
	}
	return nil, exit.Usage("'teasel net new NAME' writes a model to start from; built in are "+strings.Join(model.Protocols(), ", "), "%w", err)
}

func badModel(problems []*model.Problem, stderr io.Writer) error {
	last := problems[len(problems)-1]
	for _, p := range problems[:len(problems)-1] {
		fmt.Fprintf(stderr, "teasel: %v\n", p)
		if p.Hint != "" {
			fmt.Fprintf(stderr, "hint: %s\n", p.Hint)
		}
	}
	return exit.Usage(last.Hint, "%w", last)
}
