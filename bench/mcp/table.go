package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// sample is one measurement.
type sample struct {
	rate float64 // executions a second
	peak int64   // bytes of resident memory at most; 0 if not measured

	fuzzer, servers time.Duration // of the processors that were used; 0 if not measured
}

// row is one contestant with what it reached in each round.
type row struct {
	name    string
	measure func(ctx context.Context, round int) (sample, error)
	samples []sample
}

// spread is the lowest, middle and highest of some rates.
type spread struct{ min, median, max float64 }

func (r row) spread() spread {
	rates := make([]float64, len(r.samples))
	for i, s := range r.samples {
		rates[i] = s.rate
	}
	slices.Sort(rates)
	n := len(rates)
	return spread{min: rates[0], median: (rates[(n-1)/2] + rates[n/2]) / 2, max: rates[n-1]}
}

// peak is the most memory of any round.
func (r row) peak() int64 {
	var p int64
	for _, s := range r.samples {
		p = max(p, s.peak)
	}
	return p
}

// processor is how much of the processors the fuzzer and its servers used in all rounds.
func (r row) processor() (fuzzer, servers time.Duration) {
	for _, s := range r.samples {
		fuzzer += s.fuzzer
		servers += s.servers
	}
	return fuzzer, servers
}

// printTable writes one line a row; ratios are medians over the first row's.
func printTable(w io.Writer, rows []row) error {
	const line = "%-28s %9s %9s %9s %8s %12s %11s %12s\n"
	_, err := fmt.Fprintf(w, line, "", "median/s", "lowest", "highest", "of bare", "peak memory", "fuzzer CPU", "servers' CPU")
	bare := rows[0].spread().median
	for _, r := range rows {
		s := r.spread()
		memory := "-"
		if p := r.peak(); p > 0 {
			memory = fmt.Sprintf("%.0f MB", float64(p)/1e6)
		}
		fuzzer, servers := "-", "-"
		f, used := r.processor()
		if f > 0 {
			fuzzer = fmt.Sprintf("%.1f s", f.Seconds())
		}
		if used > 0 {
			servers = fmt.Sprintf("%.1f s", used.Seconds())
		}
		_, e := fmt.Fprintf(w, line, r.name,
			fmt.Sprintf("%.0f", s.median), fmt.Sprintf("%.0f", s.min), fmt.Sprintf("%.0f", s.max),
			fmt.Sprintf("%.2f", s.median/bare), memory, fuzzer, servers)
		err = errors.Join(err, e)
	}
	return err
}
