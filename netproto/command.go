package netproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

const (
	commandTime = 10 * time.Second // that a command of the user's may take
	// lingerTime is how long the output of a command is waited for that has ended: a child that it has left may hold it.
	lingerTime = time.Second
	mostSaid   = 4 << 10 // bytes of its output that are kept
)

// CommandError is the error of a command of the user's, [Target].Health or Reset, that fails where it should not.
type CommandError struct {
	Reason string // one sentence without a full stop, with the command and how it ended
	Output string // the beginning of what it has written
	Hint   string // what may help
}

func (e *CommandError) Error() string { return e.Reason }

// tryCommands runs the user's commands once on a server that nothing was sent to. What fails then says nothing about the server.
func (e *executor) tryCommands(ctx context.Context) error {
	t := &e.target
	if len(t.Health) == 0 && len(t.Reset) == 0 {
		return nil
	}
	if e.down {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	if len(t.Reset) > 0 {
		if err := e.reset(ctx); err != nil {
			return err
		}
	}
	if len(t.Health) == 0 {
		return nil
	}
	if text, err := e.health(ctx); err != nil {
		return failedCommand(ctx, "health check", "fails before anything was sent to the server", t.Health, text, err)
	}
	return nil
}

// reset runs the user's command that makes the server as it was. What it leaves running may be needed: it is killed before the
// next reset, and when the executor is closed.
func (e *executor) reset(ctx context.Context) error {
	endCommand(e.resetGroup)
	if text, err := e.run(ctx, e.target.Reset, &e.resetGroup); err != nil {
		return failedCommand(ctx, "reset command", "fails", e.target.Reset, text, err)
	}
	return nil
}

// failedCommand explains a command that has failed.
func failedCommand(ctx context.Context, which, how string, command []string, output string, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	line := strings.Join(command, " ")
	if len(command) == 3 && command[0] == "sh" && command[1] == "-c" {
		line = command[2]
	}
	return &CommandError{
		Reason: fmt.Sprintf("the %s %s: %q: %v", which, how, line, cause),
		Output: output,
		Hint:   "run it by hand beside the server: it has to end with status 0; {port}, {dir} and {socket} in it stand for what the server has for itself",
	}
}

// health runs the user's health check. Nothing of it stays.
func (e *executor) health(ctx context.Context) (string, error) {
	group := 0
	text, err := e.run(ctx, e.target.Health, &group)
	endCommand(group)
	return text, err
}

// checkHealth asks the user's command how the server is.
func (e *executor) checkHealth(ctx context.Context, o *teasel.Observation) error {
	if len(e.target.Health) == 0 {
		return nil
	}
	text, err := e.health(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	first, _, _ := strings.Cut(text, "\n")
	e.fault(o, judge.FaultHealth, strings.TrimSpace(fmt.Sprintf("%v %s", err, first)))
	e.down = true
	return e.hangUp()
}

// run runs a command of the user's with the server's placeholders filled in, and returns what it says. It is in a process group
// of its own, whose number group is set to, and which is killed if the command is not done in time.
func (e *executor) run(ctx context.Context, command []string, group *int) (string, error) {
	limited, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = a
		if e.server != nil {
			args[i] = e.server.Fill(a)
		}
	}
	c := exec.CommandContext(limited, args[0], args[1:]...)
	c.Env = append(os.Environ(), commandMarker())
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = lingerTime
	var out beginning
	c.Stdout, c.Stderr = &out, &out
	start := c.Start
	if e.server != nil {
		start = func() error { return e.server.Start(c) }
	}
	if err := start(); err != nil {
		return "", err
	}
	err := c.Wait()
	*group = c.Process.Pid
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		err = fmt.Errorf("it has not ended after %v", commandTime)
	case errors.Is(err, exec.ErrWaitDelay): // its status is 0
		err = nil
	}
	return strings.TrimSpace(out.String()), err
}

// beginning is the first of what was written.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), mostSaid-b.Len())])
	return len(p), nil
}

// commandMarker is a variable that the user's commands and what they start have. Our guardians know its value too.
func commandMarker() string { return proc.MarkerPrefix() + "command" }

// endCommand kills what a command has left running in its process group. 0: there is none. The number of the group may be another's by now,
// which the environment tells.
func endCommand(group int) {
	if group == 0 || errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if of, err := unix.Getpgid(pid); err != nil || of != group {
			continue
		}
		if environ, err := os.ReadFile(file); err == nil && bytes.Contains(environ, []byte(commandMarker())) {
			_ = syscall.Kill(-group, syscall.SIGKILL)
			return
		}
	}
}
