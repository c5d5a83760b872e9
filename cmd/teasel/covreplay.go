package main

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

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/native"
)

// replayMost is how many files a harness gets at a time.
const replayMost = 128

// replay runs inputs, whose profiles end up in c.dir.
func (c *coverage) replay(ctx context.Context, seeds []corpus.Seed, w io.Writer) error {
	if len(seeds) == 0 {
		return usage("", "there are no inputs")
	}
	var files []string
	for i, s := range seeds {
		path := filepath.Join(c.dir, fmt.Sprintf("input-%06d", i))
		if err := os.WriteFile(path, s.Data, 0o600); err != nil {
			return failure(fmt.Errorf("writing an input: %w", err))
		}
		files = append(files, path)
	}
	most := 1
	if _, placed := native.Placed(c.command, ""); c.harness && !placed {
		most = replayMost
	}
	for some := range slices.Chunk(files, most) {
		if err := c.runFiles(ctx, some); err != nil {
			return err
		}
	}
	if c.abnormal > 0 {
		fmt.Fprintf(w, "teasel: %d of %d inputs crashed, hung or ended with another status than 0\n", c.abnormal, len(files))
	}
	return nil
}

// runFiles runs files on one process; if that does not end well, each half on its own.
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
	args, placed := native.Placed(c.command, files[0])
	var stdin io.Reader
	switch {
	case placed:
	case c.harness:
		args = append(append(args, fmt.Sprintf("-timeout=%d", int(c.timeout.Seconds()+0.999))), files...)
	default:
		f, err := os.Open(files[0])
		if err != nil {
			return false, failure(err)
		}
		defer f.Close()
		stdin = f
	}
	// A pool: processes add to one file instead of leaving one each.
	env := append(slices.Clone(c.env), "LLVM_PROFILE_FILE="+filepath.Join(c.dir, "%m.profraw"))
	p, err := proc.Start(proc.Command{Args: args, Env: env, Dir: c.wd})
	if err != nil {
		return false, &exit{status: exitTarget, err: fmt.Errorf("running inputs: %w", err)}
	}
	var pipes sync.WaitGroup
	pipes.Go(func() { _, _ = io.Copy(io.Discard, p.Stdout) })
	pipes.Go(func() {
		if stdin != nil {
			_, _ = io.Copy(p.Stdin, stdin) // it may not want all
		}
		p.Stdin.Close()
	})
	limit := time.NewTimer(c.timeout*time.Duration(len(files)) + 5*time.Second)
	defer limit.Stop()
	select {
	case <-p.Ended():
	case <-limit.C:
	case <-ctx.Done():
		err = &exit{status: exitInterrupted}
	}
	if e := p.Close(); e != nil {
		err = errors.Join(err, failure(e))
	}
	pipes.Wait()
	s := p.State()
	return s.Code == 0 && !s.Aborted, err
}
