package bench

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// Adopt makes this process the parent of what its children leave behind, so that [Used] counts it and [Reap] ends it.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting what children leave behind: %w", err)
	}
	return nil
}

// Used returns the processor time, in seconds, of all children that have been waited for.
func Used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// Reap ends all children that there are, and waits for them.
func Reap() error {
	for {
		children, err := proc.Children(os.Getpid())
		if err != nil {
			return fmt.Errorf("listing children: %w", err)
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
		switch _, err = syscall.Wait4(-1, nil, 0, nil); {
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("waiting for children: %w", err)
		}
	}
}
