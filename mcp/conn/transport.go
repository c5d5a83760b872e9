package conn

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

const (
	writeSlice = 100 * time.Millisecond // between two looks at what else has happened, while a server does not read
	closedTime = 2 * time.Second        // for a server to end after it has closed its standard output
	drainTime  = 200 * time.Millisecond // for what a dead server has written; somebody else may hold the pipe open
)

// ErrBlocked says that the server does not read what we write.
var ErrBlocked = errors.New("the server does not read its standard input")

// Transport carries lines to and from one server process. One goroutine uses it.
type Transport struct {
	Proc  *proc.Process
	Inbox *Inbox
	timer *time.Timer
	EOF   bool // we have closed standard input
	dead  bool // close has been called
}

// Dial starts a server. The error is that of the start.
func Dial(c proc.Command) (*Transport, error) {
	p, err := proc.Start(c)
	if err != nil {
		return nil, err
	}
	t := &Transport{Proc: p, Inbox: newInbox(), timer: time.NewTimer(time.Hour)}
	t.timer.Stop()
	go t.Inbox.read(p.Stdout)
	return t, nil
}

// Write sends b. When the server takes nothing for as long as patience, the error is ErrBlocked and n says how much
// it has taken. While it waits the inbox goes on filling, so that a server which waits for us to read does not.
func (t *Transport) Write(ctx context.Context, b []byte, patience time.Duration) (n int, err error) {
	var stuck time.Time
	for {
		t.Proc.Stdin.SetWriteDeadline(time.Now().Add(min(writeSlice, patience)))
		m, err := t.Proc.Stdin.Write(b[n:])
		n += m
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		now := time.Now()
		if m > 0 || stuck.IsZero() {
			stuck = now
		} else if now.Sub(stuck) >= patience {
			return n, ErrBlocked
		}
	}
}

// CloseInput tells the server that nothing more will come.
func (t *Transport) CloseInput() {
	t.EOF = true
	t.Proc.Stdin.Close()
}

// Wait returns when lines have come, when the server has ended, when d has passed or when the context is done.
func (t *Transport) Wait(ctx context.Context, d time.Duration) error {
	select {
	case <-t.Inbox.more:
		return nil
	default:
	}
	t.timer.Reset(d)
	defer t.timer.Stop()
	select {
	case <-t.Inbox.more:
	case <-t.Proc.Ended():
		// Nothing more is to be written, but something may be on its way.
		select {
		case <-t.Inbox.more:
		case <-t.Inbox.gone:
		case <-time.After(drainTime):
			return os.ErrProcessDone
		}
	case <-t.timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Reap says how a server ended whose output has ended, killing it if it lives on, and leaves nothing of it.
func (t *Transport) Reap(ctx context.Context) script.End {
	end := script.End{EOF: t.EOF}
	t.timer.Reset(closedTime)
	select {
	case <-t.Proc.Ended():
	case <-t.timer.C:
		end.Closed = true
	case <-ctx.Done():
	}
	t.timer.Stop()
	return t.finish(end)
}

// Kill ends a server that runs.
func (t *Transport) Kill() script.End { return t.finish(script.End{EOF: t.EOF}) }

func (t *Transport) finish(end script.End) script.End {
	t.Close()
	end.Stderr, _ = t.Proc.Stderr(0)
	switch s := t.Proc.State(); {
	case s.Aborted:
		end.Kind = script.EndKilled
	case s.Signal != 0:
		end.Kind, end.Signal = script.EndSignalled, s.Signal.String()
	default:
		end.Kind, end.Code = script.EndExited, s.Code
	}
	return end
}

// Close leaves nothing of the server and of our goroutines.
func (t *Transport) Close() error {
	if t.dead {
		return nil
	}
	t.dead = true
	err := t.Proc.Close()
	<-t.Inbox.gone
	return err
}
