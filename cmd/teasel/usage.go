package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// seeHelp is the hint that says where a command's flags and arguments are listed.
func seeHelp(cmd *cobra.Command) string { return "see '" + cmd.CommandPath() + " --help'" }

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(seeHelp(cmd), "%s takes no arguments: unexpected %q", cmd.Name(), args[0])
	}
	return nil
}

// oneArg wants exactly one argument and says which.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(seeHelp(cmd), "%s takes one argument: %s (%d given)", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// knownVerb refuses arguments of a command that has verbs: each is a verb that there is not.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := seeHelp(cmd)
	if name := nearest(args[0], names); name != "" {
		hint = "did you mean '" + cmd.CommandPath() + " " + name + "'?"
	}
	return usage(hint, "unknown command %q: expected one of %s", args[0], strings.Join(names, ", "))
}

// newHelp takes the place of cobra's own, which shows the help of something else where it does not know a command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, its flags and examples",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := knownVerb(about, rest); err != nil && about.HasSubCommands() {
				return err
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return failure(about.Help())
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

// addCompletion gives cobra's verb completion an error for a shell that it does not know.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args = knownVerb
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

// flagError says of a flag what was typed, and what was expected.
func flagError(cmd *cobra.Command, err error) error {
	hint := seeHelp(cmd)
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
			return usage("-"+name+" of go test is "+ours+" here; "+hint, "%w", err)
		}
		if len(name) > 1 {
			if near := nearest(name, names); near != "" {
				hint = "did you mean --" + near + "? " + hint
			}
		}
	case errors.As(err, &invalid):
		return usage(hint, "--%s %w", invalid.GetFlag().Name, badValue(err))
	}
	return usage(hint, "%w", err)
}

// badValue says of a flag's value what was expected, in place of how the library failed to read it.
func badValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	expected := map[string]string{
		"duration": "a duration such as 30s or 5m",
		"int":      "a whole number",
		"intSlice": "a whole number",
		"uint64":   "a whole number, 0 or more",
		"float64":  "a number such as 0.5",
		"bool":     "true or false",
	}[invalid.GetFlag().Value.Type()]
	if expected == "" { // it is one of ours, which says so itself
		return fmt.Errorf("%q: %w", invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%q: expected %s", invalid.GetValue(), expected)
}

// nearest returns the name that was probably meant: one that begins as typed does, has the same letters, or that at most
// two typing errors turn into it; "": none is near.
func nearest(typed string, names []string) string {
	letters := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	best, least := "", 3
	for _, name := range names {
		d := typos(typed, name)
		if len(typed) > 1 && strings.HasPrefix(name, typed) || letters(name) == letters(typed) {
			d = min(d, 1)
		}
		if d < least && 2*d < len(typed) { // of a short word, two letters are all
			best, least = name, d
		}
	}
	return best
}

// typos is how many letters have to be put in, left out or replaced to make b of a: Levenshtein's distance.
func typos(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
