package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		all  []float64
		want spread
		text string
	}{
		{nil, spread{}, "0"},
		{[]float64{3}, spread{3, 3, 3}, "3"},
		{[]float64{3, 1, 2}, spread{2, 1, 3}, "2 (1 to 3)"},
		{[]float64{4, 1, 2, 3}, spread{2.5, 1, 4}, "2 (1 to 4)"},
	} {
		if got := spreadOf(test.all); got != test.want || got.text("%.0f") != test.text {
			t.Errorf("%v: %v, %s", test.all, got, got.text("%.0f"))
		}
	}
}

// A ratio is of the runs of one round.
func TestTable(t *testing.T) {
	tab := table{library: "l", time: time.Second, rounds: 2, names: []string{"teasel", "afl"}, samples: map[string][]sample{
		"teasel": {{executions: 100, cpu: 1, wall: 1, edges: 20}, {executions: 400, cpu: 1, wall: 2, edges: 20}},
		"afl":    {{executions: 10, cpu: 1, wall: 1, edges: 10}, {executions: 10, cpu: 1, wall: 1, edges: 20}},
	}}
	if got := tab.ratio("afl", perCPU); got != "25.00 (10.00 to 40.00)" {
		t.Errorf("executions: %s", got)
	}
	var out strings.Builder
	if err := tab.print(&out); err != nil {
		t.Fatal(err)
	}
	if want := "[1.50 (1.00 to 2.00)]"; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}

// The limits that are given are those of every fuzzer; without them each has its own.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		limits limits
		want   []string // in the commands of teasel, AFL++ and libFuzzer
	}{
		{limits{4096, 5 * time.Second}, []string{"-max-len 4096 -timeout 5s", "-t 5000 -G 4096", "-timeout=5 -max_len=4096"}},
		{limits{}, []string{"-max-len 0 -timeout 1s", "-t 1000 --", "-timeout=25 -max_len=0"}},
	} {
		j := job{program: "p", out: "o", seeds: "s", time: time.Second, limits: test.limits}
		for i, command := range []func(job) []string{ours, afl, libfuzzer("-fork=1")} {
			if got := strings.Join(command(j), " "); !strings.Contains(got, test.want[i]) {
				t.Errorf("%+v: no %q in %s", test.limits, test.want[i], got)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("execs_done_total  : 7\nexecs_done        : 12\nstat::number_of_executed_units: 34\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"execs_done": 12, "stat::number_of_executed_units": 34} {
		if got, err := number(file, name); err != nil || got != want {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if _, err := number(file, "edges"); err == nil {
		t.Error("a number that is not there was found")
	}
}

func TestParse(t *testing.T) {
	s, err := parse([]string{"-rounds", "2", "libpng"})
	if err != nil || len(s.libraries) != 1 || s.libraries[0].name != "libpng" || len(s.fuzzers) != len(contestants) {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = parse([]string{"-processor-time", "-max-len", "4096", "-timeout", "5s"})
	if err != nil || !s.processor || s.limits != (limits{4096, 5 * time.Second}) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range [][]string{{"-timeout", "1500ms"}, {"-max-len", "-1"}, {"-rounds", "0"}, {"-time", "1ms"}, {"-fuzzers", "radamsa"}, {"zlib"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// LibAFL is left out, with a reason, where its runtime is missing; one that LIBAFL_ARCHIVE names must be there.
func TestAvailable(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "libFuzzer.a")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.a")
	for _, test := range []struct{ given, fuzzers, archive, want, text string }{
		{"", "afl,libafl", there, "afl,libafl", ""},
		{"", "afl,libafl", missing, "afl", "libafl is skipped: stat " + missing},
		{"", "libafl,afl", dir, "afl", dir + " is no file"},
		{"", "libafl", missing, "", "no fuzzer is left to run"},
		{"", "teasel,afl", missing, "teasel,afl", ""},
		{there, "afl,libafl", there, "afl,libafl", ""},
		{missing, "afl,libafl", missing, "", "reading LIBAFL_ARCHIVE: stat " + missing},
	} {
		t.Setenv("LIBAFL_ARCHIVE", test.given)
		var log strings.Builder
		got, err := available(strings.Split(test.fuzzers, ","), test.archive, &log)
		said := log.String()
		if err != nil {
			said = err.Error()
		}
		if strings.Join(got, ",") != test.want || !strings.Contains(said, test.text) || test.text == "" && said != "" || (err != nil) != (test.want == "") {
			t.Errorf("%+v: %q, %v, log %q", test, got, err, log.String())
		}
	}
	t.Setenv("LIBAFL_ARCHIVE", "")
	if got := archive("cache"); got != filepath.Join("cache", "libafl", "libFuzzer.a") {
		t.Errorf("archive: %s", got)
	}
}

// Each library has a harness and at least two seeds of at most a kilobyte.
func TestMaterial(t *testing.T) {
	for _, l := range libraries {
		if _, err := l.source(".", ""); err != nil {
			t.Error(err)
		}
		seeds, err := os.ReadDir(filepath.Join("seeds", l.name))
		if err != nil || len(seeds) < 2 {
			t.Errorf("%s: %d seeds, %v", l.name, len(seeds), err)
		}
		for _, s := range seeds {
			if i, err := s.Info(); err != nil || i.Size() > 1024 {
				t.Errorf("%s: %v, %v", s.Name(), i, err)
			}
		}
	}
	if n := spin(1); n <= 0 || math.IsInf(n, 0) {
		t.Errorf("counted %v rounds", n)
	}
}

// What a fuzzer was given counts for it, whether it keeps its seeds or not.
func TestSeedsAreJudged(t *testing.T) {
	seeds, corpus := t.TempDir(), t.TempDir()
	for _, f := range []string{filepath.Join(seeds, "one"), filepath.Join(corpus, "one")} {
		if err := os.WriteFile(f, []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := sow(seeds, corpus); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(corpus, "seed-one"))
	if files, _ := os.ReadDir(corpus); err != nil || string(text) != filepath.Join(seeds, "one") || len(files) != 2 {
		t.Errorf("%q, %v, %d files", text, err, len(files))
	}
}

// A table says when its own runs are not all of one version.
func TestVersions(t *testing.T) {
	for want, versions := range map[int][]string{0: nil, 1: {"a", "a"}, 2: {"b", "a", "b"}} {
		tab := table{names: []string{"teasel"}, samples: map[string][]sample{}}
		for _, v := range versions {
			tab.samples["teasel"] = append(tab.samples["teasel"], sample{version: v})
		}
		if got := tab.versions(); len(got) != want {
			t.Errorf("%v: %v", versions, got)
		}
	}
}
