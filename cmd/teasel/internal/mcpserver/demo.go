package mcpserver

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/demo"
)

// demoServer is the hidden verb that runs the buggy server.
const demoServer = "demo-server"

// demoCommand is the command of the target in the findings of the demo, wherever our program is.
var demoCommand = []string{"teasel", demoServer}

// resolveDemo returns a command as it is, or the one that starts our own program for the command of the demo.
func resolveDemo(command []string) ([]string, error) {
	if !slices.Equal(command, demoCommand) {
		return command, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, exit.Failure(fmt.Errorf("finding our own program: %w", err))
	}
	return []string{self, demoServer}, nil
}

// NewDemo returns the verb demo.
func NewDemo() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Fuzz a small buggy MCP server that is built in",
		Long: `Fuzz a small MCP server that is built in and has five bugs. It takes a quarter of a minute and nothing but teasel;
the findings are in teasel-demo afterwards.`,
		Args: flags.Args(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Command = slices.Clone(demoCommand)
			fmt.Fprintln(cmd.ErrOrStderr(), "teasel: fuzzing a built-in server with five bugs, as 'teasel mcp -- SERVER' would fuzz yours")
			return campaign.Run(cmd, "mcp", o)
		},
	}
	flags.AddOptions(cmd, &o.Options)
	f := cmd.Flags()
	for name, value := range map[string]string{"out": "teasel-demo", "duration": "15s", "profile": "quick"} {
		flag := f.Lookup(name)
		flag.DefValue = value
		flag.Usage, _, _ = strings.Cut(flag.Usage, " (default") // it has another default here
		_ = flag.Value.Set(value)                               // the values are valid
		flag.Changed = true                                     // so that it takes precedence over the profile
	}
	return cmd
}

// NewDemoServer returns the hidden verb that runs the server of the demo.
func NewDemoServer() *cobra.Command {
	return &cobra.Command{
		Use:    demoServer,
		Short:  "Be the server that 'teasel demo' fuzzes",
		Hidden: true,
		Args:   flags.Args(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failure(demo.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
}
