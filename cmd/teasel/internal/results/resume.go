package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/corpus"
)

// NewResume returns the verb resume.
func NewResume() *cobra.Command {
	fresh := flags.Options{Format: "text", FailOn: teasel.Low}
	cmd := &cobra.Command{
		Use:   "resume [DIR]",
		Short: "Carry on a campaign where it stopped, or was stopped",
		Long: `Carry on a campaign: with its corpus, its findings and its generator where they were, as long again as its options
say or as the flags do. Findings that it has already are not looked for again; those that there was no time to confirm are
tried first.`,
		Example: "  teasel resume --duration 10m\n  teasel resume other-out",
		Args:    flags.Args(0, 1, "a campaign's directory"), ValidArgsFunction: completeDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(flags.CheckNumbers(cmd.Flags()), fresh.Check()); err != nil {
				return err
			}
			path := orDefault(args)
			if err := campaign.RequireOne(path); err != nil {
				return err
			}
			dir, err := corpus.Open(path)
			if err != nil {
				return campaign.OpenError(err)
			}
			change := func(o *flags.Options) { resumed(cmd, dir.Path(), o, &fresh) }
			k, err := kinds.Of(dir.Meta().Kind, "a campaign")
			if err != nil {
				return errors.Join(err, dir.Close())
			}
			accepted, err := flags.AcceptedInConfig(cmd)
			if err == nil {
				err = fresh.LoadBaseline(k.Name, accepted)
			}
			if err != nil {
				return errors.Join(err, dir.Close())
			}
			if dir, err = enterOrigin(cmd, dir, &fresh); err != nil {
				return err
			}
			return campaign.OriginOf(dir.Meta().Directory).Explain(k.Resume(cmd, dir, change), exit.StatusTarget, exit.StatusUsage) // where we are now
		},
	}
	f := cmd.Flags()
	f.DurationVar(&fresh.Duration, "duration", time.Duration(0), "how long to fuzz this time; 0: no limit (default: as before)")
	f.Uint64Var(&fresh.Runs, "runs", 0, "executions of this time after which to stop; 0: no limit (default: as before)")
	f.IntVar(&fresh.Workers, "workers", 1, "workers that fuzz side by side (default: as before)")
	flags.SetPositive(f, "workers")
	f.IntVar(&fresh.StopAfter, "stop-after", 0, "findings after which to stop; 0: no limit (default: as before)")
	f.Var(&fresh.Memory, "max-memory", "stop when teasel itself holds more than this; 0: no limit (default: as before)")
	flags.AddReports(cmd, &fresh)
	f.Var(flags.Severity(&fresh.FailOn), "fail-on", "exit with status 1 only for findings at least this bad")
	flags.AddBaseline(cmd, &fresh.Baseline)
	flags.AddPage(cmd, &fresh)
	flags.AddHub(f, &fresh.Hub)
	f.BoolVar(&fresh.NoUI, "no-ui", false, "plain lines instead of the live screen")
	return cmd
}

// enterOrigin goes to where a campaign was begun if its target needs that, and returns its directory as it is called from there. The paths
// of this run's flags become absolute.
func enterOrigin(cmd *cobra.Command, dir *corpus.Dir, fresh *flags.Options) (*corpus.Dir, error) {
	m := dir.Meta()
	from := campaign.OriginOf(m.Directory)
	file, needed := from.Needed(m.Target, m.Options)
	if !needed {
		return dir, nil
	}
	path := dir.Path()
	paths := []*string{&path, &fresh.Hub.Credentials, &fresh.Hub.CA}
	for i := range fresh.Reports {
		paths = append(paths, &fresh.Reports[i].Path)
	}
	err := dir.Close()
	for _, p := range paths {
		if full, e := filepath.Abs(*p); *p != "" {
			*p, err = full, errors.Join(err, e)
		}
	}
	if err != nil {
		return nil, exit.Failure(err)
	}
	if err := from.Enter(cmd.ErrOrStderr(), file); err != nil {
		return nil, err
	}
	if dir, err = corpus.Open(path); err != nil {
		return nil, campaign.OpenError(err)
	}
	return dir, nil
}

// resumed changes the options that a campaign began with to those of this run: what is about a single run is always new, and the limits
// are if they are given.
func resumed(cmd *cobra.Command, dir string, o, fresh *flags.Options) {
	set := func(name string) bool { return flags.IsSet(cmd.Flags(), name) }
	o.Corpus = existingDirs(o.Corpus, cmd.ErrOrStderr())
	o.Out, o.Format, o.Reports, o.FailOn, o.NoUI, o.UI, o.UIToken, o.Known = dir, fresh.Format, fresh.Reports, fresh.FailOn, fresh.NoUI, fresh.UI, fresh.UIToken, fresh.Known
	if set("duration") || set("runs") {
		o.Duration, o.Runs = fresh.Duration, fresh.Runs
	}
	if set("max-memory") {
		o.Memory = fresh.Memory
	}
	if set("workers") {
		o.Workers = fresh.Workers
	}
	if set("hub") {
		o.Hub = fresh.Hub
	}
	if set("stop-after") {
		o.StopAfter = fresh.StopAfter
	}
}

// existingDirs drops the directories of --corpus that do not exist any more, with a warning: a campaign that is resumed has most likely
// run all of their inputs.
func existingDirs(dirs []string, stderr io.Writer) (existing []string) {
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			fmt.Fprintf(stderr, "teasel: warning: --corpus %s, which the campaign began with, is left out: %v\n", dir, err)
			continue
		}
		existing = append(existing, dir)
	}
	return existing
}
