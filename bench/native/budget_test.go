package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A process that works forever in a child ends when both together have used what they may.
func TestBudget(t *testing.T) {
	const most = 300 * time.Millisecond
	cmd := exec.Command("sh", "-c", "while :; do :; done & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var used time.Duration
	err := watched(cmd, func(pid int, done <-chan struct{}) error {
		return budget(pid, most, done, func() (err error) {
			used, err = spent(pid)
			return errors.Join(err, syscall.Kill(-pid, syscall.SIGKILL))
		})
	})
	if err != nil || used < most {
		t.Errorf("it was stopped after %v of processor time: %v", used, err)
	}
}

// A command that fails before its time is over has failed.
func TestBudgetOfFailure(t *testing.T) {
	err := watched(exec.Command("false"), func(pid int, done <-chan struct{}) error {
		return budget(pid, time.Hour, done, func() error { return errors.New("stopped") })
	})
	if e := (&exec.ExitError{}); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func TestForkExecutions(t *testing.T) {
	j := job{log: filepath.Join(t.TempDir(), "log")}
	text := "INFO: -fork=1: fuzzing in separate process(s)\n#340: cov: 12 ft: 15 corp: 3 exec/s: 170 oom/timeout/crash: 0/0/0 time: 2s job: 1 dft_time: 0\n" +
		"#1287: cov: 12 ft: 15 corp: 3 exec/s: 315 oom/timeout/crash: 0/0/0 time: 5s job: 2 dft_time: 0\nINFO: exiting\n"
	for want, text := range map[uint64]string{1287: text, 0: "INFO: -fork=1: fuzzing in separate process(s)\n"} {
		if err := os.WriteFile(j.log, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := forkExecutions(j); got != want || (err != nil) != (want == 0) {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
	}
}
