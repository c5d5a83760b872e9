package mcp

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

const (
	writeSlice = 100 * time.Millisecond // between two looks at what else has happened, while a server does not read
	closedTime = 2 * time.Second        // for a server to end after it has closed its standard output
	drainTime  = 200 * time.Millisecond // for what a dead server has written; somebody else may hold the pipe open
)

// errBlocked says that the server does not read what we write.
var errBlocked = errors.New("the server does not read its standard input")

// transport carries lines to and from one server process. One goroutine uses it.
type transport struct {
	proc  *proc.Process
	inbox *inbox
	timer *time.Timer
	eof   bool // we have closed standard input
	dead  bool // close has been called
}

func dial(c proc.Command) (*transport, error) {
	p, err := proc.Start(c)
	if err != nil {
		return nil, err
	}
	t := &transport{proc: p, inbox: newInbox(), timer: time.NewTimer(time.Hour)}
	t.timer.Stop()
	go t.inbox.read(p.Stdout)
	return t, nil
}

// write sends b. When the server takes nothing for as long as patience, the error is errBlocked and n says how much
// it has taken. While it waits the inbox goes on filling, so that a server which waits for us to read does not.
func (t *transport) write(ctx context.Context, b []byte, patience time.Duration) (n int, err error) {
	var stuck time.Time
	for {
		t.proc.Stdin.SetWriteDeadline(time.Now().Add(min(writeSlice, patience)))
		m, err := t.proc.Stdin.Write(b[n:])
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
			return n, errBlocked
		}
	}
}

// closeInput tells the server that nothing more will come.
func (t *transport) closeInput() {
	t.eof = true
	t.proc.Stdin.Close()
}

// wait returns when lines have come, when the server has ended, when d has passed or when the context is done.
func (t *transport) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-t.inbox.more:
		return nil
	default:
	}
	t.timer.Reset(d)
	defer t.timer.Stop()
	select {
	case <-t.inbox.more:
	case <-t.proc.Ended():
		// Nothing more is to be written, but something may be on its way.
		select {
		case <-t.inbox.more:
		case <-t.inbox.gone:
		case <-time.After(drainTime):
			return os.ErrProcessDone
		}
	case <-t.timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// bury says how a server ended whose output has ended, killing it if it lives on, and leaves nothing of it.
func (t *transport) bury(ctx context.Context) End {
	end := End{EOF: t.eof}
	t.timer.Reset(closedTime)
	select {
	case <-t.proc.Ended():
	case <-t.timer.C:
		end.Closed = true
	case <-ctx.Done():
	}
	t.timer.Stop()
	return t.finish(end)
}

// kill ends a server that runs.
func (t *transport) kill() End { return t.finish(End{EOF: t.eof}) }

func (t *transport) finish(end End) End {
	t.close()
	end.Stderr, _ = t.proc.Stderr(0)
	switch s := t.proc.State(); {
	case s.Aborted:
		end.Kind = EndKilled
	case s.Signal != 0:
		end.Kind, end.Signal = EndSignalled, s.Signal.String()
	default:
		end.Kind, end.Code = EndExited, s.Code
	}
	return end
}

// close leaves nothing of the server and of our goroutines.
func (t *transport) close() error {
	if t.dead {
		return nil
	}
	t.dead = true
	err := t.proc.Close()
	<-t.inbox.gone
	return err
}
