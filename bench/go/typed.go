package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// typed compares a typed test with one that makes the same value of JSON, both run by teasel.
func (b *bench) typed(ctx context.Context) error {
	dir := filepath.Join(b.dir, "typed")
	sums, err := os.ReadFile(filepath.Join(b.source, "go.sum"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		return err
	}
	work := fmt.Sprintf("go 1.26.0\nuse .\nuse %q\n", b.source)
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte(work), 0o644); err != nil {
		return err
	}
	fmt.Printf("\na typed test beside the same one fed by JSON, %d rounds of %v: executions a second of processor time, median (least to most)\n", b.rounds, b.time)
	var values, bytes, ratios []float64
	for round := range b.rounds {
		v, err := b.ours(ctx, test{dir, "FuzzTyped"}, round, "", "--duration", b.time.String())
		if err != nil {
			return err
		}
		j, err := b.ours(ctx, test{dir, "FuzzJSON"}, round, "", "--duration", b.time.String())
		if err != nil {
			return err
		}
		values, bytes, ratios = append(values, v.rate()), append(bytes, j.rate()), append(ratios, v.rate()/j.rate())
	}
	fmt.Printf("values %s  JSON %s  %.2fx\n", spread(values), spread(bytes), median(ratios))
	return nil
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
