package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
)

const plotHead = "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, saved_crashes, " +
	"saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n"

// aflFigures are figures that only AFL++'s files have.
type aflFigures struct {
	pending int     // testcases that were never picked
	found   int     // testcases that are no seeds
	depth   int     // of the deepest testcase, from 1
	minute  float64 // executions a second in the last minute
	cycles  uint64  // picks for each testcase, as AFL++ counts cycles
	idle    uint64  // of them, since the last testcase was found
	current int     // number of the testcase that was picked last
	edges   int
	cover   string // share of the target's edges
}

func (s *series) aflFigures(d *Dir) aflFigures {
	g := aflFigures{pending: d.state.pending, found: d.state.found, depth: d.state.depth + 1, minute: rate(&d.state.stats, sample{}),
		edges: d.state.stats.Features, cover: "0.00%"}
	if len(s.samples) > 1 {
		g.minute = rate(&d.state.stats, s.samples[0])
	}
	if n := uint64(len(d.state.at)); n > 0 {
		g.cycles, g.idle = d.state.picks/n, (d.state.picks-d.state.picksBefore)/n
	}
	if d.queue != nil {
		g.current = d.queue.ids[d.state.current]
	}
	if d.meta.Edges > 0 {
		g.edges = len(d.edges)
		g.cover = fmt.Sprintf("%.2f%%", 100*float64(g.edges)/float64(d.meta.Edges))
	}
	return g
}

// addEdges counts the edges that a testcase reaches.
func (d *Dir) addEdges(e *teasel.Entry) {
	if d.meta.Edges > 0 {
		d.edges.Add(e.Features)
	}
}

// write adds a line to plot_data and replaces fuzzer_stats. The names and their order are those of AFL++ 4
// (src/afl-fuzz-stats.c), which afl-plot and others read; figures without a counterpart here are 0. All that a pool keeps
// is what AFL++ calls favoured.
func (s *series) write(d *Dir) error {
	st, g := &d.state.stats, s.aflFigures(d)
	if _, err := fmt.Fprintf(s.plot, "%d, %d, %d, %d, %d, %d, %s, %d, %d, %d, %.2f, %d, %d\n", int64(st.Elapsed.Seconds()), g.cycles,
		g.current, st.Corpus, g.pending, g.pending, g.cover, s.crashes, s.hangs, g.depth, g.minute, st.Executions, g.edges); err != nil {
		return fmt.Errorf("writing %s: %w", plotName, err)
	}
	var b bytes.Buffer
	for _, f := range s.fuzzerStats(d, &g) {
		fmt.Fprintf(&b, "%-18s: %v\n", f.name, f.value)
	}
	if err := replace(filepath.Join(d.path, aflName), b.Bytes(), false); err != nil {
		return fmt.Errorf("writing %s: %w", aflName, err)
	}
	return nil
}

type figure struct {
	name  string
	value any
}

func (s *series) fuzzerStats(d *Dir, g *aflFigures) []figure {
	st, now := &d.state.stats, d.now()
	start := now.Add(-st.Elapsed)
	at := func(elapsed time.Duration) int64 { // 0: never
		if elapsed == 0 {
			return 0
		}
		return unix(start.Add(elapsed))
	}
	figures := []figure{
		{"start_time", unix(start)},
		{"last_update", unix(now)},
		{"run_time", int64(st.Elapsed.Seconds())},
		{"fuzzer_pid", os.Getpid()},
		{"cycles_done", g.cycles},
		{"cycles_wo_finds", g.idle},
		{"time_wo_finds", int64((st.Elapsed - st.LastKept).Seconds())},
		{"fuzz_time", int64(st.Elapsed.Seconds())},
		{"calibration_time", 0},
		{"cmplog_time", 0},
		{"sync_time", 0},
		{"trim_time", 0},
		{"execs_done", max(st.Executions, 1)}, // afl-whatsup divides by it, and by corpus_count,
		{"execs_per_sec", fmt.Sprintf("%.2f", rate(st, sample{}))},
		{"execs_ps_last_min", fmt.Sprintf("%.2f", g.minute)},
		{"corpus_count", max(st.Corpus, 1)},
		{"corpus_favored", st.Corpus},
		{"corpus_found", g.found},
		{"corpus_imported", 0},
		{"corpus_variable", 0},
		{"max_depth", g.depth},
		{"cur_item", g.current},
		{"pending_favs", g.pending},
		{"pending_total", g.pending},
		{"stability", fmt.Sprintf("%.2f%%", 100*st.Stability)},
		{"bitmap_cvg", g.cover},
		{"saved_crashes", s.crashes},
		{"saved_hangs", s.hangs},
		{"total_tmout", s.hangs},
		{"last_find", at(st.LastKept)},
		{"last_crash", at(time.Duration(d.state.last[Crashes]))},
		{"last_hang", at(time.Duration(d.state.last[Hangs]))},
		{"execs_since_crash", st.Executions - min(st.Executions, s.lastCrash)},
		{"exec_timeout", 0},
		{"slowest_exec_ms", 0},
		{"peak_rss_mb", st.Memory >> 20},
		{"cpu_affinity", -1},
		{"edges_found", g.edges},
		{"total_edges", max(d.meta.Edges, g.edges)},
		{"var_byte_count", len(d.state.unstable)},
	}
	if st.Stability == 0 { // nothing was calibrated
		figures = slices.DeleteFunc(figures, func(f figure) bool { return f.name == "stability" })
	}
	return append(figures, lastFigures(&d.meta)...)
}

// lastFigures returns what fuzzer_stats ends with: what teasel does not have, and what is fuzzed.
func lastFigures(m *Meta) []figure {
	return []figure{
		{"havoc_expansion", 0},
		{"auto_dict_entries", 0},
		{"testcache_size", 0},
		{"testcache_count", 0},
		{"testcache_evict", 0},
		{"afl_banner", shellSafe(m.Name)},
		{"afl_version", "teasel " + shellSafe(m.Version)},
		{"target_mode", shellSafe(m.Kind)},
		{"command_line", oneLine("teasel " + m.Kind + " " + m.Name)},
	}
}

// unix is a time as AFL++ writes it; 0: never.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// shellSafe replaces the characters that mean something to a shell inside double quotes: afl-whatsup sources the file.
func shellSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune("\"`$\\!", r) {
			return '_'
		}
		return r
	}, s)
}

// oneLine replaces control characters by spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
