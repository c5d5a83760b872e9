package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// summary is the part of teasel's closing JSON object that is read here.
type summary struct {
	Executions          int64   `json:"executions"`
	ExecutionsPerSecond float64 `json:"executions_per_second"`
}

// campaign runs teasel on the server with one worker, and extra flags.
func campaign(ctx context.Context, s settings, name string, seed int, extra ...string) (sample, error) {
	args := append([]string{"mcp",
		"--workers", "1", "--format", "json", "--no-ui",
		"--seed", strconv.Itoa(seed + 1),
		"--duration", s.duration.String(),
		"--out", filepath.Join(s.out, name),
	}, extra...)
	if s.url != "" {
		args = append(args, "--url", s.url, "--env", s.env)
	}
	args = append(append(args, "--"), s.server...)

	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, s.teasel, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// An interrupt, not a kill: teasel ends its server and its campaign.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	seen := make(chan use)
	done := make(chan struct{})
	go func() { seen <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	own := <-seen

	// Status 1 says that there are findings, which is no failure here.
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return sample{}, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	var sum summary
	if err := json.Unmarshal(stdout.Bytes(), &sum); err != nil {
		return sample{}, fmt.Errorf("reading teasel's summary: %w\n%s", err, stderr.Bytes())
	}
	if sum.Executions == 0 {
		return sample{}, errors.New("teasel reports no execution")
	}
	all := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() // what it has waited for included
	return sample{rate: sum.ExecutionsPerSecond, peak: own.memory, fuzzer: own.processor, servers: max(all-own.processor, 0)}, nil
}

// use is what a process has used by itself, without what it has started. A child's rusage would not do: it counts the child's own
// children too.
type use struct {
	memory    int64 // bytes that were resident at most
	processor time.Duration
}

// watch samples what a process uses until done.
func watch(pid int, done <-chan struct{}) (u use) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if m, ok := peakMemory(pid); ok {
			u.memory = max(u.memory, m)
		}
		if p, ok := proc.ProcessorTime(pid); ok {
			u.processor = max(u.processor, p)
		}
		select {
		case <-done:
			return u
		case <-tick.C:
		}
	}
}

// peakMemory reads VmHWM, in bytes; not ok where there is no such process, or no /proc.
func peakMemory(pid int) (peak int64, ok bool) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if v, found := strings.CutPrefix(sc.Text(), "VmHWM:"); found {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}
