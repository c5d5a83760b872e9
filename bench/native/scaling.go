package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"
)

// scaling compares two workers on two processors with one on one of them: by the clock, and by processor time, of which other work on
// the machine takes nothing away. Beside it are two loops that only count and one: what the machine makes of a second processor.
func (m *meter) scaling(ctx context.Context, w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\nlibrary\texecutions/s with one worker\twith two\tratio\tratio by CPU time\ttwo loops to one\t\n")
	for _, l := range m.libraries {
		var one, two, ratio, byCPU, loops []float64
		for round := range m.rounds {
			a, err := m.speed(ctx, l, round, 1)
			if err != nil {
				return err
			}
			b, err := m.speed(ctx, l, round, 2)
			if err != nil {
				return err
			}
			spun := spin(2) / spin(1)
			one, two = append(one, perWall(a)), append(two, perWall(b))
			ratio, byCPU, loops = append(ratio, perWall(b)/perWall(a)), append(byCPU, 2*perCPU(b)/perCPU(a)), append(loops, spun)
			fmt.Fprintf(m.log, "%s round %d/%d  %.0f and %.0f executions/s, loops %.2f, load %s\n", l.name, round+1, m.rounds, perWall(a), perWall(b), spun, load())
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t\n", l.name, spreadOf(one).text("%.0f"), spreadOf(two).text("%.0f"),
			spreadOf(ratio).text("%.2f"), spreadOf(byCPU).text("%.2f"), spreadOf(loops).text("%.2f"))
	}
	return tw.Flush()
}

// speed runs a campaign with some workers.
func (m *meter) speed(ctx context.Context, l library, round, workers int) (s sample, err error) {
	program, err := m.builder.program(ctx, l, compilers["teasel"])
	if err != nil {
		return s, err
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	j := job{program: program, self: self, seeds: filepath.Join(m.builder.root, "seeds", l.name), out: filepath.Join(m.tmp, "scaling"),
		log: filepath.Join(m.tmp, "scaling.log"), time: m.time, seed: m.seed + uint64(round), workers: workers}
	if err := os.MkdirAll(filepath.Join(j.out, "corpus"), 0o755); err != nil {
		return s, err
	}
	cpus := strconv.Itoa(m.cpu)
	if workers > 1 {
		cpus = "0-" + strconv.Itoa(workers-1)
	}
	if s, err = m.pinned(ctx, ours(j), nil, j.log, cpus, nil); err != nil {
		return s, err
	}
	n, err := ourExecutions(j)
	s.executions = float64(n)
	return s, err
}

// spin returns how many rounds goroutines that only count make in half a second.
func spin(n int) float64 {
	const long = 500 * time.Millisecond
	results := make(chan float64)
	for range n {
		go func() {
			count, x := 0., uint64(1)
			for end := time.Now().Add(long); time.Now().Before(end); count++ {
				for range 10_000 {
					x = x*0x9e3779b97f4a7c15 + 1
				}
			}
			if x == 0 {
				count++ // so that the loop is not left out
			}
			results <- count
		}()
	}
	var sum float64
	for range n {
		sum += <-results
	}
	return sum
}
