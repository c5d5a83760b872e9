package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/bench"
)

// meter runs fuzzers and measures them. One goroutine uses it.
type meter struct {
	settings
	builder *builder
	made    *record // runs of other times
	tmp     string
	log     io.Writer
}

// sample is what one run of a fuzzer came to.
type sample struct {
	executions float64
	cpu, wall  float64 // seconds
	edges      float64
	lines      float64
	regions    float64
	version    string // of this repository
}

// pinned runs a command on one processor, or on as many as there are workers, and returns when all of it has ended.
// watch, if it is not nil, looks after the process while it runs.
func (m *meter) pinned(ctx context.Context, argv, env []string, log string, cpus string, watch func(pid int, done <-chan struct{}) error) (s sample, err error) {
	f, err := os.Create(log)
	if err != nil {
		return s, err
	}
	defer f.Close()
	before, began := bench.Used(), time.Now()
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", cpus}, argv...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), f, f
	cmd.Dir = m.tmp
	// AFL++ leaves its shared memory behind when it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	failed := watched(cmd, watch)
	s.wall = time.Since(began).Seconds()
	err = bench.Reap()
	s.cpu = bench.Used() - before
	if failed != nil {
		text, _ := os.ReadFile(log)
		return s, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), failed, text[max(0, len(text)-2000):])
	}
	return s, err
}

// run runs one fuzzer once.
func (m *meter) run(ctx context.Context, f fuzzer, l library, round int) (s sample, corpus string, err error) {
	j := job{time: m.time, limits: m.limits, seed: m.seed + uint64(round), seeds: filepath.Join(m.builder.root, "seeds", l.name)}
	if j.self, err = os.Executable(); err != nil {
		return s, "", err
	}
	if j.program, err = m.builder.program(ctx, l, m.builder.compiler(f.compiler)); err != nil {
		return s, "", err
	}
	if f.second != "" {
		if j.second, err = m.builder.program(ctx, l, m.builder.compiler(f.second)); err != nil {
			return s, "", err
		}
	}
	j.out = filepath.Join(m.tmp, fmt.Sprintf("%s-%s-%d", l.name, f.name, round))
	j.log = j.out + ".log"
	corpus = filepath.Join(j.out, f.corpus)
	if err := os.MkdirAll(corpus, 0o755); err != nil {
		return s, "", err
	}
	if f.compiler == "afl" { // it wants to make its folder itself
		if err := os.RemoveAll(j.out); err != nil {
			return s, "", err
		}
	}
	var watch func(int, <-chan struct{}) error
	if m.processor {
		j.time *= slowest
		watch = func(pid int, done <-chan struct{}) error {
			return budget(pid, m.time, done, func() error { return f.stop(j, pid, done) })
		}
	}
	env := append([]string{"TMPDIR=" + m.tmp}, f.env...) // libFuzzer's fork mode leaves files behind
	if s, err = m.pinned(ctx, f.command(j), env, j.log, strconv.Itoa(m.cpu), watch); err != nil {
		return s, "", err
	}
	n, err := f.executions(j)
	s.executions, s.version = float64(n), m.version
	return s, corpus, err
}

// library runs all fuzzers on one library, in turn.
func (m *meter) library(ctx context.Context, w io.Writer, l library) error {
	t := table{library: l.name, time: m.time, rounds: m.rounds, names: m.fuzzers, samples: map[string][]sample{}}
	for round := range m.rounds {
		for _, f := range contestants {
			if !m.takes(f) {
				continue
			}
			if s, ok := m.made.find(l.name, f.name, m.seed+uint64(round), m.time); ok {
				t.samples[f.name] = append(t.samples[f.name], s)
				continue
			}
			s, corpus, err := m.run(ctx, f, l, round)
			if err == nil {
				err = sow(filepath.Join(m.builder.root, "seeds", l.name), corpus)
			}
			if err == nil {
				err = m.judge(ctx, l, corpus, &s)
			}
			if err == nil {
				err = m.made.add(l.name, f.name, m.seed+uint64(round), m.time, s)
			}
			if err == nil && m.keep != "" {
				err = os.CopyFS(filepath.Join(m.keep, l.name, f.name, strconv.Itoa(round)), os.DirFS(filepath.Dir(corpus)))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			t.samples[f.name] = append(t.samples[f.name], s)
			fmt.Fprintf(m.log, "%s round %d/%d  %-13s %11.0f executions %6.1f s cpu %6.0f edges %6.0f lines %6.0f regions  load %s\n",
				l.name, round+1, m.rounds, f.name, s.executions, s.cpu, s.edges, s.lines, s.regions, load())
			if err := os.RemoveAll(filepath.Join(m.tmp, fmt.Sprintf("%s-%s-%d", l.name, f.name, round))); err != nil {
				return err
			}
		}
	}
	return t.print(w)
}

func (m *meter) takes(f fuzzer) bool {
	for _, name := range m.fuzzers {
		if name == f.name {
			return true
		}
	}
	return false
}

// load is how many processes wanted a processor in the last minute.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
