package netproto

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// awaitGone returns when the process whose number is in a file has ended.
func awaitGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, syscall.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	const enough = 30_000 // ms
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, enough); n == 0 || err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d, which a command has started, is left", pid)
	}
}

// A child of a health check that outlives the shell and holds its output does not keep the executor waiting, and does not stay.
func TestHealthCheckLeavesChild(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	target := plantedTarget(t, planted(t, "clang"))
	target.Model, target.Thorough = nil, true
	target.Health = []string{"sh", "-c", "sleep 1000 & echo $! >" + file}
	e := open(t, target)
	var o teasel.Observation
	if err := e.Exec(context.Background(), dialogue.Raw([]byte("x")), &o); err != nil || o.Exit > teasel.ExitRejected {
		t.Errorf("%v, %v", o.Exit, err)
	}
	awaitGone(t, file)
}

// What a reset leaves running is the user's until the executor is closed, and no longer.
func TestResetLeavesChild(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	target := plantedTarget(t, planted(t, "clang"))
	target.Model = nil
	target.Reset = []string{"sh", "-c", "sleep 1000 & echo $! >" + file}
	e, err := target.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := syscall.Kill(pid, 0); pid == 0 || err != nil {
		t.Errorf("process %d of the reset: %v", pid, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	awaitGone(t, file)
}

// A command that does not work on a server that nothing was sent to is the user's mistake, and no finding.
func TestCommandFailsAtStart(t *testing.T) {
	program := planted(t, "clang")
	for _, tt := range []struct {
		name          string
		health, reset []string
		want          []string
	}{
		{"health", []string{"sh", "-c", "echo no such thing; exit 3"}, nil, []string{"health check", "exit status 3", "no such thing"}},
		{"missing", []string{"/nonexistent/check"}, nil, []string{"health check", "/nonexistent/check", "no such file"}},
		{"reset", nil, []string{"sh", "-c", "echo no such table >&2; exit 4"}, []string{"reset", "exit status 4", "no such table"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := plantedTarget(t, program)
			target.Health, target.Reset = tt.health, tt.reset
			_, err := target.Inspect(context.Background())
			var failed *CommandError
			if !errors.As(err, &failed) || failed.Hint == "" {
				t.Fatalf("%v, want a CommandError with a hint", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error()+failed.Output, part) {
					t.Errorf("%q and %q do not say %q", err, failed.Output, part)
				}
			}
		})
	}
}
