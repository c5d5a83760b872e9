package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/fleet"
)

// TestMain is teasel-hub if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("TEASEL_HUB_TEST") != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// command runs a program to its end.
func command(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// copyFiles copies files of the project to a directory.
func copyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// freePort returns a port that nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().(*net.TCPAddr).Port
}

// TestFleet has teasel and the hub work together as users start them.
func TestFleet(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "teasel")
	command(t, ".", "go", "build", "-o", program, "../teasel")
	t.Run("Kills", func(t *testing.T) { t.Parallel(); testKills(t, program) })
	t.Run("Stopped", func(t *testing.T) { t.Parallel(); testStopped(t, program) })
}

// A machine does not begin in a fleet that was told to stop, and says what to do.
func testStopped(t *testing.T, program string) {
	address := "127.0.0.1:" + strconv.Itoa(freePort(t))
	ctx, stop := context.WithCancel(t.Context())
	var stderr buffer
	ended := make(chan int)
	dir := t.TempDir()
	go func() {
		ended <- run(ctx, []string{"--dir", filepath.Join(dir, "hub"), "--listen", address}, &stderr, &stderr)
	}()
	defer func() { stop(); <-ended }()
	for !strings.Contains(stderr.String(), "listening") {
		time.Sleep(20 * time.Millisecond)
	}
	url := "nats://" + address
	l, err := fleet.Dial(fleet.Config{URL: url, Campaign: "c", Machine: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Give(ctx, fleet.Order{State: fleet.Stopped}); err != nil {
		t.Fatal(err)
	}
	demo := func(state fleet.State, status int, words string) {
		c := exec.CommandContext(ctx, program, "demo", "--no-ui", "--hub", url, "--hub-name", "c", "--duration", "1s", "--out", filepath.Join(dir, string(state)))
		out, _ := c.CombinedOutput() // its status says how it was
		if c.ProcessState.ExitCode() != status || !bytes.Contains(out, []byte(words)) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", state, c.ProcessState.ExitCode(), status, words, out)
		}
	}
	demo(fleet.Stopped, 2, "hint: 'teasel fleet "+url+" resume --hub-name c'")
	if err := l.Give(ctx, fleet.Order{State: fleet.Running}); err != nil {
		t.Fatal(err)
	}
	demo(fleet.Running, 1, "part of campaign c")
}
