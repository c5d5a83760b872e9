// Command go compares teasel go with go test -fuzz -parallel=1: executions a second on three fuzz tests, and the time to
// solve puzzles. Both run the same fuzz tests, one after the other in each round, from nothing but their seeds.
//
//	go run ./bench/go -rounds 3 -time 4s
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"golang.org/x/tools/txtar"
)

//go:embed testdata/module.txtar
var module []byte

func main() {
	b := bench{}
	flag.IntVar(&b.rounds, "rounds", 3, "alternations")
	flag.DurationVar(&b.time, "time", 4*time.Second, "time of one run")
	flag.IntVar(&b.seeds, "seeds", 10, "seeds with which each puzzle is solved")
	flag.StringVar(&b.teasel, "teasel", "", "the teasel command; it is built if there is none")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench/go:", err)
		os.Exit(1)
	}
}

type bench struct {
	rounds, seeds int
	time          time.Duration
	teasel        string
	dir           string
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "teasel-bench-go"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.teasel == "" {
		b.teasel = filepath.Join(b.dir, "teasel")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.teasel, "github.com/teaselfuzz/teasel/cmd/teasel").CombinedOutput(); err != nil {
			return fmt.Errorf("building teasel: %w\n%s", err, out)
		}
	}
	for _, f := range txtar.Parse(module).Files {
		if err := os.WriteFile(filepath.Join(b.dir, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	if err := b.speed(ctx); err != nil {
		return err
	}
	return b.puzzles(ctx)
}

// speed alternates the two and prints executions a second.
func (b *bench) speed(ctx context.Context) error {
	fmt.Printf("executions a second, %d rounds of %v, median (least to most)\n", b.rounds, b.time)
	fmt.Printf("%-12s %28s %28s %8s\n", "fuzz test", "teasel go", "go test -fuzz -parallel=1", "ratio")
	for _, test := range []string{"FuzzParse", "FuzzJSON", "FuzzTwo"} {
		var ours, theirs, ratios []float64
		for round := range b.rounds {
			r, err := b.ours(ctx, test, round, "--duration", b.time.String())
			if err != nil {
				return err
			}
			n, err := b.native(ctx, test)
			if err != nil {
				return err
			}
			ours, theirs = append(ours, float64(r.Executions)/r.Seconds), append(theirs, n)
			ratios = append(ratios, ours[round]/theirs[round])
		}
		fmt.Printf("%-12s %28s %28s %7.1fx\n", test, spread(ours), spread(theirs), median(ratios))
	}
	return nil
}

// puzzles prints how long the campaigns took that solve each puzzle.
func (b *bench) puzzles(ctx context.Context) error {
	fmt.Printf("\npuzzles, %d seeds: solved, seconds of the campaign, executions; median (least to most)\n", b.seeds)
	for _, test := range []string{"FuzzPuzzleMagic", "FuzzPuzzleText", "FuzzPuzzleChecksum", "FuzzPuzzleTwo"} {
		var seconds, executions []float64
		solved := 0
		for seed := range b.seeds {
			r, err := b.ours(ctx, test, seed, "--duration", "60s", "--stop-after", "1")
			if err != nil {
				return err
			}
			solved += len(r.Findings)
			seconds, executions = append(seconds, r.Seconds), append(executions, float64(r.Executions))
		}
		fmt.Printf("%-20s %d of %d  %.2f s (%.2f to %.2f)  %s\n", test, solved, b.seeds, median(seconds), slices.Min(seconds), slices.Max(seconds), spread(executions))
	}
	return nil
}

// result is what teasel reports of a run.
type result struct {
	Executions uint64            `json:"executions"`
	Seconds    float64           `json:"seconds"`
	Findings   []json.RawMessage `json:"findings"`
}

// ours runs one fuzz test with teasel, from nothing.
func (b *bench) ours(ctx context.Context, test string, seed int, args ...string) (r result, err error) {
	out, err := os.MkdirTemp(b.dir, "out")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(out)
	defer os.RemoveAll(filepath.Join(b.dir, "testdata"))
	args = append([]string{"go", "--no-ui", "--format", "json", "--fail-on", "critical", "--run", test + "$", "--seed", strconv.Itoa(seed + 1), "--out", out}, args...)
	cmd := exec.CommandContext(ctx, b.teasel, args...)
	cmd.Dir = b.dir
	text, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("teasel go: %w", err)
	}
	return r, json.Unmarshal(text, &r)
}

var executed = regexp.MustCompile(`elapsed: (\d+)s, execs: (\d+)`)

// native runs one fuzz test with the go command, from nothing, and returns executions a second.
func (b *bench) native(ctx context.Context, test string) (float64, error) {
	if out, err := b.command(ctx, "go", "clean", "-fuzzcache").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("emptying the fuzz cache: %w\n%s", err, out)
	}
	out, err := b.command(ctx, "go", "test", "-run=^$", "-fuzz=^"+test+"$", "-parallel=1", "-fuzztime="+b.time.String(), ".").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("go test -fuzz: %w\n%s", err, out)
	}
	m := executed.FindAllSubmatch(out, -1)
	if m == nil {
		return 0, fmt.Errorf("go test -fuzz says nothing of its executions:\n%s", out)
	}
	n, err := strconv.ParseFloat(string(m[len(m)-1][2]), 64)
	return n / b.time.Seconds(), err
}

// command has a build cache of its own for what go test -fuzz keeps, so that the user's is left alone.
func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(b.dir, "cache"))
	return cmd
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

func spread(v []float64) string {
	return fmt.Sprintf("%.0f (%.0f to %.0f)", median(v), slices.Min(v), slices.Max(v))
}
