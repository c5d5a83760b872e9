package netproto

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// sendFixed sends the teardown messages.
func (t *talk) sendFixed(ctx context.Context, d *dialogue.Dialogue) error {
	if d == nil {
		return nil
	}
	for i := range d.Messages {
		if err := t.say(ctx, d, i); err != nil || t.over {
			return err
		}
	}
	return nil
}

// say sends message i of what is not fuzzed and hears the answer, which t.heard names.
func (t *talk) say(ctx context.Context, d *dialogue.Dialogue, i int) error {
	e := t.e
	t.heard = ""
	if e.link.End() != conn.EndOpen {
		return nil
	}
	e.session.Begin(d)
	t.asked, t.fixed = d.Messages[i].Name, true
	defer func() { t.asked, t.fixed = "", false }()
	if err := t.send(ctx, e.session.Render(i), d.Messages[i].Name); err != nil || t.over {
		return err
	}
	return t.hear(ctx, i)
}

// bootstrap says what has to be said once on a new connection, each message as often as the model allows until the answer is
// the expected one. If none is, the dialogue goes on as one that the server refuses.
func (t *talk) bootstrap(ctx context.Context) error {
	d := t.e.session.Bootstrap()
	if d == nil {
		return nil
	}
	for i := range d.Messages {
		step := &t.e.target.Model.Bootstrap[i]
		for try := 1; ; try++ {
			if err := t.say(ctx, d, i); err != nil || t.over {
				return err
			}
			if expected(t.heard, step.Expect) {
				break
			}
			if try >= step.Attempts || t.e.link.End() != conn.EndOpen {
				t.refused, t.unready = true, step
				return nil
			}
			if err := wait(ctx, step.Delay); err != nil {
				return err
			}
		}
	}
	return nil
}

func expected(heard string, names []string) bool {
	return len(names) == 0 || slices.Contains(names, heard)
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// pulse is that of a connection that is kept.
type pulse struct {
	beat       time.Time // when it was kept alive last
	unanswered int       // how often in vain
}

// heartbeat says on a connection that was kept what keeps it alive, if it is time to. A connection on which it was not answered
// as often as the model allows is given up for a new one.
func (t *talk) heartbeat(ctx context.Context) error {
	e := t.e
	d := e.session.Heartbeat()
	if d == nil || !e.target.Keep {
		return nil
	}
	h := e.target.Model.Heartbeat
	if t.fresh {
		e.beat, e.unanswered = time.Now(), 0
		return nil
	}
	if time.Since(e.beat) < h.Every {
		return nil
	}
	e.beat = time.Now()
	reached, before := len(e.responses.all), e.responses.before
	if err := t.say(ctx, d, 0); err != nil || t.over {
		return err
	}
	e.responses.all, e.responses.before = e.responses.all[:reached], before // it is nothing that the dialogue has reached
	if expected(t.heard, h.Expect) {
		e.unanswered = 0
		return nil
	}
	if e.unanswered++; e.unanswered < h.Failures {
		return nil
	}
	e.unanswered = 0
	return t.reconnect(ctx)
}

// unreadyError says that the server does not answer as the model's bootstrap has it.
func unreadyError(s *model.Step, heard string) *StartError {
	if heard == "" {
		heard = "no response that the model knows"
	}
	return &StartError{
		Reason: "the answer to " + s.Send + ", which the model's bootstrap sends, is " + heard + ", expected is " + strings.Join(s.Expect, " or "),
		Hint:   "'teasel net check MODEL' shows what is sent; change the model, or the server's configuration",
	}
}
