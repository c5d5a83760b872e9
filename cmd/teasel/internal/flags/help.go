package flags

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// groupKey is the annotation with the title under which a flag stands in the help.
const groupKey = "group"

// campaignGroup is the title of flags about the campaign as a whole.
const campaignGroup = "Campaign"

// resultsGroup is the title of flags about what is reported.
const resultsGroup = "Results"

// SetGroup puts flags under a title.
func SetGroup(f *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, groupKey, []string{title}) // they are there
	}
}

// Group is flags under a title.
type Group struct {
	Title string
	Flags *pflag.FlagSet
}

// Groups returns the flags of a command: first its own, then those that it shares with others.
func Groups(cmd *cobra.Command) (groups []Group) {
	own := Group{"Flags", pflag.NewFlagSet("", pflag.ContinueOnError)}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := f.Annotations[groupKey]
		if title == nil {
			own.Flags.AddFlag(f)
			return
		}
		for _, g := range groups {
			if g.Title == title[0] {
				g.Flags.AddFlag(f)
				return
			}
		}
		g := Group{title[0], pflag.NewFlagSet("", pflag.ContinueOnError)}
		g.Flags.AddFlag(f)
		groups = append(groups, g)
	})
	return append([]Group{own}, groups...)
}

// Usage prints how a command is called, with its verbs and flags in groups.
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Commands"}) {
		title := "\n" + g.Title + ":\n"
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintf(&b, "%s  %-*s  %s\n", title, cmd.Commands()[0].NamePadding(), c.Name(), c.Short)
				title = ""
			}
		}
	}
	width := 0
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		width = w
	}
	for _, g := range Groups(cmd) {
		if g.Flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s\n", g.Title, strings.TrimRight(g.Flags.FlagUsagesWrapped(width), " \n"))
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n'%s COMMAND --help' says more about a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// CompleteValues has the shell complete the values of flags that take one of a fixed set, in a command and all below it.
func CompleteValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(interface{ Choices() []string }); ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.Choices(), cobra.ShellCompDirectiveNoFileComp)) // it is there
		}
	})
	for _, c := range cmd.Commands() {
		CompleteValues(c)
	}
}
