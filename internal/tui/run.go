// Package tui shows a campaign on the whole of a terminal, and takes keys.
package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/teaselfuzz/teasel/view"
)

// A Source has the state of a campaign, which does not wait for Snapshot.
type Source interface {
	Snapshot() view.State
}

// Control is what the keys do to a campaign. Its methods do not wait.
type Control interface {
	Pause(on bool)
	Stop() // as an interrupt does; the screen ends when its context does
}

// Options say how a campaign is shown. In and Out must be terminals; the zero value of the rest is fine.
type Options struct {
	In, Out *os.File
	Every   time.Duration // between pictures; 0: half a second
	ASCII   bool          // the terminal shows no other characters
}

// ErrStalled is what Run returns when nobody reads the terminal any more: nothing may be written to it, since that would wait too.
var ErrStalled = errors.New("nobody reads the terminal")

// stallTime is how long a terminal has to take the last picture.
const stallTime = time.Second

// framesPerSecond is how often what has changed is written at most: after keys.
const framesPerSecond = 10

// Run shows a campaign until ctx ends, and leaves the terminal as it was. The campaign never waits for it: the screen looks at the source
// by itself. An error other than [ErrStalled] is a failure of ours.
func Run(ctx context.Context, src Source, ctl Control, o Options) error {
	before, err := term.GetState(int(o.In.Fd()))
	if err != nil {
		return fmt.Errorf("starting the screen: %w", err)
	}
	m := newScreen(src, ctl, o.ASCII, cmp.Or(o.Every, time.Second/2))
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), tea.WithInput(o.In), tea.WithOutput(o.Out))
	m.suspend = func() tea.Msg { return suspend(p) }
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(stallTime): // the goroutine is left behind: nothing ends a write to a terminal that is stopped
			_ = term.Restore(int(o.In.Fd()), before)
			return ErrStalled
		}
	}
	if errors.Is(err, tea.ErrProgramPanic) || err != nil && !errors.Is(err, tea.ErrProgramKilled) { // a panic wraps both
		return fmt.Errorf("showing the screen: %w", err)
	}
	return nil
}

// tickerTime is how long Bubble Tea has to stop the ticker of its renderer once the terminal is released. It does so in a goroutine of its own, and
// one that came to it only after the terminal was restored would stop the ticker of the next renderer: the screen stayed empty (v2.1.1).
const tickerTime = 50 * time.Millisecond

// suspend stops the process and those of its group, as Ctrl-Z does, until it is continued. It is tea.Suspend with tickerTime.
func suspend(p *tea.Program) tea.Msg {
	if p.ReleaseTerminal() != nil {
		return nil
	}
	time.Sleep(tickerTime)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	<-continued
	_ = p.RestoreTerminal()
	return tea.ResumeMsg{}
}
