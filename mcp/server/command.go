package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Command says how to start a server and to initialize its session.
type Command struct {
	Args         []string        // the program and its arguments; none: the server at URL runs already
	URL          string          // where it listens; "": it speaks over standard input and output. "{port}" in it, in Args and in Env is a free port.
	Header       []string        // lines of each request's head, "Name: value"
	TLS          *tls.Config     // of https; nil: the defaults
	Stateless    bool            // the server is spoken to in [session.StatelessVersion], without a handshake
	Events       bool            // HTTP+SSE of 2024-11-05: see [conn.HTTPConfig]
	Serial       bool            // one request at a time over HTTP: what arrives first must not depend on the clock
	Env          []string        // added to our environment, NAME=value
	Dir          string          // working directory; "": ours
	Nice         int             // added to our niceness; one that is not 0 leaves half of our processors to others
	Version      string          // the protocol version to ask for; "": the newest of [session.Versions]
	Timeout      time.Duration   // for the answer to one request; 0: [DefaultTimeout]
	StartTimeout time.Duration   // from the start of the process to the answer to initialize; 0: 30s
	Process      *session.Launch // what [Visit] found behind a launcher such as npx; nil: Args are run
	Scratch      string          // folder in which each process has a home and a temporary directory of its own; "": it has ours
	Sandbox      bool            // each process has a sandbox of its own too, which Allow opens; it needs Scratch
	Allow        []string        // see the flag --sandbox-allow
	Last         *LastSent       // keeps the last that a server was sent which is not ours; nil: nobody wants to know
	Shown        []string        // files and folders that can be read in the sandbox beside what the command names
}

// DefaultTimeout is how long an answer to a request may take.
const DefaultTimeout = 5 * time.Second

const defaultStartTimeout = 30 * time.Second

func (c *Command) timeout() time.Duration { return cmp.Or(c.Timeout, DefaultTimeout) }

func (c *Command) startTimeout() time.Duration { return cmp.Or(c.StartTimeout, defaultStartTimeout) }

func (c *Command) version() string {
	return cmp.Or(c.Version, session.Versions[len(session.Versions)-1])
}

// Start starts a process and sends it nothing. Its error is a [*StartError].
func (c *Command) Start() (*Server, error) {
	p := proc.Command{Args: c.Args, Dir: c.Dir}
	if c.Process != nil {
		p = proc.Command{Args: c.Process.Args, Env: c.Process.Env, Dir: c.Process.Dir}
	}
	r, err := c.makeHome(&p)
	if err != nil {
		return nil, err
	}
	p.Nice, p.Half = c.Nice, c.Nice > 0
	s, err := c.startWith(p, r)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	s.Client.Roots = script.NamedRoots(c.Args)
	return s, nil
}

// makeHome makes what a process has for itself, and adds it to how it is started. Variables that the user has set come last.
func (c *Command) makeHome(p *proc.Command) (r *isolation.Home, err error) {
	if len(c.Args) > 0 {
		of := slices.Concat(c.Args, p.Args, c.Shown) // behind a launcher there is another program
		r, err = isolation.Make(isolation.Config{Scratch: c.Scratch, Sandbox: isolation.NewSandbox(c.Sandbox, c.Allow, of, p.Dir)})
	}
	p.Env, p.On = slices.Concat(p.Env, r.Env(), c.Env), r.On()
	p.Bound = p.On != nil
	return r, err
}

func (c *Command) startWith(p proc.Command, r *isolation.Home) (*Server, error) {
	if c.URL != "" {
		return c.startHTTP(p, r)
	}
	s, err := start(p)
	if err != nil {
		return nil, c.launchError(err)
	}
	s.home = r
	return s, nil
}

// name is what the server is called in errors.
func (c *Command) name() []string {
	if len(c.Args) == 0 {
		return []string{c.URL}
	}
	return c.Args
}

// Initialize initializes the session of a server and returns the whole answer to initialize. Its error is a [*StartError], or that of
// the context.
func (c *Command) Initialize(ctx context.Context, s *Server) (jsonrpc.Message, error) {
	if c.Stateless {
		return c.discover(ctx, s)
	}
	const during = "initialize"
	answer, noise, err := s.call(ctx, session.InitializeLine(c.version()), c.startTimeout())
	if s.tryEvents(ctx, err) {
		answer, noise, err = s.call(ctx, session.InitializeLine(c.version()), c.startTimeout())
	}
	if err != nil {
		return answer, c.trouble(s, err, noise, during)
	}
	if answer.Error != nil {
		e := c.failed("refused initialize: " + shorten(answer.Error.String()))
		e.refused, e.declined, e.status = true, true, s.answered
		e.Hint = "ask for another protocol version, for example --protocol-version " + session.Versions[0]
		return answer, e
	}
	if s.http != nil && !s.reached.Events {
		version, _ := answer.Result.Get("protocolVersion").Str()
		s.http.SetVersion(headerValue(version))
	}
	s.Send(conn.Message{Body: []byte(session.InitializedLine), Fresh: true})
	if err := s.Flush(ctx, c.startTimeout()); err != nil {
		return answer, c.trouble(s, callError(err), nil, "notifications/initialized")
	}
	s.Uninitialized = false
	if s.listen() {
		c.Last.Begun(script.Step{Line: session.InitializeLine(c.version()), Head: "Mcp-Session-Id:"}, script.Step{Head: "GET"})
	}
	return answer, nil
}

func (c *Command) trouble(s *Server, err error, noise []byte, during string) error {
	switch {
	case errors.Is(err, conn.ErrRefused):
		return c.refusedError(s)
	case errors.Is(err, errStatus):
		return c.statusError(s, err, during)
	case errors.Is(err, conn.ErrBroken):
		end := s.End(true)
		if end.Closed {
			return c.brokenError(end, during)
		}
		return c.endedError(end, during)
	case errors.Is(err, errEnded):
		return c.endedError(s.End(true), during)
	case errors.Is(err, errSilent):
		end := s.End(false)
		if noise == nil && s.Received() > 1<<20 { // one line without end
			return c.floodError(end.Stderr, during)
		}
		return c.silentError(noise, end.Stderr, during)
	case errors.Is(err, conn.ErrFlood):
		end := s.End(false)
		if noise != nil {
			return c.silentError(noise, end.Stderr, during)
		}
		return c.floodError(end.Stderr, during)
	}
	return err
}

// shorten cuts a text that is shown in an error.
func shorten(s string) string {
	if len(s) > shownBytes {
		return s[:shownBytes] + "..."
	}
	return s
}
