package corpus

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

func lines(t *testing.T, d *Dir, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.Path(), name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func run(t *testing.T, d *Dir, from, to int) {
	t.Helper()
	start := time.Unix(1_700_000_000, 0)
	for i := from; i <= to; i++ {
		d.now = func() time.Time { return start.Add(time.Duration(i) * time.Second) }
		s := teasel.Stats{Elapsed: time.Duration(i) * time.Second, Executions: uint64(i * 100), Corpus: 3, Features: 42,
			Findings: 2, Workers: 2, LastKept: 4 * time.Second, Memory: 50 << 20, Stability: 0.875}
		report(t, d, teasel.Event{Kind: teasel.EventProgress, Stats: s})
	}
}

func TestSeries(t *testing.T) {
	d := create(t)
	seed, child := entry("seed", 1), entry("child", 2)
	child.Stage, child.Depth, child.Picked = "havoc", 2, 9
	report(t, d, teasel.Event{Kind: teasel.EventAdded, Entry: seed}, teasel.Event{Kind: teasel.EventAdded, Entry: child})
	run(t, d, 1, 3)
	report(t, d, found("mcp/server-crash", "a", "x"), found("mcp/server-crash", "a", "x"), found("mcp/hang", "b", "y"), found("mcp/leak", "c", "z"))
	run(t, d, 4, 12)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	table := lines(t, d, statsName)
	if len(table) != 13 || table[12] != "12.000,1700000012,1200,100.0,3,0,42,2,2,4.000,0.000,52428800,1,1,3.000,3.000,0.8750" {
		t.Errorf("%d lines, the last is %q", len(table), table[len(table)-1])
	}
	if _, err := csv.NewReader(strings.NewReader(strings.Join(table, "\n"))).ReadAll(); err != nil {
		t.Error(err)
	}
	plot := lines(t, d, plotName)
	want := []string{"1, 4, 0, 3, 1, 1, 0.00%, 0, 0, 3, 100.00, 100, 42", "6, 4, 0, 3, 1, 1, 0.00%, 1, 1, 3, 100.00, 600, 42"}
	if len(plot) < 4 || plot[1] != want[0] || plot[2] != want[1] || strings.Count(plot[0], ",") != strings.Count(plot[1], ",") {
		t.Errorf("plot_data %q", plot)
	}
	stats := strings.Join(lines(t, d, aflName), "\n") + "\n"
	for _, l := range []string{"start_time        : 1700000000\n", "last_update       : 1700000012\n", "run_time          : 12\n",
		"execs_done        : 1200\n", "execs_per_sec     : 100.00\n", "execs_ps_last_min : 100.00\n", "corpus_count      : 3\n",
		"corpus_found      : 1\n", "max_depth         : 3\n", "pending_total     : 1\n", "saved_crashes     : 1\n", "saved_hangs       : 1\n",
		"last_find         : 1700000004\n", "last_crash        : 1700000003\n", "execs_since_crash : 900\n", "edges_found       : 42\n",
		"peak_rss_mb       : 50\n", "stability         : 87.50%\n", "afl_banner        : node server.js\n", "target_mode       : mcp\n"} {
		if !strings.Contains(stats, l) {
			t.Errorf("no %q in\n%s", l, stats)
		}
	}

	// A line that a kill cut off goes, and the tables go on.
	f, err := os.OpenFile(filepath.Join(d.Path(), statsName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("13.0")
	f.Close()
	if d, err = Open(d.Path()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	run(t, d, 14, 14)
	if table = lines(t, d, statsName); len(table) != 14 || !strings.HasPrefix(table[13], "14.000,") {
		t.Errorf("after a kill: %q", table[len(table)-2:])
	}
	if last := d.state.last; time.Duration(last[Crashes]) < 3*time.Second || time.Duration(last[Crashes]) >= 4*time.Second {
		t.Errorf("the last crash came at %v after a new start", last)
	}
	if d.series.crashes != 1 || d.series.hangs != 1 {
		t.Errorf("%d crashes and %d hangs after a new start", d.series.crashes, d.series.hangs)
	}
}

// afl-whatsup sources fuzzer_stats in a shell: no name of a target may run there.
func TestStatsAreHarmless(t *testing.T) {
	m := testMeta()
	dir := t.TempDir()
	m.Name = "$(touch " + dir + "/pwned) `touch " + dir + "/pwned` \"; touch " + dir + "/pwned; \"\ntouch " + dir + "/pwned"
	d, err := Create(filepath.Join(dir, "out"), m)
	if err != nil {
		t.Fatal(err)
	}
	run(t, d, 1, 1)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	script := `sed 's/^command_line.*$/_skip:1/;s/[ ]*:[ ]*/="/;s/$/"/' "$1" >"$2" && . "$2" && echo "$execs_done"`
	out, err := exec.Command("sh", "-c", script, "sh", filepath.Join(d.Path(), aflName), filepath.Join(dir, "sourced")).CombinedOutput()
	if err != nil || string(out) != "100\n" {
		t.Errorf("sourcing: %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("the name of the target was run")
	}
}
