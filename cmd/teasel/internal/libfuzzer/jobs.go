package libfuzzer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
)

// jobGrace is how long an interrupted job may take to end.
const jobGrace = time.Minute

// runJobs runs as many campaigns as -jobs says, -workers of them at a time, each in a process of its own that writes to
// fuzz-N.log, which is copied to standard error when the job has ended.
func (h *harness) runJobs(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := append([]string{self, "libfuzzer", fmt.Sprintf("--main=%d", len(h.command)-1), "--"}, h.command...)
	for _, a := range args {
		if !strings.HasPrefix(a, "-jobs=") && !strings.HasPrefix(a, "-workers=") {
			command = append(command, a)
		}
	}
	workers := h.workers
	if workers <= 0 {
		workers = runtime.NumCPU() / 2
	}
	workers = max(1, min(workers, h.jobs))
	h.printf("Running %d workers\n", workers)
	jobs := make(chan int)
	var running sync.WaitGroup
	var mu sync.Mutex
	failed := false
	for range workers {
		running.Go(func() {
			runtime.LockOSThread() // by Pdeathsig the kernel ends a job when the thread that started it ends
			defer runtime.UnlockOSThread()
			for n := range jobs {
				name := fmt.Sprintf("fuzz-%d.log", n)
				status, err := runJob(ctx, command, name)
				mu.Lock()
				failed = failed || status != exit.StatusOK
				if err != nil {
					h.printf("job %d: %v\n", n, err)
				}
				h.printf("================== Job %d exited with exit code %d ============\n", n, status)
				copyLog(h.w, name)
				mu.Unlock()
			}
		})
	}
	for n := 0; n < h.jobs && ctx.Err() == nil; n++ {
		select {
		case jobs <- n:
		case <-ctx.Done():
		}
	}
	close(jobs)
	running.Wait()
	if failed && ctx.Err() == nil {
		return &exit.Error{Status: statusError}
	}
	return nil
}

// runJob runs one job and returns its exit status.
func runJob(ctx context.Context, command []string, name string) (status int, err error) {
	log, err := os.Create(name)
	if err != nil {
		return statusError, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	job := exec.CommandContext(ctx, command[0], command[1:]...)
	job.Stdout, job.Stderr = log, log
	job.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	job.Cancel = func() error { return job.Process.Signal(os.Interrupt) }
	job.WaitDelay = jobGrace
	err = job.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	if err != nil {
		return statusError, err
	}
	return exit.StatusOK, nil
}

// copyLog copies the log of a job that has ended.
func copyLog(w io.Writer, name string) {
	if f, err := os.Open(name); err == nil {
		io.Copy(w, f)
		f.Close()
	}
}
