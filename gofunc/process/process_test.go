package process_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

func target(t testing.TB, name string) *process.Test {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &process.Test{Binary: binary, Name: name, Seed: 1, Timeout: 2 * time.Second}
}

// campaign runs one worker until there are so many findings, or it has made its runs.
func campaign(t testing.TB, p *process.Test, findings int) teasel.Summary {
	t.Helper()
	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := &teasel.Hub{Pool: process.NewPool(), StopAfter: findings}
	for _, s := range d.Seeds {
		h.Seed(s)
	}
	if err := p.Work(t.Context(), h, 0); err != nil {
		t.Fatal(err)
	}
	return h.Summary()
}

func TestDescribe(t *testing.T) {
	d, err := target(t, "FuzzBlows").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Type != "process_test.blow" || len(d.Seeds) != 1 || string(d.Seeds[0]) != "go test fuzz v1\nstring(`{\"Kind\":0,\"Deep\":null,\"Notes\":null}`)\n" {
		t.Errorf("described as %s with %q", d.Type, d.Seeds)
	}
	if _, err := target(t, "FuzzOrdinary").Describe(t.Context()); !errors.Is(err, process.ErrNotTyped) {
		t.Errorf("an ordinary test: %v", err)
	}
	p := target(t, "FuzzBlows")
	p.Env = append(os.Environ(), "TEASEL_GO_TYPED={}")
	p.Binary = "/does/not/exist"
	if _, err := p.Describe(t.Context()); err == nil {
		t.Error("a test that is not there is described")
	}
}

// Puzzles that random bytes do not solve, with several seeds.
func TestPuzzles(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for _, test := range []struct {
		name, message string
		runs          uint64
		input         string // what the minimised input has
	}{
		{"FuzzOrdered", "six operations in order", 500_000, `"Op":4`},
		{"FuzzProduct", "the product of two factors", 2_000_000, "127"},
		{"FuzzMaze", "out of the maze", 2_000_000, "82,68,68,68,82,82"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name == "FuzzMaze" {
				t.Skip("one goroutine computes for long: not with -short")
			}
			for seed := range seeds {
				p := target(t, test.name)
				p.Seed, p.Runs = seed, test.runs
				s := campaign(t, p, 1)
				if len(s.Findings) != 1 || s.Findings[0].Message != test.message || !s.Findings[0].Confirmed() {
					t.Errorf("seed %d: %d executions, findings %v", seed, s.Executions, s.Findings)
					continue
				}
				if in := string(s.Findings[0].Input); !strings.Contains(in, test.input) {
					t.Errorf("seed %d: the input is %s", seed, in)
				}
				t.Logf("seed %d: %d executions: %s", seed, s.Executions, s.Findings[0].Input)
			}
		})
	}
}

// What ends the process is confirmed in another one, simplified, and does not end the campaign.
func TestDeaths(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a thousand processes")
	}
	p := target(t, "FuzzBlows")
	p.Runs, p.MinimizeRuns, p.Timeout = 100_000, 8, time.Second
	s := campaign(t, p, 7)
	got := map[string]teasel.Finding{}
	for _, f := range s.Findings {
		message, _, _ := strings.Cut(f.Message, ", at ")
		got[message] = f
		if f.Stable == 0 || f.Tries == 0 {
			t.Errorf("%s was reproduced %d of %d times", f.Message, f.Stable, f.Tries)
		}
		t.Logf("%s %s: %s", f.Rule, f.Message, f.Input)
	}
	for message, kind := range map[string]int{"the process ended with exit status 3": 1, "stack overflow in github.com/teaselfuzz/teasel/gofunc/process_test.FuzzBlows": 2, "fatal error: concurrent map writes": 3,
		"the test did not end in time: its goroutine waits (select (no cases))": 4, "panic: a panic": 5, "an error": 6, "the test did not end in time": 7} {
		f, ok := got[message]
		if want := fmt.Sprintf(`{"Kind":%d,`, kind); !ok || !strings.Contains(string(f.Input), want) {
			t.Errorf("%s: found %v with %s, want %s", message, ok, f.Input, want)
		}
	}
}

