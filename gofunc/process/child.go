package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Test is a typed fuzz test. The zero value of what is not said to be needed is a sensible default. It is read only while
// it is in use.
type Test struct {
	Binary  string        // what go test -c has built; needed
	Name    string        // FuzzX; needed
	Package string        // the package's import path, which tells its findings from those of other packages; "": there are none
	Dir     string        // of the package, where go test would run it; "": here
	Env     []string      // "": ours
	Race    bool          // the binary was built with the race detector
	Timeout time.Duration // of one input; 0: 10 seconds
	Memory  uint64        // bytes that a process may have in memory; 0: no limit

	Scratch string   // folder in which each process has a home and a temporary directory of its own; "": it has ours
	Sandbox bool     // each process runs in a sandbox, which needs Scratch and what the command does for --sandbox
	Allow   []string // what the sandbox is opened for, as --sandbox-allow has it

	// Statistics is a directory in which each worker writes pools-N.csv, with its number for N: a line about every second for what
	// each pool of the test has come to; "": nowhere.
	Statistics string

	Tested *atomic.Uint64 // counts the executions that the test has not skipped, of all workers; nil: nobody wants to know

	Seed         uint64   // of the campaign
	Runs         uint64   // executions of all workers of a [Campaign] together; 0: no limit
	Constants    []string // of the package's source, which are worth trying
	Tries        int      // times a finding is reproduced; 0: 3
	MinimizeRuns int      // executions to minimise an input that ends the process; 0: 256; negative: none, also of others
	Stages       []string // that make inputs, by the names of [policy.ChooseStages]; nil: all
}

const (
	defaultTimeout = 10 * time.Second
	graceTime      = 2 * time.Second // for the streams to be closed once the campaign has ended
)

// identity tells the fuzz test from all others.
func (t *Test) identity() string { return t.Package + " " + t.Name }

func (t *Test) timeout() time.Duration {
	if t.Timeout == 0 {
		return defaultTimeout
	}
	return t.Timeout
}

// child is a running test process.
type child struct {
	cmd      *exec.Cmd
	home     *isolation.Home
	page     *link.Page
	test     string // see identity
	race     bool   // see Test
	requests *os.File
	answers  *os.File
	stderr   *output
	stdout   *output // in the mode Serve
	marker   string
	watch    *proc.Watchdog
	killed   proc.Reason // why we have ended it; to be read when it has ended
}

// start starts a process. It is watched until wait has returned.
func (t *Test) start(ctx context.Context, s link.Settings) (_ *child, err error) {
	s.Version, s.Test, s.Constants = link.Version, t.identity(), s.Mode == link.Work && len(t.Constants) > 0
	env, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	c := &child{test: t.identity(), race: t.Race, marker: proc.NewMarker()}
	files, err := c.open()
	if err == nil && s.Constants {
		var f *os.File
		if f, err = t.constants(); err == nil {
			files = append(files, f)
		}
	}
	defer func() {
		for _, f := range files { // of the child alone
			_ = f.Close()
		}
	}()
	if err != nil {
		return nil, errors.Join(err, c.release())
	}
	c.cmd = exec.CommandContext(ctx, t.Binary, "-test.run=^"+t.Name+"$/^seed#0$", "-test.timeout=0", "-test.count=1")
	c.cmd.Dir, c.cmd.Env = t.Dir, t.Env
	if c.cmd.Env == nil {
		c.cmd.Env = os.Environ()
	}
	// A file in testdata that does not parse is not to end the process: the parent has read them.
	c.cmd.Env = slices.Concat(c.cmd.Env, overlay.Collector(c.cmd.Env, t.Memory), overlay.Races(c.cmd.Env))
	c.cmd.Env = append(c.cmd.Env, link.Environment+"="+string(env), overlay.CorpusEnvironment+"="+filepath.Join(t.Dir, "testdata", "fuzz", "none"))
	c.cmd.ExtraFiles = files
	c.stderr = &output{phase: func() uint64 {
		n, _ := c.page.Phase()
		return n
	}}
	c.cmd.Stderr = c.stderr
	if s.Mode == link.Serve { // package testing says there why it failed
		c.stdout = &output{}
		c.cmd.Stdout = c.stdout
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	c.cmd.Cancel = c.kill
	c.cmd.WaitDelay = graceTime
	if c.home, err = isolation.Make(isolation.Config{Scratch: t.Scratch, Sandbox: isolation.NewSandbox(t.Sandbox, t.Allow, []string{t.Binary}, t.Dir, t.written()...)}); err != nil {
		return nil, errors.Join(err, c.release())
	}
	c.cmd.Env = append(append(c.cmd.Env, c.home.Env()...), c.marker)
	if c.home.On() != nil { // a sandbox ends with us, and package syscall takes us for dead in there
		c.cmd.SysProcAttr.Pdeathsig = 0
	}
	if err := c.home.Do(c.cmd.Start); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the test: %w", err), c.release(), c.home.Close())
	}
	c.watch = proc.WatchGo(c.cmd.Process.Pid, t.Memory, c.input, nil)
	c.watch.Begin(t.timeout(), nil)
	return c, nil
}

