package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// silence is how long a server that is fed from a file says nothing before it counts as done, and starting how long it may take to begin.
const silence, starting = 2 * time.Second, 30 * time.Second

// serverAlone measures how many of a campaign's own messages the server takes in a second of the processor when nothing else is done with
// them: they are recorded, and then played to a fresh server as fast as it reads. No fuzzer that sends the same can be faster on one core.
func serverAlone(ctx context.Context, s settings, round int) (sample, error) {
	dir, err := os.MkdirTemp("", "teasel-bench-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(dir)
	recorded := s
	recorded.server = append([]string{"sh", "-c", `tee "$0.$$" | "$@"`, filepath.Join(dir, "server")}, s.server...)
	if _, err := campaign(ctx, recorded, fmt.Sprintf("recorded-%d", round), round, "--include", s.tool); err != nil {
		return sample{}, err
	}
	// Findings are confirmed on servers of their own, which get little.
	most, err := largest(dir)
	if err != nil {
		return sample{}, err
	}
	start, err := played(ctx, s.server, nil)
	if err != nil {
		return sample{}, err
	}
	used, err := played(ctx, s.server, most)
	if err == nil && used <= start {
		err = errors.New("the server has done nothing with what was recorded")
	}
	return sample{rate: float64(bytes.Count(most, []byte("\n"))) / (used - start).Seconds(), servers: used}, err
}

// largest returns what is in the largest file of a directory.
func largest(dir string) (most []byte, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		if len(text) > len(most) {
			most = text
		}
	}
	return most, nil
}

// played starts a server whose input is text, ends it when it says nothing any more, and returns what it has used of the processor.
func played(ctx context.Context, server []string, text []byte) (used time.Duration, err error) {
	cmd := exec.CommandContext(ctx, server[0], server[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd.Stdout = write
	err = cmd.Start()
	write.Close()
	if err != nil {
		return 0, err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = in.Write(text) // it may end before it has read all
	}()
	buf, wait := make([]byte, pipeSize), silence
	if len(text) > 0 {
		wait = starting
	}
	for ; err == nil; wait = silence {
		_ = out.SetReadDeadline(time.Now().Add(wait)) // a pipe has deadlines
		_, err = out.Read(buf)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	_ = cmd.Cancel()
	<-written
	_ = cmd.Wait() // killed: its status says nothing
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}
