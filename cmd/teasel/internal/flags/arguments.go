package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// SeeHelp is the hint that says where a command's flags and arguments are listed.
func SeeHelp(cmd *cobra.Command) string { return "see '" + cmd.CommandPath() + " --help'" }

// NoArgs refuses any argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage(SeeHelp(cmd), "%s takes no arguments: unexpected %q", cmd.Name(), args[0])
	}
	return nil
}

// OneArg requires exactly one argument, which errors call what.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.Usage(SeeHelp(cmd), "%s takes one argument: %s (%d given)", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// AtMostOne accepts one argument or none, and completes it. Errors call it what.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exit.Usage(SeeHelp(cmd), "%s takes one argument at most: %s (%d given)", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// KnownVerb refuses arguments of a command that has verbs: they are unknown verbs.
func KnownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := SeeHelp(cmd)
	if name := Nearest(args[0], names); name != "" {
		hint = "did you mean '" + cmd.CommandPath() + " " + name + "'?"
	}
	return exit.Usage(hint, "unknown command %q: expected one of %s", args[0], strings.Join(names, ", "))
}