// input returns the number of the input in flight, 0 if none is.
func (c *child) input() uint64 {
	n, running := c.page.Phase()
	if !running {
		return 0
	}
	return n
}

// written returns the folders that the process writes to for us.
func (t *Test) written() []string {
	if t.Statistics == "" {
		return nil
	}
	return []string{t.Statistics}
}

// open opens what the two processes share, and returns the child's files: link.RequestFile and those that follow.
func (c *child) open() (files []*os.File, err error) {
	down, requests, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	c.requests, files = requests, append(files, down)
	answers, up, err := os.Pipe()
	if err != nil {
		return files, fmt.Errorf("making a pipe: %w", err)
	}
	c.answers, files = answers, append(files, up)
	page, err := newPage()
	if err != nil {
		return files, err
	}
	files = append(files, page)
	c.page, err = link.Map(page)
	return files, err
}

// constants returns a file with the constants that are worth trying.
func (t *Test) constants() (*os.File, error) {
	f, err := newMemory("constants")
	if err != nil {
		return nil, err
	}
	err = link.WriteConstants(f, t.Constants)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart) // where the child begins to read
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// newMemory makes a file that is nowhere but in memory.
func newMemory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate("teasel", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making shared memory: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func newPage() (*os.File, error) {
	f, err := newMemory("page")
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(link.PageSize); err != nil {
		return nil, errors.Join(fmt.Errorf("making shared memory: %w", err), f.Close())
	}
	return f, nil
}

func (c *child) kill() error {
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// wait waits for the end of the process, and of all that it has started, and returns how it was.
func (c *child) wait() syscall.WaitStatus {
	pid := c.cmd.Process.Pid
	proc.AwaitEnd(pid)
	c.killed = c.watch.End()
	c.watch.Stop()
	_ = proc.KillAll(pid, c.marker) // what cannot be killed is not ours to report
	_ = c.cmd.Wait()                // the status says more
	_ = c.home.Close()              // if it fails, the folder is removed at the end
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status
}

// fault is what there is to judge of a child that has ended with an input.
func (c *child) fault(status syscall.WaitStatus) teasel.Finding {
	f := &judge.Failure{Cause: judge.CauseProcess, Text: strings.ToValidUTF8(c.stderr.String(), "?"), Status: status, Test: c.test, Race: c.race}
	switch {
	case c.killed == proc.MemoryLimit:
		f.Cause = judge.CauseMemory
	case c.killed == proc.Timeout && !judge.Fatal(f.Text): // an error of the runtime may take long to be written
		f.Cause = judge.CauseTimeout
	}
	return judge.Detect(&teasel.Observation{Evidence: f})[0]
}

// release gives back what was opened for the child.
func (c *child) release() (err error) {
	for _, f := range []*os.File{c.requests, c.answers} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if c.page != nil {
		err = errors.Join(err, c.page.Close())
	}
	return err
}
