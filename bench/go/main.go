// Command go compares teasel go with go test -fuzz -parallel=1. Both run the same fuzz tests, one after the other in each round,
// from nothing but their seeds. What is compared is executions a second of processor time, since that says the most on a machine
// that others use too; building is not counted.
//
//	go run ./bench/go -rounds 3 -time 4s
//	go run ./bench/go -only modules -rounds 1 -time 30s DIR/FuzzX...
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	flag.StringVar(&b.source, "source", ".", "directory of teasel's module, which typed tests need")
	only := flag.String("only", "speed,typed,workers,puzzles,modules", "what to measure")
	flag.Parse()
	b.modules = flag.Args()
	if err := b.run(context.Background(), strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench/go:", err)
		os.Exit(1)
	}
}

type bench struct {
	rounds, seeds int
	time          time.Duration
	teasel        string
	source        string
	modules       []string // fuzz tests of other modules, as DIR/FuzzX
	dir           string
}

func (b *bench) run(ctx context.Context, only []string) (err error) {
	if b.dir, err = os.MkdirTemp("", "teasel-bench-go"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.source, err = filepath.Abs(b.source); err != nil {
		return err
	}
	if b.teasel == "" {
		b.teasel = filepath.Join(b.dir, "teasel")
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.teasel, "./cmd/teasel")
		cmd.Dir = b.source
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building teasel: %w\n%s", err, out)
		}
	}
	for _, f := range txtar.Parse(module).Files {
		path := filepath.Join(b.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"speed", b.speed}, {"typed", b.typed}, {"workers", b.workers}, {"puzzles", b.puzzles}, {"modules", b.realModules}} {
		if !slices.Contains(only, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// speed alternates the two on small fuzz tests.
func (b *bench) speed(ctx context.Context) error {
	fmt.Printf("executions a second of processor time, %d rounds of %v, median (least to most)\n", b.rounds, b.time)
	fmt.Printf("%-12s %30s %30s %8s\n", "fuzz test", "teasel go", "go test -fuzz -parallel=1", "ratio")
	for _, name := range []string{"FuzzParse", "FuzzJSON", "FuzzTwo"} {
		t := test{b.dir, name}
		var ours, theirs, ratios []float64
		for round := range b.rounds {
			r, err := b.ours(ctx, t, round, "", "--duration", b.time.String())
			if err != nil {
				return err
			}
			n, err := b.native(ctx, t, "")
			if err != nil {
				return err
			}
			ours, theirs = append(ours, r.rate()), append(theirs, n.rate())
			ratios = append(ratios, ours[round]/theirs[round])
		}
		fmt.Printf("%-12s %30s %30s %7.1fx\n", name, spread(ours), spread(theirs), median(ratios))
	}
	return nil
}

// puzzles prints how long the campaigns took that solve each puzzle.
func (b *bench) puzzles(ctx context.Context) error {
	dir, err := b.typedModule()
	if err != nil {
		return err
	}
	fmt.Printf("\npuzzles, %d seeds: solved, seconds of the campaign, executions; median (least to most)\n", b.seeds)
	for _, t := range []test{{b.dir, "FuzzPuzzleMagic"}, {b.dir, "FuzzPuzzleText"}, {b.dir, "FuzzPuzzleChecksum"}, {b.dir, "FuzzPuzzleTwo"},
		{dir, "FuzzPuzzleOrder"}, {dir, "FuzzPuzzleProduct"}, {dir, "FuzzPuzzleMaze"}} {
		var seconds, executions []float64
		solved := 0
		for seed := range b.seeds {
			r, err := b.ours(ctx, t, seed, "", "--duration", "60s", "--stop-after", "1")
			if err != nil {
				return err
			}
			solved += r.findings
			seconds, executions = append(seconds, r.seconds), append(executions, float64(r.executions))
		}
		fmt.Printf("%-20s %d of %d  %.2f s (%.2f to %.2f)  %s\n", t.name, solved, b.seeds, median(seconds), slices.Min(seconds), slices.Max(seconds), spread(executions))
	}
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

func spread(v []float64) string {
	return fmt.Sprintf("%.0f (%.0f to %.0f)", median(v), slices.Min(v), slices.Max(v))
}
