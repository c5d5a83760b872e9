package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// test is a fuzz test of the package in a directory.
type test struct{ dir, name string }

// result is what a run came to.
type result struct {
	executions uint64
	seconds    float64
	processor  time.Duration // of the run alone, without building
	findings   int
}

func (r *result) rate() float64 { return float64(r.executions) / max(r.processor.Seconds(), 0.001) }

// used is the processor time of a process that has ended and of those that it has waited for.
func used(s *os.ProcessState) time.Duration { return s.UserTime() + s.SystemTime() }

// ours runs a fuzz test with teasel. What is kept goes to out; "": nowhere.
func (b *bench) ours(ctx context.Context, t test, seed int, out string, args ...string) (r result, err error) {
	var before result
	for range 2 { // the first one builds, the second one says what it takes to list, to link and to start
		if before, err = b.teaselGo(ctx, t, seed, "", "--runs", "1"); err != nil {
			return r, err
		}
	}
	if r, err = b.teaselGo(ctx, t, seed, out, args...); err != nil {
		return r, err
	}
	r.processor -= before.processor
	return r, nil
}

func (b *bench) teaselGo(ctx context.Context, t test, seed int, out string, args ...string) (r result, err error) {
	if out == "" {
		if out, err = os.MkdirTemp(b.dir, "out"); err != nil {
			return r, err
		}
		defer os.RemoveAll(out)
	}
	saved := filepath.Join(t.dir, "testdata", "fuzz", t.name)
	if _, err := os.Stat(saved); errors.Is(err, os.ErrNotExist) {
		defer os.RemoveAll(saved) // findings, which would be seeds of the next run
	}
	args = append([]string{"go", "--no-ui", "--format", "json", "--fail-on", "critical", "--run", "^" + t.name + "$", "--seed", strconv.Itoa(seed + 1), "--out", out}, args...)
	cmd := exec.CommandContext(ctx, b.teasel, args...)
	cmd.Dir = t.dir
	text, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("teasel go %s: %w", t.name, err)
	}
	var said struct {
		Executions uint64            `json:"executions"`
		Seconds    float64           `json:"seconds"`
		Findings   []json.RawMessage `json:"findings"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return r, err
	}
	return result{said.Executions, said.Seconds, used(cmd.ProcessState), len(said.Findings)}, nil
}

var executed = regexp.MustCompile(`elapsed: (\d+)s, execs: (\d+)`)

// native runs a fuzz test as go test -fuzz -parallel=1 does. What is kept goes to cache; "": nowhere.
func (b *bench) native(ctx context.Context, t test, cache string) (r result, err error) {
	if cache == "" {
		if cache, err = os.MkdirTemp(b.dir, "cache"); err != nil {
			return r, err
		}
		defer os.RemoveAll(cache)
	}
	binary := filepath.Join(b.dir, t.name+".native")
	if out, err := t.command(ctx, "go", "test", "-c", "-fuzz=^"+t.name+"$", "-o", binary, ".").CombinedOutput(); err != nil {
		return r, fmt.Errorf("building for go test -fuzz: %w\n%s", err, out)
	}
	cmd := t.command(ctx, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.parallel=1", "-test.fuzztime="+b.time.String(), "-test.fuzzcachedir="+cache)
	out, err := cmd.CombinedOutput()
	m := executed.FindAllSubmatch(out, -1)
	if m == nil {
		return r, fmt.Errorf("go test -fuzz says nothing of its executions: %w\n%s", err, out)
	}
	r.executions, err = strconv.ParseUint(string(m[len(m)-1][2]), 10, 64)
	r.seconds, r.processor = b.time.Seconds(), used(cmd.ProcessState)
	return r, err
}

// command runs in the test's directory.
func (t test) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.dir
	return cmd
}
