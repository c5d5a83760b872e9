package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/web"
	"github.com/teaselfuzz/teasel/view"
)

// Page serves the page of a campaign. That of a campaign without --ui is nil.
type Page struct{ server *web.Server }

// OpenPage takes the address of --ui and prints what to open.
func OpenPage(o *flags.Options, stderr io.Writer) (*Page, error) {
	if o.UI == "" {
		return nil, nil
	}
	s, err := web.Listen(o.UI, cmp.Or(o.UIToken, os.Getenv("TEASEL_UI_TOKEN"))) // not all verbs take their flags from the environment
	switch {
	case errors.Is(err, web.ErrNeedsToken):
		return nil, exit.Usage("use 127.0.0.1, or set TEASEL_UI_TOKEN to a secret that the page then asks for", "--ui %w", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exit.Usage("choose another port, or 0 for any that is free: --ui 127.0.0.1:0", "--ui %s: another program listens there already", o.UI)
	case err != nil:
		return nil, exit.Usage("for example --ui 127.0.0.1:8080", "--ui: %w", err)
	}
	fmt.Fprintf(stderr, "teasel: the page of this campaign is at %s\n", s.URL)
	return &Page{server: s}, nil
}

// Start serves a campaign until Close.
func (p *Page) Start(src web.Source) error {
	if p == nil {
		return nil
	}
	return p.server.Start(src)
}

// Close ends the serving.
func (p *Page) Close() {
	if p != nil {
		p.server.Close()
	}
}

// show has a page and a screen show the campaign, if there are any; otherwise it costs nothing.
func (p *Plan[T]) show(cmd *cobra.Command, page *Page, live *Live, dir *corpus.Dir) error {
	if page == nil && !live.Screened() {
		return nil
	}
	p.Campaign.Pause = &teasel.Pause{}
	recorder, err := p.record(dir)
	if err != nil {
		return err
	}
	p.recorder = recorder
	p.Campaign.Reporters = append(p.Campaign.Reporters, recorder)
	live.Start(cmd, recorder, p.Campaign.Pause)
	return page.Start(recorder)
}

// record returns the recorder of the campaign that is about to run in a directory.
func (p *Plan[T]) record(dir *corpus.Dir) (*view.Recorder, error) {
	from, err := view.FromDir(dir)
	if err != nil {
		return nil, err
	}
	run := p.Kind.Report(dir, teasel.Summary{})
	o := p.Options
	from.Teasel, from.Duration, from.Runs = Version, o.Duration.Seconds(), o.Runs
	var entries []teasel.Entry
	for i := range from.Findings {
		from.Findings[i].Known = o.Known.Why(from.Findings[i].ID)
	}
	if r := p.Campaign.Resume; r != nil {
		entries = r.Entries
		from.Duration += r.Elapsed.Seconds()
		for i := range r.Findings {
			from.SetCommands(r.Findings[i].ID(), run.Commands(&r.Findings[i]))
		}
	}
	m := dir.Meta()
	return view.NewRecorder(from, entries, view.Options{Rules: run.Rules, Known: o.Known.Why, Commands: run.Commands, Pause: p.Campaign.Pause, Panels: p.Kind.Paneler(&m, dir.Path())}), nil
}
