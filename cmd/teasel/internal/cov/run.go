package cov

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/native"
)

// maxFiles is how many files a harness gets at a time.
const maxFiles = 128

// Run runs inputs, and warns of those that did not end well. The result counts them as far as their profiles were written.
func (c *coverage) Run(ctx context.Context, seeds []corpus.Seed, stderr io.Writer) (err error) {
	if len(seeds) == 0 {
		return exit.Usage("", "there are no inputs")
	}
	if c.temp, err = os.MkdirTemp("", "teasel-cov-"); err != nil {
		return exit.Failure(err)
	}
	var files []string
	for i, s := range seeds {
		path := filepath.Join(c.temp, fmt.Sprintf("input-%06d", i))
		if err := os.WriteFile(path, s.Data, 0o600); err != nil {
			return exit.Failure(fmt.Errorf("writing an input: %w", err))
		}
		files = append(files, path)
	}
	most := 1
	if _, names := native.Placed(c.Command, "input"); c.harness && len(names) == 0 {
		most = maxFiles
	}
	line, ran := progress.New(stderr, "inputs", len(files)), 0
	defer line.Clear()
	for some := range slices.Chunk(files, most) {
		line.Show(ran, "")
		if err := c.runFiles(ctx, some); err != nil {
			return err
		}
		ran += len(some)
	}
	line.Clear()
	if c.abnormal > 0 {
		fmt.Fprintf(stderr, "teasel: %d of %d inputs crashed, hung or ended with another status than 0\n", c.abnormal, len(files))
	}
	return nil
}

// runFiles runs files in one process; if that does not end well, each half in its own.
func (c *coverage) runFiles(ctx context.Context, files []string) error {
	well, err := c.process(ctx, files)
	switch {
	case err != nil || well:
		return err
	case len(files) == 1:
		c.abnormal++
		return nil
	}
	half := len(files) / 2
	if err := c.runFiles(ctx, files[:half]); err != nil {
		return err
	}
	return c.runFiles(ctx, files[half:])
}

// process runs the program once and reports whether it ended well.
func (c *coverage) process(ctx context.Context, files []string) (well bool, err error) {
	args, names := native.Placed(c.Command, files[0])
	if err := native.Link(files[0], names); err != nil {
		return false, exit.Failure(err)
	}
	var stdin io.Reader
	switch {
	case len(names) > 0:
	case c.harness:
		args = append(append(args, fmt.Sprintf("-timeout=%d", int(c.Timeout.Seconds()+0.999))), files...)
	default:
		f, err := os.Open(files[0])
		if err != nil {
			return false, exit.Failure(err)
		}
		defer f.Close()
		stdin = f
	}
	// With %m processes add to one file instead of writing one each.
	env := append(slices.Clone(c.Env), "LLVM_PROFILE_FILE="+filepath.Join(c.temp, "%m.profraw"))
	p, err := proc.Start(proc.Command{Args: args, Env: env, Dir: c.Dir})
	if err != nil {
		return false, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("running inputs: %w", err)}
	}
	var pipes sync.WaitGroup
	pipes.Go(func() { _, _ = io.Copy(io.Discard, p.Stdout) })
	pipes.Go(func() {
		if stdin != nil {
			_, _ = io.Copy(p.Stdin, stdin) // it may not want all
		}
		p.Stdin.Close()
	})
	limit := time.NewTimer(c.Timeout*time.Duration(len(files)) + 5*time.Second)
	defer limit.Stop()
	select {
	case <-p.Ended():
	case <-limit.C:
	case <-ctx.Done():
		err = &exit.Error{Status: exit.StatusInterrupted}
	}
	if e := p.Close(); e != nil {
		err = errors.Join(err, exit.Failure(e))
	}
	pipes.Wait()
	s := p.State()
	return s.Code == 0 && !s.Aborted, err
}
