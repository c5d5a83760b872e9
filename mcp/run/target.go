package run

import (
	"cmp"
	"context"
	"crypto/tls"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Target is an MCP server that is to be fuzzed. It is never changed, so that several workers may use it.
type Target struct {
	Command      []string         // the server's program and its arguments; none: the server at URL runs already
	URL          string           // where the server listens, for one over HTTP; "": it speaks over standard input and output. See [server.PortWord]
	Header       []string         // lines of the head of each HTTP request, "Name: value"
	TLS          *tls.Config      // of https; nil: the defaults
	Env          []string         // added to our environment, NAME=value
	Dir          string           // working directory; "": ours
	Timeout      time.Duration    // for the answer to one request; 0: 5s
	StartTimeout time.Duration    // from the start of the process to the answer to initialize; 0: 30s
	Stateless    bool             // the server is spoken to in [session.StatelessVersion], which has no handshake
	Version      string           // the protocol version to ask for; "": the newest of Versions
	Window       int              // requests in flight; 0: 64
	Spares       int              // processes kept ready while they are needed often; 0: 3, or one for each processor if that is less
	Session      *session.Session // what Discover returned; nil: Open discovers by itself
	Canary       *script.Canary   // nil: none; it outlives the executors
	Scratch      string           // folder in which each server has a home and a temporary directory of its own; "": it has ours
	Sandbox      bool             // each server runs in a sandbox, which needs Scratch and what the command does for --sandbox
	Allow        []string         // what the sandbox is opened for, as --sandbox-allow has it
	Exact        bool             // two campaigns have to run the same: nothing is suspended, runs in the background or has less time since it is probably slow

	// Blocked says of a tool that it must never be called; nil: none. A line that mentions such a tool is not sent,
	// whatever made it. Excluded says of one that it is not to be called, though nothing bad would come of it; nil: none. A
	// call of such a tool is not sent. Both are asked once for each tool, when an executor is opened.
	Blocked, Excluded func(tool string) bool
	Withheld          *script.Withheld // counts what is not sent; nil: nobody wants to know
	Rate              *proc.Rate       // limits the requests of a second, by all executors together, to PerSecond; nil: nothing does
	PerSecond         int
	Called            *atomic.Uint64 // counts the calls of tools that the server has; nil: nobody wants to know

	Last *LastSent // keeps the last that a server was sent which is not ours; nil: nobody wants to know

	nice int // niceness of its servers, which are few; 0: it has all that it wants
}

var _ teasel.Target[script.Script] = (*Target)(nil)

const (
	defaultTimeout      = 5 * time.Second
	defaultStartTimeout = 30 * time.Second
	defaultWindow       = 64
	defaultSpares       = 3
	niceness            = 3  // of servers on which findings are confirmed: half of a processor that somebody else wants
	lowNiceness         = 19 // of servers on which scripts run in the background: what is left
)

// background returns the target for an executor in the background.
func (t *Target) background(nice int) *Target {
	b := *t
	b.nice, b.Spares = nice, 1
	return &b
}

// soon is how long a server that was never silent before is given in an execution that will be repeated.
func (t *Target) soon() time.Duration { return max(t.timeout()/soonShare, 2*conn.Slice) }

func (t *Target) timeout() time.Duration      { return cmp.Or(t.Timeout, defaultTimeout) }
func (t *Target) startTimeout() time.Duration { return cmp.Or(t.StartTimeout, defaultStartTimeout) }
func (t *Target) window() int                 { return cmp.Or(t.Window, defaultWindow) }
func (t *Target) spares() int                 { return cmp.Or(t.Spares, min(runtime.NumCPU(), defaultSpares)) }
func (t *Target) version() string {
	return cmp.Or(t.Version, session.Versions[len(session.Versions)-1])
}

// command returns how to start a server.
func (t *Target) command() *server.Command {
	c := &server.Command{Args: t.Command, URL: t.URL, Header: t.Header, TLS: t.TLS, Serial: t.Exact, Stateless: t.Stateless, Env: t.Env, Dir: t.Dir, Nice: t.nice, Version: t.version(),
		Timeout: t.timeout(), StartTimeout: t.startTimeout(), Scratch: t.Scratch, Sandbox: t.Sandbox, Allow: t.Allow}
	if t.Session != nil {
		c.Process, c.Events = t.Session.Process, t.Session.Events
	}
	if t.Canary != nil {
		c.Env, c.Shown = slices.Concat(c.Env, t.Canary.Environ()), t.Canary.Places()
	}
	return c
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
