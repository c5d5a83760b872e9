// Command forkserver measures what an execution of a program that AFL++ has built costs through teasel's side of the
// fork server, and through afl-fuzz: processor time of the fuzzer and of all that it has started, in turn, on one
// processor, on the same programs.
//
//	go run ./bench/native/forkserver [flags]
//
// It needs Debian's afl++ and clang, and for cJSON dpkg-dev and the network once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/bench"
)

// settings is the command line.
type settings struct {
	rounds  int
	seconds int // of one measurement
	cpu     int
	only    string
	cache   string
	fuzz    string // a program that this process fuzzes itself, instead of measuring
	seeds   string
}

func main() {
	bench.Main(func(ctx context.Context, args []string) error {
		s, err := parse(args)
		switch {
		case err != nil:
			return err
		case s.fuzz != "":
			return fuzz(ctx, s)
		}
		return measure(ctx, s)
	})
}

func parse(args []string) (s settings, err error) {
	fs := flag.NewFlagSet("bench/native/forkserver", flag.ContinueOnError)
	fs.IntVar(&s.rounds, "rounds", 5, "how often each is measured, in turn")
	fs.IntVar(&s.seconds, "seconds", 5, "how long each measurement takes")
	fs.IntVar(&s.cpu, "cpu", 1, "the processor that both are pinned to")
	fs.StringVar(&s.only, "only", "", "the one target to measure")
	fs.StringVar(&s.cache, "cache", filepath.Join(os.TempDir(), "teasel-forkserver"), "where programs and sources are kept")
	fs.StringVar(&s.fuzz, "fuzz", "", "fuzz this program for that long and print the executions: what a measurement of teasel starts")
	fs.StringVar(&s.seeds, "seeds", "", "folder of seeds, with -fuzz")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	known := func(t target) bool { return t.name == s.only }
	switch {
	case s.rounds < 1 || s.seconds < 1:
		return s, errors.New("want at least one round of one second")
	case s.only != "" && !slices.ContainsFunc(targets, known):
		return s, fmt.Errorf("-only: there is no target %q", s.only)
	}
	return s, nil
}

// target is one program and how it is built.
type target struct {
	name  string
	files func(s settings) ([]string, error)
	flags []string
	seed  string
}

const folder = "bench/native/forkserver"

func ours(name string) func(settings) ([]string, error) {
	return func(settings) ([]string, error) { return []string{filepath.Join(folder, "targets", name)}, nil }
}

var targets = []target{
	{"fork", ours("fork.c"), nil, "seed"},
	{"persistent", ours("persistent.c"), []string{"-fsanitize=fuzzer"}, "seed"},
	{"cJSON", cjson, []string{"-fsanitize=fuzzer"}, `1011{"a":[1,2.5,"x",null,true],"b":{"c":-1e3}}`},
}

// cjson returns the library and the harness that it brings with it, from Debian's source.
func cjson(s settings) ([]string, error) {
	dir := filepath.Join(s.cache, "source")
	find := func() []string {
		found, _ := filepath.Glob(filepath.Join(dir, "cjson-*", "cJSON.c"))
		return found
	}
	if len(find()) == 0 {
		if out, err := exec.Command(filepath.Join(folder, "source.sh"), "cjson", dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("fetching cJSON's source: %w\n%s", err, out)
		}
	}
	found := find()
	if len(found) == 0 {
		return nil, fmt.Errorf("no cjson-*/cJSON.c in %s", dir)
	}
	return []string{found[0], filepath.Join(filepath.Dir(found[0]), "fuzzing", "cjson_read_fuzzer.c")}, nil
}

func (t target) build(s settings) (bin, seeds string, err error) {
	files, err := t.files(s)
	if err != nil {
		return "", "", err
	}
	bin, seeds = filepath.Join(s.cache, t.name), filepath.Join(s.cache, t.name+"-seeds")
	if err := os.MkdirAll(seeds, 0o755); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(seeds, "seed"), append([]byte(t.seed), 0), 0o644); err != nil {
		return "", "", err
	}
	cmd := exec.Command("afl-clang-fast", slices.Concat(t.flags, []string{"-O2", "-o", bin}, files)...)
	cmd.Env = append(os.Environ(), "AFL_QUIET=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building %s: %w\n%s", t.name, err, out)
	}
	return bin, seeds, nil
}

// sample is one measurement.
type sample struct{ executions, cpu float64 }

func (s sample) each() float64 { return s.cpu / s.executions * 1e6 }

func measure(ctx context.Context, s settings) error {
	if err := bench.Adopt(); err != nil {
		return err
	}
	fmt.Printf("%-12s %6s %28s %28s %22s\n", "target", "rounds", "afl-fuzz us (low..high)", "teasel us (low..high)", "ratio (low..high)")
	for _, t := range targets {
		if s.only != "" && s.only != t.name {
			continue
		}
		bin, seeds, err := t.build(s)
		if err != nil {
			return err
		}
		var afl, teasel, ratios []float64
		for range s.rounds {
			a, err := s.afl(ctx, bin, seeds)
			if err != nil {
				return err
			}
			b, err := s.teasel(ctx, bin, seeds)
			if err != nil {
				return err
			}
			afl, teasel, ratios = append(afl, a.each()), append(teasel, b.each()), append(ratios, b.each()/a.each())
		}
		fmt.Printf("%-12s %6d %28s %28s %22s\n", t.name, s.rounds, spread(afl), spread(teasel), spread(ratios))
	}
	return nil
}

func spread(xs []float64) string {
	slices.Sort(xs)
	return fmt.Sprintf("%.2f (%.2f..%.2f)", xs[len(xs)/2], xs[0], xs[len(xs)-1])
}

func (s settings) afl(ctx context.Context, bin, seeds string) (sample, error) {
	out, err := os.MkdirTemp("/dev/shm", "teasel-forkserver-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(out)
	cpu, _, err := s.pinned(ctx, []string{"AFL_NO_UI=1", "AFL_SKIP_CPUFREQ=1", "AFL_NO_AFFINITY=1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1"},
		"afl-fuzz", "-i", seeds, "-o", out, "-V", strconv.Itoa(s.seconds), "-t", "1000", "--", bin)
	if err != nil {
		return sample{}, err
	}
	stats, err := os.ReadFile(filepath.Join(out, "default", "fuzzer_stats"))
	if err != nil {
		return sample{}, err
	}
	for l := range strings.Lines(string(stats)) {
		if name, value, _ := strings.Cut(l, ":"); strings.TrimSpace(name) == "execs_done" {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return sample{n, cpu}, err
		}
	}
	return sample{}, errors.New("afl-fuzz has not said how many executions it made")
}

func (s settings) teasel(ctx context.Context, bin, seeds string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	cpu, out, err := s.pinned(ctx, nil, self, "-fuzz", bin, "-seeds", seeds, "-seconds", strconv.Itoa(s.seconds))
	if err != nil {
		return sample{}, err
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	return sample{n, cpu}, err
}

// pinned runs a command on one processor and returns how many seconds of it that took, with all that was started.
func (s settings) pinned(ctx context.Context, env []string, argv ...string) (cpu float64, out string, err error) {
	before := bench.Used()
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(s.cpu)}, argv...)...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), env...), &stderr, 10*time.Second
	b, err := cmd.Output()
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w\n%s%s", argv[0], err, b[max(0, len(b)-1000):], stderr.String())
	}
	if err := bench.Reap(); err != nil {
		return 0, "", err
	}
	return bench.Used() - before, string(b), nil
}
