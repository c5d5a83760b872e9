// Command native runs teasel, AFL++, libFuzzer and LibAFL side by side on real libraries, and says how many executions each made and
// how much code its corpus reaches. run.sh installs what it needs.
//
//	bench/native/run.sh [flags] [LIBRARY...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/bench"
)

// settings is the command line.
type settings struct {
	rounds    int
	time      time.Duration // of one fuzzer in one round
	processor bool          // time is processor time, not time by the clock
	limits    limits
	cpu       int    // all fuzzers are pinned to it
	cache     string // sources and builds
	fuzzers   []string
	libraries []library
	puzzles   bool
	workers   bool
	seed      uint64
	keep      string // folder for the corpora; "": a temporary one
	record    string // file of runs that were made before; "": none
	version   string // of this repository; "": unknown
}

func main() {
	bench.Main(func(ctx context.Context, args []string) error {
		if len(args) > 0 && args[0] == "campaign" {
			return campaignMain(ctx, args[1:])
		}
		s, err := parse(args)
		if err != nil {
			return err
		}
		return run(ctx, s, os.Stdout, os.Stderr)
	})
}

func parse(args []string) (settings, error) {
	var s settings
	home, err := os.UserCacheDir()
	if err != nil {
		home = os.TempDir()
	}
	fs := flag.NewFlagSet("bench/native", flag.ContinueOnError)
	fs.IntVar(&s.rounds, "rounds", 3, "how often each fuzzer runs on each library, in turn")
	fs.DurationVar(&s.time, "time", time.Minute, "how long it runs")
	fs.BoolVar(&s.processor, "processor-time", false, "-time is processor time of all processes of a fuzzer, which other work on the machine takes nothing away from")
	fs.IntVar(&s.limits.length, "max-len", 0, "length of the longest `input` in bytes, for all fuzzers (default: each has its own)")
	fs.DurationVar(&s.limits.timeout, "timeout", 0, "of an execution, in whole `seconds`, for all fuzzers (default: each has its own)")
	fs.IntVar(&s.cpu, "cpu", 1, "the processor that all fuzzers are pinned to")
	fs.StringVar(&s.cache, "cache", filepath.Join(home, "teasel", "bench-native"), "`folder` of sources and builds")
	fs.BoolVar(&s.puzzles, "puzzles", false, "time to solve small puzzles, instead of libraries")
	fs.BoolVar(&s.workers, "workers", false, "two workers beside one, instead of rivals")
	fs.Uint64Var(&s.seed, "seed", 1, "seed of the first round; each further one is one more")
	fs.StringVar(&s.keep, "keep", "", "`folder` that keeps the corpora (default: none is kept)")
	fs.StringVar(&s.record, "record", "", "`file` to which each run is added, and whose runs are not made again: for comparisons that take many hours")
	fuzzers := fs.String("fuzzers", strings.Join(names(contestants), ","), "which to run")
	short := fs.Bool("short", false, "one round of one second on cJSON: whether all of it works")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	s.fuzzers = strings.Split(*fuzzers, ",")
	for _, f := range s.fuzzers {
		if !slices.Contains(names(contestants), f) {
			return s, fmt.Errorf("-fuzzers: %q is none of %s", f, strings.Join(names(contestants), ", "))
		}
	}
	if s.rounds < 1 || s.time < time.Second {
		return s, errors.New("want at least one round of one second")
	}
	if s.limits.length < 0 || s.limits.timeout < 0 || s.limits.timeout%time.Second != 0 {
		return s, fmt.Errorf("-max-len %d -timeout %v: want no negative numbers, and whole seconds, as libFuzzer has them", s.limits.length, s.limits.timeout)
	}
	wanted := fs.Args()
	if *short {
		s.rounds, s.time, wanted = 1, time.Second, []string{"cjson"}
	}
	for _, l := range libraries {
		if len(wanted) == 0 || slices.Contains(wanted, l.name) {
			s.libraries = append(s.libraries, l)
		}
	}
	if len(s.libraries) < len(wanted) {
		return s, fmt.Errorf("%s: want some of %s", strings.Join(wanted, " "), strings.Join(names(libraries), ", "))
	}
	return s, nil
}

type named interface{ title() string }

func names[T named](all []T) (out []string) {
	for _, x := range all {
		out = append(out, x.title())
	}
	return out
}

// run measures and prints tables to w, progress to log.
func run(ctx context.Context, s settings, w, log io.Writer) error {
	root, err := source()
	if err != nil {
		return err
	}
	b := &builder{cache: s.cache, root: root, log: log, libafl: archive(s.cache)}
	if !s.puzzles && !s.workers {
		if s.fuzzers, err = available(s.fuzzers, b.libafl, log); err != nil {
			return err
		}
	}
	tmp, err := os.MkdirTemp(shared(), "bench-native-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	m := &meter{settings: s, builder: b, tmp: tmp, log: log}
	if m.made, err = openRecord(s.record); err != nil {
		return err
	}
	if text, err := output(ctx, root, nil, "git", "describe", "--always", "--dirty"); err == nil {
		m.version = strings.TrimSpace(string(text))
	}
	if err := bench.Adopt(); err != nil {
		return err
	}
	machine(w, s)
	switch {
	case s.puzzles:
		return m.puzzles(ctx, w)
	case s.workers:
		return m.scaling(ctx, w)
	}
	for _, l := range s.libraries {
		if err := m.library(ctx, w, l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// shared is a folder in memory, so that the disk's speed is no part of the comparison.
func shared() string {
	if i, err := os.Stat("/dev/shm"); err == nil && i.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// source is the folder of this program's sources.
func source() (string, error) {
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		at := filepath.Join(dir, "bench", "native", "harness")
		if _, err := os.Stat(at); err == nil {
			return filepath.Abs(filepath.Dir(at))
		}
		if abs, err := filepath.Abs(dir); err != nil || abs == "/" {
			return "", errors.New("bench/native was not found: start it inside the repository")
		}
	}
}
