// Package rules is the verbs rules and explain, which say what findings break.
package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// NewCommand returns the verb rules.
func NewCommand() *cobra.Command {
	format, version, transport := "text", "", ""
	cmd := &cobra.Command{
		Use:   "rules [KIND]",
		Short: "List the rules that findings break, with their severities",
		Long: `List the rules that findings break, with their severities: all of them, or those of one kind of target. 'teasel explain'
says more about one. A rule without a kind in its name is the engine's own, of every kind. A rule that a specification states has its word for it, the protocol versions from which and to which it holds, and the transport if it is of
one only. The table severity of teasel.toml changes severities and switches rules off.`,
		Example: `  teasel rules
  teasel rules net
  teasel rules mcp --protocol-version 2025-06-18 --transport HTTP
  teasel rules --format json`,
		Args:              flags.Args(0, 1, "a kind of target"),
		ValidArgsFunction: cobra.FixedCompletions(flags.Kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := flags.Rules()
			if len(args) > 0 {
				if !slices.Contains(flags.Kinds(), args[0]) {
					return exit.Usage("for all kinds: teasel rules; about one rule: teasel explain RULE", "there is no kind of target %q: expected one of %s", args[0], strings.Join(flags.Kinds(), ", "))
				}
				rules = slices.DeleteFunc(rules, func(r teasel.Rule) bool { return !flags.OfEngine(&r) && !strings.HasPrefix(r.ID, args[0]+"/") })
			}
			if version != "" && !slices.Contains(allVersions(), version) {
				return exit.Usage("", "there is no protocol version %q: expected one of %s", version, strings.Join(allVersions(), ", "))
			}
			rules = slices.DeleteFunc(rules, func(r teasel.Rule) bool { return !isOf(&r, version, transport) })
			if format == "json" {
				return writeRules(cmd, rules)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, r := range rules {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Severity, r.Level, Versions(&r), r.Transport, r.Title)
			}
			return exit.Failure(t.Flush())
		},
	}
	cmd.Flags().Var(flags.Choice(&format, []string{"text", "json"}), "format", "how the rules are written")
	cmd.Flags().StringVar(&version, "protocol-version", "", "only the rules of MCP that hold in this version (default: all)")
	cmd.Flags().Var(flags.Choice(&transport, []string{"stdio", "HTTP"}), "transport", "only the rules of MCP that hold over this transport (default: all)")
	return cmd
}

// allVersions are the protocol versions in which rules may begin or end to hold.
func allVersions() []string {
	return append(slices.Clone(session.Versions), session.StatelessVersion)
}

// isOf reports whether a rule holds in a protocol version and over a transport; "": in any, over any.
func isOf(r *teasel.Rule, version, transport string) bool {
	if (version != "" || transport != "") && !strings.HasPrefix(r.ID, "mcp/") {
		return false
	}
	return (transport == "" || r.Transport == "" || r.Transport == transport) && (version == "" || version >= r.Since && (r.Until == "" || version <= r.Until))
}

// Versions says in which protocol versions a rule holds; "": in all.
func Versions(r *teasel.Rule) string {
	switch {
	case r.Since == r.Until:
		return r.Since
	case r.Until == "":
		return "from " + r.Since
	case r.Since == "":
		return "to " + r.Until
	}
	return r.Since + " to " + r.Until
}

// Holds is the sentence that says where a rule holds; "": everywhere.
func Holds(r *teasel.Rule) string {
	var parts []string
	if v := Versions(r); v != "" {
		parts = append(parts, "protocol versions "+v)
	}
	if r.Transport != "" {
		parts = append(parts, "over "+r.Transport)
	}
	if r.Level != "" {
		parts = append(parts, "the specification says "+r.Level)
	}
	text := strings.Join(parts, "; ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// ruleJSON is a rule in the output of teasel rules --format json.
type ruleJSON struct {
	ID       string          `json:"id"`
	Severity teasel.Severity `json:"severity"`
	Title    string          `json:"title"`
	Help     string          `json:"help"`
	Source   string          `json:"source,omitempty"`

	Since     string `json:"since,omitempty"`
	Until     string `json:"until,omitempty"`
	Transport string `json:"transport,omitempty"`
	Level     string `json:"level,omitempty"`
}

func writeRules(cmd *cobra.Command, rules []teasel.Rule) error {
	out := []ruleJSON{}
	for _, r := range rules {
		out = append(out, ruleJSON(r))
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return exit.Failure(e.Encode(out))
}

// NewExplain returns the verb explain.
func NewExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain RULE",
		Short: "Say what a rule means, why it matters and what to do",
		Example: `  teasel explain mcp/server-crash
  teasel explain wrong-code`,
		Args: flags.Args(1, 1, "a rule, such as mcp/server-crash"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, r := range flags.Rules() {
				names = append(names, cobra.CompletionWithDesc(r.ID, r.Title))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := ruleNamed(args[0])
			if err != nil {
				return err
			}
			return exit.Failure(explain(cmd.OutOrStdout(), &r, args[0]))
		},
	}
}

// explain writes what there is to say of a rule that was called by a name.
func explain(w io.Writer, r *teasel.Rule, name string) error {
	var b strings.Builder
	if r.ID != name && !strings.HasSuffix(r.ID, "/"+name) {
		fmt.Fprintf(&b, "%s: the only rule that begins with %q.\n\n", r.ID, name)
	}
	source := cmp.Or(r.Source, "a rule of our own: no specification states it")
	fmt.Fprintf(&b, "%s  %s\n\n%s.\n\n%s\n\nSource: %s\n", r.Severity, r.ID, r.Title, r.Help, source)
	if text := Holds(r); text != "" {
		fmt.Fprintln(&b, text)
	}
	if !flags.OfEngine(r) {
		fmt.Fprintf(&b, `
To change its severity, or switch it off, write in teasel.toml:

  [severity]
  "%s" = "off" # or info, low, medium, high, critical
`, r.ID)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ruleNamed returns the rule with an id, or the only one whose id, or the part of it behind the kind, begins with the name.
func ruleNamed(name string) (teasel.Rule, error) {
	var matching []teasel.Rule
	var ids []string
	within := "" // a line for each rule that has the name in it elsewhere
	for _, r := range flags.Rules() {
		_, short, _ := strings.Cut(r.ID, "/")
		if r.ID == name {
			return r, nil
		}
		ids = append(ids, r.ID, short)
		if strings.HasPrefix(r.ID, name) || strings.HasPrefix(short, name) {
			matching = append(matching, r)
		}
		if strings.Contains(short, name) {
			within += "\n  " + r.ID
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(matching), func(r teasel.Rule) bool { return !strings.HasSuffix(r.ID, "/"+name) }); len(exact) == 1 {
		return exact[0], nil
	}
	switch {
	case len(matching) == 1:
		return matching[0], nil
	case len(matching) > 1:
		list := ""
		for _, r := range matching {
			list += "\n  " + r.ID
		}
		return teasel.Rule{}, exit.Usage("name one of them:"+list, "%d rules begin with %q", len(matching), name)
	}
	hint := "'teasel rules' lists them"
	switch near := flags.Nearest(name, ids); {
	case within != "":
		hint = "name one of them:" + within
	case near != "":
		hint = "did you mean 'teasel explain " + near + "'? " + hint
	case strings.Trim(name, "0123456789abcdef") == "" || strings.HasSuffix(name, ".json"):
		hint = "a finding is shown by 'teasel show " + plain.Quote(name) + "'; " + hint
	}
	return teasel.Rule{}, exit.Usage(hint, "there is no rule %q", name)
}
