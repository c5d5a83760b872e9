package run

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
	"golang.org/x/time/rate"
)

// Target is an MCP server that is to be fuzzed. It is never changed, so that several workers may use it.
type Target struct {
	server.Command // Session, Canary and Exact add to it

	Window  int              // requests in flight; 0: 64
	Spares  int              // processes kept ready while they are needed often; 0: 3, or one for each processor if that is less
	Session *session.Session // what Discover returned; nil: Open discovers by itself
	Canary  *script.Canary   // nil: none; it outlives the executors
	Exact   bool             // two campaigns have to run the same: nothing is suspended, runs in the background or has less time since it is probably slow

	// Blocked says of a tool that it must never be called; nil: none. A line that mentions such a tool is not sent,
	// whatever made it. Excluded says of one that it is not to be called, though nothing bad would come of it; nil: none. A
	// call of such a tool is not sent. Both are asked once for each tool, when an executor is opened.
	Blocked, Excluded func(tool string) bool
	Withheld          *script.Withheld // counts what is not sent; nil: nobody wants to know
	Rate              *rate.Limiter    // limits the requests of a second, by all executors together, with a burst of one; nil: nothing does
	Called            *atomic.Uint64   // counts the calls of tools that the server has; nil: nobody wants to know
}

var _ teasel.Target[script.Script] = (*Target)(nil)

const (
	defaultWindow = 64
	defaultSpares = 3
	niceness      = 3  // of servers on which findings are confirmed: half of a processor that somebody else wants
	lowNiceness   = 19 // of servers on which scripts run in the background: what is left
)

// background returns the target for an executor in the background, whose servers are few.
func (t *Target) background(nice int) *Target {
	b := *t
	b.Nice, b.Spares = nice, 1
	return &b
}

// soon is how long a server that was never silent before is given in an execution that will be repeated.
func (t *Target) soon() time.Duration { return max(t.timeout()/soonShare, 2*conn.Slice) }

func (t *Target) timeout() time.Duration { return cmp.Or(t.Timeout, server.DefaultTimeout) }
func (t *Target) window() int            { return cmp.Or(t.Window, defaultWindow) }
func (t *Target) spares() int            { return cmp.Or(t.Spares, min(runtime.NumCPU(), defaultSpares)) }

// command returns how to start a server.
func (t *Target) command() *server.Command {
	c := t.Command
	c.Serial = t.Exact
	if t.Session != nil {
		c.Process, c.Events = t.Session.Process, t.Session.Events
		if len(c.Args) == 0 { // it has been up for long
			c.StartTimeout = t.timeout()
		}
	}
	if t.Canary != nil {
		c.Env, c.Shown = slices.Concat(c.Env, t.Canary.Environ()), t.Canary.Places()
	}
	return &c
}

// Visit starts the server and asks what there is. When the server cannot be used at all the error is a [*server.StartError]; what is
// wrong with a list is in the session's Trouble. The caller closes the visit.
func (t *Target) Visit(ctx context.Context) (*server.Visit, error) { return t.command().Visit(ctx) }

// Discover starts the server, asks what there is, and ends it. Its errors are those of Visit.
func (t *Target) Discover(ctx context.Context) (*session.Session, error) {
	v, err := t.Visit(ctx)
	if err != nil {
		return nil, err
	}
	v.Close()
	return v.Session, nil
}

// launch starts a server and sends it nothing.
func (t *Target) launch() (*peer, error) {
	s, err := t.command().Start()
	if err != nil {
		return nil, err
	}
	return newPeer(s), nil
}