// What passing inputs have logged is no part of a failure.
func TestLogsAreNoFailures(t *testing.T) {
	p := target(t, "FuzzLogs")
	p.Runs = 5000
	s := campaign(t, p, 0)
	got := map[string]bool{}
	for _, f := range s.Findings {
		got[f.Message] = f.Confirmed() && !strings.Contains(f.Detail, "small")
	}
	if len(got) != 2 || !got["two hundred"] || !got["two hundred and one"] {
		t.Errorf("findings %v", s.Findings)
	}
}

// shorter is a number of executions, a tenth of it with -short.
func shorter(t *testing.T, runs uint64) uint64 {
	t.Helper()
	if testing.Short() {
		t.Logf("%d executions instead of %d with -short", runs/10, runs)
		return runs / 10
	}
	return runs
}

func TestCleanTwin(t *testing.T) {
	p := target(t, "FuzzClean")
	p.Runs = shorter(t, 30_000)
	if s := campaign(t, p, 0); len(s.Findings) != 0 || s.Executions < p.Runs || s.Corpus < 1 {
		t.Errorf("%d executions, %d testcases, findings %v", s.Executions, s.Corpus, s.Findings)
	}
}

// A finding that is saved as Go's own corpus has it fails plain go test, for every outcome.
func TestSavedFindingsFailGoTest(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for n, fails := range map[int]bool{0: false, 1: true, 2: true, 3: true, 4: false, 5: true, 6: true, 8: true, 9: false, 10: false, 11: false, 12: true, 13: true} {
		p := target(t, "FuzzOutcomes")
		got, err := process.Judge(t.Context(), p, fmt.Append(nil, n))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		corpus := filepath.Join(dir, "testdata", "fuzz", "FuzzOutcomes")
		if err := os.MkdirAll(corpus, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(corpus, "saved"), link.File(fmt.Append(nil, n)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "-test.run=^FuzzOutcomes$/^saved$")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if plain := err != nil; plain != fails || (got.Rule != "") != fails {
			t.Errorf("input %d: go test fails: %v, we say %q, want a failure: %v\n%s", n, plain, got.Message, fails, out)
		}
	}
}

// A test gets all constants of its package, however many there are and whatever they begin with.
func TestAllConstantsAreTried(t *testing.T) {
	p := target(t, "FuzzWord")
	p.Runs = 200_000
	for i := range 5000 {
		p.Constants = append(p.Constants, fmt.Sprintf("word number %d of those that are of no use", i))
	}
	p.Constants = append(p.Constants, strings.Repeat("a long text ", 10_000), "zz-magic-word")
	if s := campaign(t, p, 1); len(s.Findings) != 1 || s.Findings[0].Message != "found the word" {
		t.Errorf("%d executions, findings %v", s.Executions, s.Findings)
	}
}

func TestFilterIsKept(t *testing.T) {
	p := target(t, "FuzzFiltered")
	p.Runs = shorter(t, 30_000)
	if s := campaign(t, p, 1); len(s.Findings)+len(s.Unconfirmed) != 0 || s.Executions < p.Runs {
		t.Errorf("%d executions, findings %v", s.Executions, s.Findings)
	}
}

func TestParallelIsExplained(t *testing.T) {
	p := target(t, "FuzzParallel")
	p.Timeout = time.Second
	f, err := process.Judge(t.Context(), p, []byte("0"))
	if err != nil || f.Rule != "go/deadlock" || !strings.Contains(f.Message, "t.Parallel") {
		t.Errorf("%s: %s, %v\n%s", f.Rule, f.Message, err, f.Detail)
	}
}

// What shows only since an input has run before in the same process is no finding, as plain go test would pass.
func TestStateOfTheSameInput(t *testing.T) {
	p := target(t, "FuzzHoards")
	p.Runs = 5000
	s := campaign(t, p, 0)
	if len(s.Findings) != 1 || s.Findings[0].Message != "by itself" || len(s.Unconfirmed) != 1 || s.Unconfirmed[0].Message != "seen before" {
		t.Errorf("found %+v, unconfirmed %+v", s.Findings, s.Unconfirmed)
	}
}
