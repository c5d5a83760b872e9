package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/internal/demo"
)

// demoServer is the hidden verb that is the buggy server.
const demoServer = "demo-server"

// demoCommand is what the demo's findings say of their target: this program, wherever it is.
var demoCommand = []string{"teasel", demoServer}

// program returns a command with our own program in the place of the demo's.
func program(command []string) ([]string, error) {
	if !slices.Equal(command, demoCommand) {
		return command, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, failure(fmt.Errorf("finding our own program: %w", err))
	}
	return []string{self, demoServer}, nil
}

func newDemo() *cobra.Command {
	o := &mcpOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Fuzz a small buggy MCP server that is built in",
		Long: `Fuzz a small MCP server that is built in and has five bugs. It takes a quarter of a minute and nothing but teasel;
the findings are in teasel-demo afterwards.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Command = slices.Clone(demoCommand)
			fmt.Fprintln(cmd.ErrOrStderr(), "teasel: fuzzing a built-in server with five bugs, as 'teasel mcp -- SERVER' would fuzz yours")
			return runMCP(cmd, o)
		},
	}
	addOptions(cmd, &o.options)
	f := cmd.Flags()
	for name, value := range map[string]string{"out": "teasel-demo", "duration": "15s", "profile": "quick"} {
		flag := f.Lookup(name)
		flag.DefValue = value
		flag.Usage, _, _ = strings.Cut(flag.Usage, " (default") // which is another one here
		_ = flag.Value.Set(value)                               // they are of the right type
		flag.Changed = true                                     // more than what the profile says
	}
	return cmd
}

func newDemoServer() *cobra.Command {
	return &cobra.Command{
		Use:    demoServer,
		Short:  "Be the server that 'teasel demo' fuzzes",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failure(demo.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
}
