package program

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// triageOut is the directory that teasel triage writes by default: not that of the campaign that it may read.
const triageOut = "teasel-triage"

// OtherTriage triages a directory for another kind of target, if it or what stands behind -- names one: then taken is true. The flags own
// are for programs alone.
type OtherTriage func(cmd *cobra.Command, o *flags.Options, own []string, dir string, words []string) (taken bool, err error)

// NewTriage returns the verb triage. other is asked first.
func NewTriage(other OtherTriage) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "triage [flags] DIR [-- PROGRAM [ARG... @@] | -- PACKAGE FuzzX]",
		Short: "Say which faults are behind a folder of crashing inputs: one finding each",
		Long: `Run each input of a directory on a program, and report one finding for each fault, however many inputs show it. A finding is
reproduced, also in a fresh process, and its input is made as small as it gets. Nothing is fuzzed. The result is a campaign's
directory, which show, report, repro, min and resume take; resume goes on with fuzzing from these inputs.

DIR is a folder of files, a whole output directory of AFL++ or a campaign's directory, whose crashes/ and hangs/ are taken, or a
folder in which libFuzzer has left crash-, leak-, oom- and timeout- files. PROGRAM is any program that 'teasel native' takes.

Or they are inputs of a fuzz test in Go: files of testdata/fuzz/FuzzX, which says itself of which package and test it is, or of
any folder, with the package's directory and the test behind --. Findings of 'teasel mcp' and 'teasel net' are one for each fault
already: 'teasel repro --all DIR' runs them again.

Exit status: 0 no input shows a fault, 1 there are findings at or above --fail-on; otherwise as for a campaign.`,
		Example: `  teasel triage out/default/crashes -- ./target @@
  teasel triage afl-out --format markdown -- ./target > crashes.md
  teasel triage . -- ./harness
  teasel triage testdata/fuzz/FuzzParse
  teasel triage crashers -- ./parser FuzzParse`,
	}
	flags.AddStart(cmd, &o.Launch, "program", "this one")
	_ = cmd.Flags().MarkHidden("dry-run")
	f := cmd.Flags()
	f.SetInterspersed(true) // flags may stand behind DIR
	o.FailOn, o.Format, o.Out = teasel.Low, "text", triageOut
	f.DurationVar(&o.Duration, "duration", 0, "stop after this time, whatever is left (default: no limit)")
	f.IntVar(&o.Workers, "workers", 1, "workers that run inputs side by side, each with a program of its own")
	flags.SetPositive(f, "workers")
	f.DurationVar(&o.Timeout, "timeout", 0, "time limit of one run (default: 1s)")
	f.StringVarP(&o.Out, "out", "o", triageOut, "directory to write; what an earlier triage has left there is moved aside")
	flags.AddReports(cmd, &o.Options)
	f.Var(flags.Severity(&o.FailOn), "fail-on", "exit with status 1 only for findings at least this bad")
	flags.AddBaseline(cmd, &o.Baseline)
	f.BoolVar(&o.NoUI, "no-ui", false, "plain lines instead of the live screen")
	flags.AddPage(cmd, &o.Options)
	flags.AddMinimize(f, &o.Mutation)
	own := []string{"config", "env", "dir"}
	run := pflag.NewFlagSet("", pflag.ContinueOnError)
	addRun(run, o)
	run.VisitAll(func(r *pflag.Flag) { own = append(own, r.Name) })
	f.AddFlagSet(run)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runTriage(cmd, o, own, other, args) }
	return cmd
}

func runTriage(cmd *cobra.Command, o *options, own []string, other OtherTriage, args []string) error {
	at := cmd.ArgsLenAtDash()
	if at < 0 {
		at = len(args)
	}
	if at != 1 {
		return exit.Usage("for example: teasel triage out/default/crashes -- ./target @@", "triage takes one directory of inputs before -- and a program (%d given)", at)
	}
	dir := args[0]
	// The file may set these for campaigns, whose directory must not be overwritten.
	for _, name := range []string{"out", "duration"} {
		f := cmd.Flags().Lookup(name)
		f.Changed = true
	}
	if taken, err := other(cmd, &o.Options, own, dir, args[1:]); taken || err != nil {
		return err
	}
	o.Tolerant = true
	if err := o.Configure(cmd, "native", args[1:]); err != nil {
		return err
	}
	if len(o.Command) == 0 {
		hint := "for example: teasel triage " + plain.Quote(dir) + " -- ./harness"
		if c := campaign.FuzzedCommand(dir); c != "" {
			hint = "AFL++ fuzzed this: teasel triage " + plain.Quote(dir) + " -- " + plain.Text(c)
		}
		return exit.Usage(hint, "no program to run the inputs on: its command goes behind --")
	}
	return campaign.Run(cmd, "native", &triage{options: o, dir: dir})
}

// triage is the verb native on the inputs of a directory, from which nothing is made.
type triage struct {
	*options
	dir   string
	files []campaign.Input
}

// Prepare implements [campaign.Verb].
func (t *triage) Prepare(set func(flag string) bool, stderr io.Writer) (err error) {
	if err := t.check(); err != nil {
		return err
	}
	if t.files, err = campaign.LoadInputs(t.dir, stderr); err != nil {
		return err
	}
	t.SetDefaults(set, "native")
	t.Seed, t.Fresh = 1, true
	return nil
}

// Plan implements [campaign.Verb].
func (t *triage) Plan(ctx context.Context, stderr io.Writer, leave func() error) (*campaign.Plan[[]byte], error) {
	p, err := t.options.Plan(ctx, stderr, leave)
	if err != nil {
		return nil, err
	}
	p.StuckNote = "" // nothing new is looked for
	p.Seeds, p.Triage = nil, &campaign.Triage{}
	for _, in := range t.files {
		p.AddInput(in, in.Data)
	}
	return p, nil
}
