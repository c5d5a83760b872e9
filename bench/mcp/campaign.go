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
	peak := make(chan int64)
	done := make(chan struct{})
	go func() { peak <- watchMemory(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	memory := <-peak

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
	return sample{rate: sum.ExecutionsPerSecond, peak: memory}, nil
}

// watchMemory samples a process's peak resident memory in bytes until done. A
// child's rusage would not do: it counts the child's own children too.
func watchMemory(pid int, done <-chan struct{}) (peak int64) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if p, ok := peakMemory(pid); ok {
			peak = max(peak, p)
		}
		select {
		case <-done:
			return peak
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
