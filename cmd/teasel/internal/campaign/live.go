package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/tui"
	"github.com/teaselfuzz/teasel/monitor"
)

// Live shows a campaign in the terminal while it runs: as a screen or, where there can be none, as lines. It is a reporter for what lines
// show; the screen looks at the source.
type Live struct {
	*monitor.Lines
	screened bool
	cancel   context.CancelFunc
	done     chan struct{}
}

// NewLive returns what shows a campaign. Nothing is drawn before [Live.Start].
func NewLive(cmd *cobra.Command, o *flags.Options, before []teasel.Finding) *Live {
	w := cmd.ErrOrStderr()
	l := &Live{Lines: monitor.NewLines(w, monitor.Options{Before: before, Known: o.Known.Known})}
	_, isStream := w.(*monitor.Stream)
	ci := os.Getenv("CI")
	l.screened = !o.NoUI && isStream && monitor.Terminal(cmd.InOrStdin()) != nil && os.Getenv("TERM") != "dumb" && (ci == "" || ci == "false")
	return l
}

// Screened reports whether a screen is going to be shown, which needs a source.
func (l *Live) Screened() bool { return l.screened }

// Start shows the screen until Close, or until the campaign is interrupted: what it still has to do then is shown as lines. Without a
// screen it does nothing.
func (l *Live) Start(cmd *cobra.Command, src tui.Source, pause *teasel.Pause) {
	if !l.screened {
		return
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	l.cancel, l.done = cancel, make(chan struct{})
	l.Mute(true)
	stream := cmd.ErrOrStderr().(*monitor.Stream)
	o := tui.Options{In: monitor.Terminal(cmd.InOrStdin()), Out: stream.Lend(), ASCII: !isUTF8(os.Getenv)}
	go func() {
		defer close(l.done)
		err := tui.Run(ctx, src, control{pause}, o)
		stream.GiveBack(!errors.Is(err, tui.ErrStalled))
		if err != nil {
			fmt.Fprintf(stream, "teasel: %v; going on with lines\n", err)
		}
		pause.Set(false) // there is no key any more that would end it
		l.Mute(false)
	}()
}

// Close leaves the screen and writes a last line of figures.
func (l *Live) Close() error {
	if l.cancel != nil {
		l.cancel()
		<-l.done
	}
	return l.Lines.Close()
}

// isUTF8 reports whether the terminal shows more than ASCII, as the locale says.
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			return strings.Contains(strings.ReplaceAll(v, "-", ""), "UTF8")
		}
	}
	return false
}

// control is what the keys of the screen do.
type control struct{ pause *teasel.Pause }

var _ tui.Control = control{}

// Pause implements [tui.Control].
func (c control) Pause(on bool) { c.pause.Set(on) }

// Stop implements [tui.Control]: the first time it stops the campaign, the second time it ends the process, as Ctrl-C does anywhere else.
func (c control) Stop() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGINT) }
