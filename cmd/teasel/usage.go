package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
)

// newHelp replaces cobra's help command, which shows the help of another command where it does not know one.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, its flags and examples",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := flags.KnownVerb(about, rest); err != nil && about.HasSubCommands() {
				return err
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return exit.Failure(about.Help())
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range about.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// addCompletion makes an unknown shell an error of cobra's verb completion.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = flags.KnownVerb
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// aflFlags are the flags of afl-fuzz that have another name here.
var aflFlags = map[string]string{
	"i": "--corpus", "x": "--dict", "t": "--timeout", "m": "--memory-limit", "V": "--duration", "E": "--runs", "s": "--seed", "M": "--join", "S": "--join", "F": "--join",
	"Q": "--tracer afl-qemu-trace", "n": "--mode blackbox",
}

// goTestFlags are the flags of go test that have another name, or another number of dashes, here.
var goTestFlags = map[string]string{
	"fuzz": "--run", "run": "--run", "fuzztime": "--duration", "parallel": "--workers", "race": "--race", "tags": "--tags", "timeout": "--timeout", "coverprofile": "--cover",
	"fuzzcachedir": "--out",
}

// flagError returns an error about a flag that says what was expected.
func flagError(cmd *cobra.Command, err error) error {
	hint := flags.SeeHelp(cmd)
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		long, name := unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if long != "" { // as in -runs: a letter that is no flag
			name = long
		}
		if ours := aflFlags[name]; ours != "" && cmd.Name() == "native" {
			hint = "-" + name + " of afl-fuzz is " + ours + " here; " + hint
		}
		name, _, _ = strings.Cut(name, "=")
		if ours := goTestFlags[strings.TrimPrefix(name, "test.")]; ours != "" && cmd.CommandPath() == "teasel go" {
			return exit.Usage("-"+name+" of go test is "+ours+" here; "+hint, "%w", err)
		}
		if len(name) > 1 {
			if near := flags.Nearest(name, names); near != "" {
				hint = "did you mean --" + near + "? " + hint
			}
		}
	case errors.As(err, &invalid):
		return exit.Usage(hint, "--%s %w", invalid.GetFlag().Name, flags.BadValue(err))
	}
	return exit.Usage(hint, "%w", err)
}
