package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// typedModule makes the module of typed tests ready to be built, and returns its directory.
func (b *bench) typedModule() (dir string, err error) {
	dir = filepath.Join(b.dir, "typed")
	sums, err := os.ReadFile(filepath.Join(b.source, "go.sum"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		return "", err
	}
	work := fmt.Sprintf("go 1.26.0\nuse .\nuse %q\n", b.source)
	return dir, os.WriteFile(filepath.Join(dir, "go.work"), []byte(work), 0o644)
}

// typed compares a typed test with one that makes the same value of JSON, both run by teasel.
func (b *bench) typed(ctx context.Context) error {
	dir, err := b.typedModule()
	if err != nil {
		return err
	}
	reached := filepath.Join(dir, "reached")
	if err := os.Setenv("BENCH_REACHED", reached); err != nil {
		return err
	}
	fmt.Printf("\na typed test beside the same one fed by JSON, %d rounds of %v: executions, and values that come to the function, a second of processor time, median (least to most)\n", b.rounds, b.time)
	var rates, values [2][]float64
	for round := range b.rounds {
		for i, name := range []string{"FuzzTyped", "FuzzJSON"} {
			if err := os.WriteFile(reached, nil, 0o644); err != nil {
				return err
			}
			r, err := b.ours(ctx, test{dir, name}, round, "", "--duration", b.time.String())
			if err != nil {
				return err
			}
			thousands, err := os.Stat(reached)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], r.rate())
			values[i] = append(values[i], 1000*float64(thousands.Size())/max(r.processor.Seconds(), 0.001))
		}
	}
	fmt.Printf("executions: typed %s  JSON %s  %.2fx\n", spread(rates[0]), spread(rates[1]), median(ratios(rates[0], rates[1])))
	fmt.Printf("values: typed %s  JSON %s  %.2fx\n", spread(values[0]), spread(values[1]), median(ratios(values[0], values[1])))
	return nil
}

func ratios(a, b []float64) (out []float64) {
	for i := range a {
		out = append(out, a[i]/max(b[i], 1))
	}
	return out
}

// workers compares two workers with one.
func (b *bench) workers(ctx context.Context) error {
	fmt.Printf("\nFuzzParse with one worker and with two, %d rounds of %v: executions a second, and a second of processor time, median (least to most)\n", b.rounds, b.time)
	var one, two, ratios, oneCPU, twoCPU []float64
	for round := range b.rounds {
		var rs [2]result
		for i, n := range []string{"1", "2"} {
			var err error
			if rs[i], err = b.ours(ctx, test{b.dir, "FuzzParse"}, round, "", "--duration", b.time.String(), "--workers", n); err != nil {
				return err
			}
		}
		one, two = append(one, float64(rs[0].executions)/rs[0].seconds), append(two, float64(rs[1].executions)/rs[1].seconds)
		oneCPU, twoCPU = append(oneCPU, rs[0].rate()), append(twoCPU, rs[1].rate())
		ratios = append(ratios, two[round]/one[round])
	}
	fmt.Printf("one %s  two %s  %.2fx; of processor time: one %s  two %s\n", spread(one), spread(two), median(ratios), spread(oneCPU), spread(twoCPU))
	return nil
}
