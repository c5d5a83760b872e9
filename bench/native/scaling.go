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

// scaling compares two workers on two processors with one on one of them, and two loops that only count with one: what the machine
// itself makes of a second processor at that time.
func (m *meter) scaling(ctx context.Context, w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\nlibrary\texecutions/s with one worker\twith two\tratio\ttwo loops to one\t\n")
	for _, l := range m.libraries {
		var one, two, ratio, loops []float64
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
			one, two, ratio, loops = append(one, a), append(two, b), append(ratio, b/a), append(loops, spun)
			fmt.Fprintf(m.log, "%s round %d/%d  %.0f and %.0f executions/s, ratio %.2f, loops %.2f\n", l.name, round+1, m.rounds, a, b, b/a, spun)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t\n", l.name, spreadOf(one).text("%.0f"), spreadOf(two).text("%.0f"),
			spreadOf(ratio).text("%.2f"), spreadOf(loops).text("%.2f"))
	}
	return tw.Flush()
}

// speed returns executions a second of a campaign.
func (m *meter) speed(ctx context.Context, l library, round, workers int) (float64, error) {
	program, err := m.builder.program(ctx, l, compilers["teasel"])
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	j := job{program: program, self: self, seeds: filepath.Join(m.builder.root, "seeds", l.name), out: filepath.Join(m.tmp, "scaling"),
		log: filepath.Join(m.tmp, "scaling.log"), time: m.time, seed: m.seed + uint64(round), workers: workers}
	if err := os.MkdirAll(filepath.Join(j.out, "corpus"), 0o755); err != nil {
		return 0, err
	}
	cpus := strconv.Itoa(m.cpu)
	if workers > 1 {
		cpus = "0-" + strconv.Itoa(workers-1)
	}
	s, err := m.pinned(ctx, ours(j), nil, j.log, cpus)
	if err != nil {
		return 0, err
	}
	n, err := ourExecutions(j)
	return float64(n) / s.wall, err
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
