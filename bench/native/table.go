package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// machine says what the figures below it were measured on.
func machine(w io.Writer, s settings) {
	model := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	fmt.Fprintf(w, "%d × %s, %s, %s, pinned to processor %d, load %s\n", runtime.NumCPU(), model, runtime.Version(),
		time.Now().Format(time.DateTime), s.cpu, load())
}

// table is what all fuzzers came to on one library.
type table struct {
	library string
	time    time.Duration
	rounds  int
	names   []string
	samples map[string][]sample
}

// spread is the median of some numbers, the least and the greatest.
type spread struct{ median, least, most float64 }

func spreadOf(all []float64) (s spread) {
	if len(all) == 0 {
		return s
	}
	slices.Sort(all)
	s = spread{all[len(all)/2], all[0], all[len(all)-1]}
	if len(all)%2 == 0 {
		s.median = (all[len(all)/2-1] + all[len(all)/2]) / 2
	}
	return s
}

func (s spread) text(format string) string {
	if s.least == s.most {
		return fmt.Sprintf(format, s.median)
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", s.median, s.least, s.most)
}

func (t table) spread(name string, of func(sample) float64) spread {
	var all []float64
	for _, s := range t.samples[name] {
		all = append(all, of(s))
	}
	return spreadOf(all)
}

// ratio compares the first fuzzer with another, round by round.
func (t table) ratio(name string, of func(sample) float64) string {
	ours := t.samples[t.names[0]]
	var all []float64
	for i, s := range t.samples[name] {
		if i < len(ours) && of(s) > 0 {
			all = append(all, of(ours[i])/of(s))
		}
	}
	return spreadOf(all).text("%.2f")
}

// p says how likely the first fuzzer and another would differ by so much if they were alike.
func (t table) p(name string, of func(sample) float64) string {
	if name == t.names[0] {
		return ""
	}
	var samples [2][]float64
	for i, n := range []string{t.names[0], name} {
		for _, s := range t.samples[n] {
			samples[i] = append(samples[i], of(s))
		}
	}
	return fmt.Sprintf("%.3f", mannWhitney(samples[0], samples[1]))
}

func perCPU(s sample) float64  { return s.executions / s.cpu }
func perWall(s sample) float64 { return s.executions / s.wall }
func edges(s sample) float64   { return s.edges }
func lines(s sample) float64   { return s.lines }
func regions(s sample) float64 { return s.regions }

func (t table) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s: %d rounds of %v each; median (least to most); in brackets %s by it, round by round; p of Mann and Whitney's test against it\n", t.library, t.rounds, t.time, t.names[0])
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "fuzzer\texecutions/CPU s\t\texecutions/s\tedges\t\tp\tlines\tp\tregions\t")
	for _, n := range t.names {
		fmt.Fprintf(tw, "%s\t%s\t[%s]\t%s\t%s\t[%s]\t%s\t%s\t%s\t%s\t\n", n, t.spread(n, perCPU).text("%.0f"), t.ratio(n, perCPU), t.spread(n, perWall).text("%.0f"),
			t.spread(n, edges).text("%.0f"), t.ratio(n, edges), t.p(n, edges), t.spread(n, lines).text("%.0f"), t.p(n, lines), t.spread(n, regions).text("%.0f"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if versions := t.versions(); len(versions) > 1 {
		fmt.Fprintf(w, "%s is of several versions: %s\n", t.names[0], strings.Join(versions, ", "))
	}
	return nil
}

// versions returns those of the first fuzzer's runs.
func (t table) versions() (all []string) {
	for _, s := range t.samples[t.names[0]] {
		all = append(all, s.version)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
