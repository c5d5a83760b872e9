package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// SeeHelp is the hint that says where a command's flags and arguments are listed.
func SeeHelp(cmd *cobra.Command) string { return "see '" + cmd.CommandPath() + " --help'" }

// Args requires so many arguments, which errors call what: no fewer than least, and no more than most, which is two at most.
func Args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return CheckEmpty(cmd, args)
		}
		if most == 0 {
			return exit.Usage(SeeHelp(cmd), "%s takes no arguments: unexpected %q", cmd.Name(), args[0])
		}
		number := [...]string{1: "one argument", 2: "two arguments"}[most]
		if least < most {
			number += " at most"
		}
		return exit.Usage(SeeHelp(cmd), "%s takes %s: %s (%d given)", cmd.Name(), number, what, len(args))
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

// CheckEmpty refuses arguments that are empty: they name nothing, and most often come from a variable that is not set.
func CheckEmpty(cmd *cobra.Command, args []string) error {
	for i, a := range args {
		if strings.TrimSpace(a) == "" {
			return exit.Usage("is a variable not set that it comes from? "+SeeHelp(cmd), "argument %d of '%s' is empty", i+1, cmd.CommandPath())
		}
	}
	return nil
}
