package conn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Unix socket whose backlog stays full is one that takes no connection within the limit, and one that gets room takes it.
func TestUnixBacklogIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(l)
	if err := errors.Join(unix.Bind(l, &unix.SockaddrUnix{Name: path}), unix.Listen(l, 1)); err != nil {
		t.Fatal(err)
	}
	a := Address{Network: Unix, Path: path}
	const most = 10
	for i := 0; ; i++ {
		c, err := Dial(context.Background(), a, 5*time.Millisecond)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil || i == most {
			t.Fatalf("connection %d: %v, want %v", i, err, os.ErrDeadlineExceeded)
		}
		defer c.Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dial(ctx, a, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	accepted := make(chan error)
	go func() {
		fd, _, err := unix.Accept(l)
		accepted <- errors.Join(err, unix.Close(fd))
	}()
	c, err := Dial(context.Background(), a, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-accepted, c.Close()); err != nil {
		t.Error(err)
	}
}
