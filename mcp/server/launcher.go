package server

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// launchers are programs that look for a server, start it and wait for it to end.
var launchers = []string{"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "uvx", "uv", "pipx"}

// maxLaunch is how many launchers and shells may stand before a server.
const maxLaunch = 8

// behind returns what a running server was started with by the launcher in the target's command; nil: there is none, or
// that cannot be known. A launcher takes longer to start than most servers, and passes neither signals nor exit statuses
// on as they are.
func (c *Command) behind(s *Server) *session.Launch {
	if c.URL != "" || !slices.Contains(launchers, filepath.Base(c.Args[0])) { // behind it the port is a number
		return nil
	}
	pid := s.proc.PID()
	for range maxLaunch {
		p, program, err := proc.Image(pid)
		if err != nil {
			return nil
		}
		if !isLauncher(p.Args) {
			p.Args[0] = program
			return &session.Launch{Args: p.Args, Env: p.Env, Dir: p.Dir}
		}
		children, err := proc.Children(pid)
		if err != nil || len(children) != 1 {
			return nil
		}
		pid = children[0]
	}
	return nil
}

// isLauncher reports whether a process only waits for another one.
func isLauncher(args []string) bool {
	title, _, _ := strings.Cut(args[0], " ") // npm calls itself "npm exec NAME"
	name := filepath.Base(args[0])
	switch name {
	case "sh", "bash", "dash", "zsh":
		return len(args) > 1 && args[1] == "-c"
	case "node", "python", "python3": // which may run a launcher's own script, such as npx-cli.js
		if len(args) == 1 {
			return false
		}
		name, _, _ = strings.Cut(filepath.Base(args[1]), ".")
		name = strings.TrimSuffix(name, "-cli")
	}
	return slices.Contains(launchers, name) || slices.Contains(launchers, title)
}

// shortcut notes how to start the server without its launcher, if that gives the same server.
func (c *Command) shortcut(ctx context.Context, found *session.Session, p *session.Launch) error {
	direct := *c
	direct.Process, direct.Nice = p, 0
	s, err := direct.Start()
	if err != nil {
		return ctx.Err()
	}
	defer s.Stop()
	answer, err := c.Initialize(ctx, s)
	if err != nil {
		return ctx.Err()
	}
	if answer.Result.String() == found.Initialize.String() {
		found.Process, found.Direct = p, p.Args
	}
	return nil
}
