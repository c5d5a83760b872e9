package results

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/kinds"
	"github.com/teaselfuzz/teasel/view"
)

// How often the directory of a campaign that runs is read again: at least so long after the last time, and so many times as long as
// reading takes, so that a large corpus does not take the processors from the campaign.
const (
	readPause  = 2 * time.Second
	readFactor = 20
)

// servePage serves the page of the campaign in a directory, and follows the campaign while it runs, until the user ends it.
func servePage(cmd *cobra.Command, path string, o *flags.Options) error {
	s, err := campaign.Open(path, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	m := s.Meta()
	k, _ := kinds.Of(m.Kind, "")
	run := k.Report(s.Dir, s.Summary())
	state, err := run.State()
	if err != nil {
		return exit.Failure(err)
	}
	page, err := campaign.OpenPage(o, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer page.Close()
	f := view.NewFollower(s.Dir, state, s.Kept.Entries, view.Options{Rules: run.Rules, Commands: run.Commands, Panels: k.Paneler(&m, s.Dir.Path())})
	if err := page.Start(f); err != nil {
		return exit.Failure(err)
	}
	if f.Running() {
		fmt.Fprintln(cmd.ErrOrStderr(), "teasel: the campaign is running, and the page follows it; Ctrl-C ends the page, not the campaign")
	} else {
		fmt.Fprintln(cmd.ErrOrStderr(), "teasel: Ctrl-C ends it")
	}
	for pause := readPause; ; {
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(pause):
		}
		began := time.Now()
		f.Read()
		pause = max(readPause, readFactor*time.Since(began))
	}
}
