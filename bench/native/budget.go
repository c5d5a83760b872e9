package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

const (
	// slowest is how many times the processor time a fuzzer may run by the clock, where others keep the processor busy.
	slowest = 60
	// glance is how often a fuzzer's processor time is read, and so by how much it may exceed its own.
	glance = 200 * time.Millisecond
	// tick is the unit of times in /proc/PID/stat: Linux has USER_HZ at 100 on all machines.
	tick = time.Second / 100
)

// stopper asks a fuzzer to end, in the way in which it loses nothing. It returns when it has asked.
type stopper func(j job, pid int, done <-chan struct{}) error

func signalled(s syscall.Signal) stopper {
	return func(_ job, pid int, _ <-chan struct{}) error { return sent(pid, s) }
}

// sent signals a process, unless it has ended by itself meanwhile.
func sent(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stopping process %d: %w", pid, err)
	}
	return nil
}

// stopFork ends libFuzzer's fork mode. It asks the job that runs to end, and kills its parent when what that has found is in the corpus,
// which is when the next line of statistics is printed: the parent itself would drop the job, or wait for one that takes seconds more.
func stopFork(j job, pid int, done <-chan struct{}) error {
	before, _ := forkExecutions(j) // no job may have ended yet
	children, err := proc.Children(pid)
	if err != nil {
		return fmt.Errorf("listing the jobs of fork mode: %w", err)
	}
	for _, c := range children {
		// A job runs in a shell, or takes its place.
		grand, err := proc.Children(c)
		if err != nil {
			return fmt.Errorf("listing the jobs of fork mode: %w", err)
		}
		for _, p := range append(grand, c) {
			if err := usr1(p); err != nil {
				return err
			}
		}
	}
	for {
		select {
		case <-done:
			return nil
		case <-time.After(glance):
		}
		if now, _ := forkExecutions(j); now != before {
			return sent(pid, syscall.SIGKILL)
		}
	}
}

// usr1 asks a process to end gracefully, unless it is a shell, which would die of it.
func usr1(pid int) error {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || strings.TrimSpace(string(line)) == "sh" {
		return nil
	}
	return sent(pid, syscall.SIGUSR1)
}

// watched runs a command while watch looks after it. A command that watch has ended has not failed.
func watched(cmd *exec.Cmd, watch func(pid int, done <-chan struct{}) error) error {
	if watch == nil {
		return cmd.Run()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	done, result := make(chan struct{}), make(chan error, 1)
	go func() { result <- watch(cmd.Process.Pid, done) }()
	failed := cmd.Wait()
	close(done)
	switch err := <-result; {
	case errors.Is(err, errSpent):
		return nil
	case err != nil:
		return err
	}
	return failed
}

// errSpent says that a fuzzer was stopped since its processor time was used up.
var errSpent = errors.New("the processor time is used up")

// budget stops a process when it and its children have used so much processor time.
func budget(pid int, most time.Duration, done <-chan struct{}, stop func() error) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		used, err := spent(pid)
		if err != nil {
			return err
		}
		if used < most {
			continue
		}
		if err := stop(); err != nil {
			return err
		}
		return errSpent
	}
}

// spent returns the processor time of a process, of all its children that live, and of those that have been waited for. A process that has
// ended meanwhile has used none.
func spent(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	// The name, in parentheses, may contain anything; utime, stime, cutime and cstime are the 14th to the 17th field.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return 0, fmt.Errorf("reading the processor time of process %d: %q", pid, text)
	}
	var sum time.Duration
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
		}
		sum += time.Duration(n) * tick
	}
	children, err := proc.Children(pid)
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
	}
	for _, c := range children {
		more, err := spent(c)
		if err != nil {
			return 0, err
		}
		sum += more
	}
	return sum, nil
}
