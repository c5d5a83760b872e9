package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/report"
)

// launch says what is started, and how: the flags that all kinds with a command share. It is stored with the campaign.
type launch struct {
	Command  []string          `json:"command"`
	Env      []string          `json:"env,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Severity map[string]string `json:"severity,omitempty"` // by rule, from the configuration
	Accept   []report.Accepted `json:"-"`
	DryRun   bool              `json:"-"`
	Config   string            `json:"-"`
}

// addLaunch gives a command these flags; what is "server" or "program". From its first word on, everything belongs to the
// command to be started.
func addLaunch(cmd *cobra.Command, l *launch, what string) {
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&l.Config, "config", "", "configuration file (default teasel.toml, if there is one)")
	f.StringArrayVar(&l.Env, "env", nil, "NAME=VALUE for the "+what+"'s environment, or NAME to hand ours on by name; may be given several times")
	f.StringVar(&l.Dir, "dir", "", "working directory of the "+what+" (default: this one)")
	f.BoolVar(&l.DryRun, "dry-run", false, "show what would be fuzzed, and end")
}

// configure takes the command and sets what the configuration says; table picks the table of the kind and the command in
// it.
func (l *launch) configure(cmd *cobra.Command, args []string, table func(*config) (any, []string)) (err error) {
	if cmd.ArgsLenAtDash() < 0 {
		if err := unmarked(cmd, args); err != nil {
			return err
		}
	}
	var c *config
	l.Command, c, err = configure(cmd.Flags(), l.Config, args, table)
	l.Severity, l.Accept = c.Severity, c.accepted
	return err
}

// unmarked refuses a command without -- before it that has flags: whose they are is nobody's to guess.
func unmarked(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "--") {
		return usage("the command to fuzz goes behind --, flags before it", "unexpected argument %q before --", args[0])
	}
	at := slices.IndexFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' })
	if at < 0 {
		return nil
	}
	var words []string
	for _, a := range args {
		words = append(words, report.Quote(a))
	}
	return usage("if it is the command's: "+cmd.CommandPath()+" [flags] -- "+strings.Join(words, " ")+"\nhint: flags of teasel go before --",
		"%q stands behind a command that has no -- before it: is it the command's, or teasel's?", args[at])
}

// check looks for what cannot be meant.
func (l *launch) check() error {
	for _, e := range l.Env {
		name, _, ok := strings.Cut(e, "=")
		if _, set := os.LookupEnv(name); name == "" || !ok && !set {
			return usage("what is in our own environment is inherited", "--env %q: expected NAME=VALUE, or the NAME of a variable that is set", e)
		}
	}
	if l.Dir != "" {
		if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
			return usage("", "--dir %s: expected a directory", l.Dir)
		}
	}
	return checkSeverities(l.Severity)
}

// inherited looks for variables that were handed on by name: what is started again needs them as it did at first.
func inherited(vars []string) error {
	for _, name := range vars {
		if _, set := os.LookupEnv(name); !set && !strings.Contains(name, "=") {
			return usage("--env "+name+" has handed it on, so that its value is in no file: set it as it was then",
				"the target needs the environment variable %s, which is not set", name)
		}
	}
	return nil
}

// startable looks whether a finding's file says all that it takes to start its target again.
func startable(command, vars []string) error {
	if len(command) == 0 {
		return usage("", "reading the finding's target: it has no command")
	}
	return inherited(vars)
}

// environment leaves variables out that are given by name only: they are in our own environment, which is inherited.
func environment(vars []string) (out []string) {
	for _, v := range vars {
		if strings.Contains(v, "=") {
			out = append(out, v)
		}
	}
	return out
}
