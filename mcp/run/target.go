package run

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Target is an MCP server over stdio that is to be fuzzed. It is never changed, so that several workers may use it.
type Target struct {
	Command      []string         // the server's program and its arguments
	Env          []string         // added to our environment, NAME=value
	Dir          string           // working directory; "": ours
	Timeout      time.Duration    // for the answer to one request; 0: 5s
	StartTimeout time.Duration    // from the start of the process to the answer to initialize; 0: 30s
	Version      string           // the protocol version to ask for; "": the newest of Versions
	Window       int              // requests in flight; 0: 64
	Spares       int              // processes kept ready while they are needed often; 0: 3, or one for each processor if that is less
	Session      *session.Session // what Discover returned; nil: Open discovers by itself
	Canary       *script.Canary   // nil: none; it outlives the executors
	Exact        bool             // two campaigns have to run the same: no script is put off until a process has loaded for it

	// Blocked says of a tool that it must never be called; nil: none. A line that mentions such a tool is not sent,
	// whatever made it. Excluded says of one that it is not to be called, though nothing bad would come of it; nil: none. A
	// call of such a tool is not sent. Both are asked once for each tool, when an executor is opened.
	Blocked, Excluded func(tool string) bool
	Withheld          *script.Withheld // counts what is not sent; nil: nobody wants to know

	yields int // niceness of its servers, which are few; 0: it has all that it wants
}

var (
	_ teasel.Target[script.Script] = (*Target)(nil)
)

const (
	defaultTimeout      = 5 * time.Second
	defaultStartTimeout = 30 * time.Second
	defaultWindow       = 64
	defaultSpares       = 3
	niceness            = 3  // of servers in the background: half of a processor that somebody else wants
	pettyNiceness       = 10 // of those for what matters little: a tenth
)

// aside returns the target for an executor in the background.
func (t *Target) aside(nice int) *Target {
	b := *t
	b.yields, b.Spares = nice, 1
	return &b
}

// petty reports whether its servers are for what matters little.
func (t *Target) petty() bool { return t.yields >= pettyNiceness }

func (t *Target) timeout() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return defaultTimeout
}

func (t *Target) startTimeout() time.Duration {
	if t.StartTimeout > 0 {
		return t.StartTimeout
	}
	return defaultStartTimeout
}

func (t *Target) window() int {
	if t.Window > 0 {
		return t.Window
	}
	return defaultWindow
}

func (t *Target) spares() int {
	if t.Spares > 0 {
		return t.Spares
	}
	return min(runtime.NumCPU(), defaultSpares)
}

func (t *Target) version() string {
	if t.Version != "" {
		return t.Version
	}
	return session.Versions[len(session.Versions)-1]
}

// launch starts a process and says nothing to it.
func (t *Target) launch() (*server, error) {
	c := proc.Command{Args: t.Command, Env: t.Env, Dir: t.Dir}
	if t.Session != nil && t.Session.Process != nil {
		c = *t.Session.Process
	}
	c.Nice, c.Half = t.yields, t.petty()
	if t.Canary != nil {
		c.Env = slices.Concat(c.Env, t.Canary.Environ())
	}
	s, err := launch(c)
	if err != nil {
		return nil, conn.LaunchError(t.Command, err)
	}
	return s, nil
}

// shakeHands initializes the session of a process and returns the whole result of initialize.
func (t *Target) shakeHands(ctx context.Context, s *server) (jsonrpc.Message, error) {
	const during = "initialize"
	answer, noise, err := s.call(ctx, session.InitializeLine(t.version()), t.startTimeout())
	if err != nil {
		return answer, t.trouble(ctx, s, err, noise, during)
	}
	if answer.Error != nil {
		return answer, &conn.StartError{Command: t.Command,
			What: "refused initialize: " + shorten(answer.Error.String()),
			Hint: "ask for another protocol version, for example --protocol-version " + session.Versions[0]}
	}
	if _, err := s.Write(ctx, []byte(session.InitializedLine+"\n"), t.startTimeout()); err != nil {
		return answer, t.trouble(ctx, s, s.writeError(err), nil, "notifications/initialized")
	}
	return answer, nil
}

// trouble makes a [conn.StartError] of what went wrong with a process that is then of no more use. An error of the
// context stays what it is.
func (t *Target) trouble(ctx context.Context, s *server, err error, noise []byte, during string) error {
	switch {
	case errors.Is(err, errBroken):
		end := s.Reap(ctx)
		if end.Closed {
			return conn.BrokenError(t.Command, end, during)
		}
		return conn.EndedError(t.Command, end, during)
	case errors.Is(err, errEnded):
		return conn.EndedError(t.Command, s.Reap(ctx), during)
	case errors.Is(err, errSilent):
		end := s.Kill()
		if noise == nil && s.Inbox.Total.Load() > 1<<20 { // one line without end
			return conn.FloodError(t.Command, end.Stderr, during)
		}
		return conn.SilentError(t.Command, t.startTimeout(), noise, end.Stderr, during)
	case errors.Is(err, conn.ErrFlood):
		end := s.Kill()
		if noise != nil {
			return conn.SilentError(t.Command, t.startTimeout(), noise, end.Stderr, during)
		}
		return conn.FloodError(t.Command, end.Stderr, during)
	}
	return err
}

// shorten cuts a text that is shown in an error.
func shorten(s string) string {
	if len(s) > conn.ShownBytes {
		return s[:conn.ShownBytes] + "..."
	}
	return s
}
