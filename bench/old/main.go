// Command old fuzzes old versions of libraries whose faults are public, with teasel and then with a rival, which is libFuzzer for C
// and go test -fuzz for Go: how long does each take to come to such a fault? Both have the same harness and seeds, one worker and
// the same processor. The sources are packages of crates.io and modules of Go at fixed versions.
//
//	go run ./bench/old                          # all, a minute for each of the two
//	go run ./bench/old -time 10s expat yaml
//
// It needs clang, cmake, cargo and taskset. What is found is listed in full below the table: whether it is the public fault is for
// a person to judge, the table goes by the functions on the stack.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var b bench
	flag.DurationVar(&b.time, "time", time.Minute, "time of one run")
	flag.IntVar(&b.seed, "seed", 1, "seed of both")
	flag.IntVar(&b.processor, "processor", 0, "the processor that all run on")
	flag.StringVar(&b.source, "source", ".", "directory of teasel's module")
	flag.StringVar(&b.keep, "keep", "", "a directory that stays, with programs and campaigns; without it nothing does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench/old:", err)
		os.Exit(1)
	}
}

// bench is one run of this program.
type bench struct {
	time      time.Duration
	seed      int
	processor int
	source    string
	keep      string
	dir       string
	teasel    string
}

// subject is an old version of a library.
type subject struct {
	name, version string
	faults        []fault
	program
}

// program can be fuzzed by teasel and by its rival. Each has a directory of its own, and returns what it has found.
type program interface {
	teasel(ctx context.Context, b *bench, dir string) ([]finding, error)
	rival(ctx context.Context, b *bench, dir string) ([]finding, error)
}

// fault is a public fault.
type fault struct {
	advisory string
	shows    *regexp.Regexp // matches what is said when an input meets it
}

// finding is what one of the two has found.
type finding struct {
	after     time.Duration
	what      string // one line
	text      string // all that was said of it
	confirmed bool   // it was reproduced each time it was tried
}

func (b *bench) run(ctx context.Context, names []string) (err error) {
	if b.source, err = filepath.Abs(b.source); err != nil {
		return err
	}
	if b.keep != "" {
		if b.dir, err = filepath.Abs(b.keep); err != nil {
			return err
		}
	} else {
		if b.dir, err = os.MkdirTemp("", "teasel-bench-old"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	b.teasel = filepath.Join(b.dir, "teasel")
	if err := command(ctx, b.source, nil, "go", "build", "-o", b.teasel, "./cmd/teasel"); err != nil {
		return fmt.Errorf("building teasel: %w", err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(subjects, func(s subject) bool { return s.name == name }) {
			return fmt.Errorf("nothing here is called %q", name)
		}
	}
	fmt.Println("| library | public fault | teasel | rival |\n|---|---|---|---|")
	for _, s := range subjects {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		if err := b.compare(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// compare runs teasel and the rival on one subject, one after the other.
func (b *bench) compare(ctx context.Context, s subject) error {
	var found [2][]finding
	for i, fuzz := range []func(context.Context, *bench, string) ([]finding, error){s.teasel, s.rival} {
		dir := filepath.Join(b.dir, s.name, []string{"teasel", "rival"}[i])
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var err error
		if found[i], err = fuzz(ctx, b, dir); err != nil {
			return err
		}
	}
	for _, f := range s.faults {
		fmt.Printf("| %s %s | %s | %s | %s |\n", s.name, s.version, f.advisory, f.first(found[0]), f.first(found[1]))
	}
	for i, by := range []string{"teasel", "the rival"} {
		for _, f := range found[i] {
			fmt.Fprintf(os.Stderr, "%s, %s, %.1f s, confirmed %v: %s\n", s.name, by, f.after.Seconds(), f.confirmed, f.what)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(os.Stderr, "%s: load %s", s.name, load)
	return nil
}

// first says when the fault was found.
func (f fault) first(found []finding) string {
	for _, g := range found {
		if f.shows.MatchString(g.text) {
			word := "confirmed"
			if !g.confirmed {
				word = "not confirmed"
			}
			return fmt.Sprintf("%.1f s, %s", g.after.Seconds(), word)
		}
	}
	return fmt.Sprintf("no; %d others", len(found))
}

// pinned is a command line on the processor that all share.
func (b *bench) pinned(args ...string) []string {
	return append([]string{"taskset", "-c", strconv.Itoa(b.processor)}, args...)
}

// command runs a program in a directory, with more of an environment, and returns what it has said as an error if it fails.
func command(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
