package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
)

// Verb is the verb of a kind of target that is started by a command, or reached at an address. Its flags are stored with the campaign.
type Verb[T any] interface {
	// Shared returns the flags that it has in common with others.
	Shared() *flags.Launch
	// Prepare refuses values that make no sense, and sets the flags that the user has not set, as the profile says.
	Prepare(set func(flag string) bool, stderr io.Writer) error
	// Plan inspects the target and plans its campaign. leave is called before another process takes over, for a sandbox; it may be nil.
	Plan(ctx context.Context, stderr io.Writer, leave func() error) (*Plan[T], error)
}

// RunE returns the function of the command of a verb: it takes what stands behind the flags, and what the configuration says.
func RunE[T any](kind string, v Verb[T]) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := v.Shared().Configure(cmd, kind, args); err != nil {
			return err
		}
		return Run(cmd, kind, v)
	}
}

// Run runs a new campaign or, with --dry-run, shows what it would be.
func Run[T any](cmd *cobra.Command, kind string, v Verb[T]) error {
	l, stderr := v.Shared(), cmd.ErrOrStderr()
	if err := errors.Join(flags.CheckNumbers(cmd.Flags()), l.Check(), l.LoadBaseline(kind, l.Accept)); err != nil {
		return err
	}
	if err := v.Prepare(flags.SetIn(cmd.Flags()), stderr); err != nil {
		return err
	}
	if !l.DryRun {
		if err := flags.CheckOut(l.Out); err != nil {
			return err
		}
	}
	if l.ChangedSince != "" && !l.DryRun {
		reason, err := unreached(cmd.Context(), &l.Options, stderr)
		if err != nil {
			return err
		}
		if reason != "" {
			fmt.Fprintf(stderr, "teasel: not fuzzed: %s\n", plain.Line(reason))
			target := strings.Join(l.Command, " ")
			return ReportUnreached(cmd, &l.Options, kind, target, []report.Skip{{Subject: target, Reason: reason}})
		}
	}
	p, err := planned(cmd, kind, v, nil)
	if err != nil {
		return err
	}
	defer p.close()
	if l.DryRun {
		return p.DryRun(cmd.OutOrStdout())
	}
	p.introduce(stderr)
	if p.Given != "" && p.Triage == nil {
		fmt.Fprintf(stderr, "teasel: %s\n", p.Given)
	}
	return p.Begin(cmd)
}

// ResumeOf returns what runs the campaign in a directory again, with the verb that new makes.
func ResumeOf[T any](new func() Verb[T]) func(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error {
	return func(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error {
		v := new()
		l := v.Shared()
		err := ReadOptions(dir, v)
		if err == nil {
			err = flags.CheckInherited(l.Env)
		}
		if err != nil {
			return errors.Join(err, dir.Close())
		}
		change(&l.Options)
		p, err := planned(cmd, dir.Meta().Kind, v, dir.Close)
		if err != nil {
			return errors.Join(err, dir.Close())
		}
		defer p.close()
		p.introduce(cmd.ErrOrStderr())
		if err := p.renew(dir, l.Command, cmd.ErrOrStderr()); err != nil {
			return errors.Join(exit.Failure(err), dir.Close())
		}
		return p.resume(cmd, dir)
	}
}

// introduce prints what is fuzzed, and warnings about it.
func (p *Plan[T]) introduce(w io.Writer) {
	if p.Introduce != nil {
		p.Introduce(w)
	}
}

// close ends what the plan has started.
func (p *Plan[T]) close() {
	if p.Close != nil {
		p.Close()
	}
}

// renew has all testcases run again if the target was built anew: the features that they reach are numbers of edges, which another
// build numbers in another way.
func (p *Plan[T]) renew(dir *corpus.Dir, command []string, w io.Writer) error {
	m := dir.Meta()
	if m.Build == p.Meta.Build && m.Edges == p.Meta.Edges {
		return nil
	}
	fmt.Fprintf(w, "teasel: %s is not the same as before: all testcases and seeds run again\n", command[0])
	p.RunAgain = true
	m.Build, m.Edges = p.Meta.Build, p.Meta.Edges
	return dir.Renew(m)
}

// Describe fills in what is written to campaign.json, and takes from the flags what is the same for all kinds. options are all flags of
// the verb, target is what a finding's file says of the target.
func (p *Plan[T]) Describe(k Kind, l *flags.Launch, options, target any) (err error) {
	p.Kind, p.Options, p.Severity = k, &l.Options, l.Severity
	m := &p.Meta
	m.Version, m.Kind, m.Seed = Version, k.Name, l.Seed
	if m.Directory, err = os.Getwd(); err != nil {
		return exit.Failure(fmt.Errorf("asking for the working directory: %w", err))
	}
	if m.Name == "" {
		m.Name = strings.Join(l.Command, " ")
	}
	if m.Options, err = RawJSON(options); err != nil {
		return err
	}
	if m.Target, err = RawJSON(target); err != nil {
		return err
	}
	p.Campaign.MinimizeRuns = l.MinimizeRuns(k.Name)
	return ChooseMutation(&p.Campaign, &l.Mutation)
}

// Load reads the inputs of --corpus and adds the dictionaries of --dict to one. scratch is the folder in which programs have their homes;
// see Isolate.
func Load[T any](ctx context.Context, l *flags.Launch, codec teasel.Codec[T], d *mutate.Dictionary, stderr io.Writer, leave func() error) (seeds []Seed[T], scratch string, err error) {
	if l.Sandbox && len(l.Command) == 0 {
		return nil, "", exit.Usage("give the command that starts it behind --, so that teasel starts it in one, or leave --sandbox out", "--sandbox: a server that runs already is in no sandbox of teasel's")
	}
	if err = LoadDictionaries(d, l.Dict, stderr); err != nil {
		return nil, "", err
	}
	if seeds, err = loadCorpus(l.Corpus, codec, stderr); err != nil {
		return nil, "", err
	}
	scratch, err = Isolate(ctx, &l.Isolation, l.Scratch, stderr, leave)
	return seeds, scratch, err
}
