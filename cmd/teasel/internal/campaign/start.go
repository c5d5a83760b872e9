package campaign

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/internal/clock"
)

// awaited says what a target has to do before a campaign, by kind.
var awaited = map[string]string{
	"mcp":    "the server to start, answer initialize and list what it has",
	"net":    "the server to start and listen",
	"native": "the program to run once",
}

// slowStart is how long a target may take to start before that counts towards the duration of its campaign, and is said.
const slowStart = 5 * time.Second

// planned has a verb plan its campaign, for which the target is started, and says what is waited for if that takes long.
func planned[T any](cmd *cobra.Command, kind string, v Verb[T], leave func() error) (*Plan[T], error) {
	began := time.Now()
	done := progress.Wait(cmd.ErrOrStderr(), "waiting for "+awaited[kind])
	p, err := v.Plan(cmd.Context(), cmd.ErrOrStderr(), leave)
	done()
	if err == nil {
		p.started = time.Since(began)
	}
	return p, err
}

// left returns how much of the campaign's duration is left when the target was started once; 0: it has none.
func (p *Plan[T]) left(w io.Writer) (time.Duration, error) {
	d := p.Options.Duration
	if d == 0 || p.started < slowStart {
		return d, nil
	}
	if d -= p.started; d <= 0 {
		return 0, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("getting the target ready took %s, and --duration %v is over: nothing was tested", clock.Tenths(p.started), p.Options.Duration), Hint: p.slowHint()}
	}
	fmt.Fprintf(w, "teasel: getting the target ready took %s, which counts towards --duration\n", clock.Tenths(p.started))
	return d, nil
}

// slowHint says what to do about a target that is slow to start.
func (p *Plan[T]) slowHint() string {
	return fmt.Sprintf("starting the target and looking at it takes about %s: give it a longer --duration", clock.Tenths(p.started))
}

// explainStart has the error of a campaign in which nothing was tested say that the target is slow to start, if it is.
func (p *Plan[T]) explainStart(nothing error) error {
	var e *exit.Error
	if p.started >= slowStart && errors.As(nothing, &e) {
		e.Hint = p.slowHint()
	}
	return nothing
}
