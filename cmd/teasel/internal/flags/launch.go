package flags

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Launch is the command that is started, and the flags of all kinds that start one. It is stored with the campaign.
type Launch struct {
	Options
	Command []string `json:"command"`
	Env     []string `json:"env,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Configured
}

// Shared returns the flags themselves, for what has them among others.
func (l *Launch) Shared() *Launch { return l }

// AddLaunch gives a command the flags of a campaign on a command; see AddStart.
func AddLaunch(cmd *cobra.Command, l *Launch, what, dir string) {
	AddOptions(cmd, &l.Options)
	AddStart(cmd, l, what, dir)
}

// AddStart gives a command the flags of a command that is started; what is "server" or "program", dir its working directory if none is
// named. From its first word on, everything belongs to the command to be started.
func AddStart(cmd *cobra.Command, l *Launch, what, dir string) {
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringArrayVar(&l.Env, "env", nil, "NAME=VALUE for the "+what+"'s environment, or NAME to hand ours on by name; may be given several times")
	f.StringVar(&l.Dir, "dir", "", "working directory of the "+what+" (default: "+dir+")")
	AddConfigured(cmd, &l.Configured, "show what would be fuzzed, and end")
}

// Configure takes the command and sets what the configuration says for a kind.
func (l *Launch) Configure(cmd *cobra.Command, kind string, args []string) (err error) {
	if cmd.ArgsLenAtDash() < 0 {
		if err := checkDash(cmd, args); err != nil {
			return err
		}
	}
	l.Command, err = l.Configured.Configure(cmd, kind, args)
	return err
}

// checkDash refuses a command without -- before it that has flags: they may be the command's or ours.
func checkDash(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "--") {
		return exit.Usage("the command to fuzz goes behind --, flags before it", "unexpected argument %q before --", args[0])
	}
	at := slices.IndexFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' })
	if at < 0 {
		return nil
	}
	var words []string
	for _, a := range args {
		words = append(words, plain.Quote(a))
	}
	return exit.Usage("if it is the command's: "+cmd.CommandPath()+" [flags] -- "+strings.Join(words, " ")+"\nhint: flags of teasel go before --",
		"%q stands behind a command that has no -- before it: is it the command's, or teasel's?", args[at])
}

// Check refuses values that make no sense.
func (l *Launch) Check() error {
	for _, e := range l.Env {
		name, _, ok := strings.Cut(e, "=")
		if _, set := os.LookupEnv(name); name == "" || !ok && !set {
			return exit.Usage("what is in our own environment is inherited", "--env %q: expected NAME=VALUE, or the NAME of a variable that is set", e)
		}
	}
	if l.Dir != "" {
		if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
			return exit.Usage("", "--dir %s: expected a directory", l.Dir)
		}
	}
	return l.Options.Check()
}

// CheckInherited refuses to go on without a variable of --env NAME, whose value is inherited and is in no file.
func CheckInherited(vars []string) error {
	for _, name := range vars {
		if _, set := os.LookupEnv(name); !set && !strings.Contains(name, "=") {
			return exit.Usage("--env "+name+" has handed it on, so that its value is in no file: set it as it was then",
				"the target needs the environment variable %s, which is not set", name)
		}
	}
	return nil
}

// CheckStart refuses the description of a target, in a finding's file, that cannot be started again.
func CheckStart(command, vars []string) error {
	if len(command) == 0 {
		return exit.Usage("", "reading the finding's target: it has no command")
	}
	return CheckInherited(vars)
}

// Environment returns the variables of --env that have a value. The others are in our own environment, which is inherited.
func Environment(vars []string) (out []string) {
	for _, v := range vars {
		if strings.Contains(v, "=") {
			out = append(out, v)
		}
	}
	return out
}
