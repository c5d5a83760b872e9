package process_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/process"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// A process that has logged more than is kept of its output loses no crash, and the finding shows what its own input logged.
func TestDeathAfterLongLog(t *testing.T) {
	p := target(t, "FuzzNoisy")
	p.Runs, p.MinimizeRuns = 200_000, 4
	s := campaign(t, p, 1)
	if len(s.Findings) != 1 || len(s.Unconfirmed) != 0 {
		t.Fatalf("%d executions, findings %v, unconfirmed %v", s.Executions, s.Findings, s.Unconfirmed)
	}
	f := s.Findings[0]
	if f.Rule != "go/panic" || !strings.HasPrefix(f.Message, "panic: too much noise") || !f.Confirmed() {
		t.Errorf("found %s: %s, reproduced %d of %d times", f.Rule, f.Message, f.Stable, f.Tries)
	}
	if n := strings.Count(f.Detail, "working on"); n != 1 {
		t.Errorf("the detail has %d lines of the log, want that of its own input:\n%.1000s", n, f.Detail)
	}
}

// What ends the process after the campaign was stopped was seen, and there was no time to try it again.
func TestDeathAfterTheEnd(t *testing.T) {
	p := target(t, "FuzzSlow")
	p.Timeout = 10 * time.Second
	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := process.Campaign{Test: p, Seeds: d.Seeds, Duration: time.Second}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := append(append([]teasel.Finding(nil), s.Findings...), s.Unconfirmed...)
	if len(all) != 1 || all[0].Rule != "go/exit" || len(all[0].Input) == 0 || len(s.Unconfirmed) == 1 && all[0].Tries != 0 {
		t.Errorf("findings %v, unconfirmed %v", s.Findings, s.Unconfirmed)
	}
	if s.Executions == 0 {
		t.Error("no executions, though one has ended the process")
	}
}

// Every execution counts: those of a process that dies before it can say so, and those that reproduce and minimise.
func TestDeathsCountExecutions(t *testing.T) {
	p := target(t, "FuzzSlow")
	p.Runs, p.Tries, p.MinimizeRuns = 50, 2, -1
	s := campaign(t, p, 1)
	if len(s.Findings) != 1 || s.Executions < 3 {
		t.Errorf("%d executions, findings %v; want one that died, and two that reproduced it", s.Executions, s.Findings)
	}
}

// What a fresh process does not show is unconfirmed, with its input.
func TestDeathThatIsNotReproduced(t *testing.T) {
	p := target(t, "FuzzOnce")
	p.Runs = 2000
	s := campaign(t, p, 0)
	if len(s.Findings) != 0 || len(s.Unconfirmed) != 1 || s.Unconfirmed[0].Rule != "go/exit" || s.Unconfirmed[0].Tries != 3 || len(s.Unconfirmed[0].Input) == 0 {
		t.Errorf("%d executions, findings %v, unconfirmed %v", s.Executions, s.Findings, s.Unconfirmed)
	}
}

// The doc of Campaign allows an Exchange that gives no close.
func TestExchangeWithoutClose(t *testing.T) {
	p := target(t, "FuzzClean")
	p.Runs = 200
	c := process.Campaign{Test: p, Exchange: func(x teasel.Exchange) (teasel.Exchange, func()) { return x, nil }}
	if s, err := c.Run(t.Context()); err != nil || s.Executions < 200 {
		t.Errorf("%d executions, %v", s.Executions, err)
	}
}

// The workers of a campaign read the environment of one test at once.
func TestEnvironmentIsNotWrittenTo(t *testing.T) {
	p := target(t, "FuzzClean")
	p.Env = append(make([]string, 0, 1000), os.Environ()...)
	p.Runs = 10
	campaign(t, p, 0)
	if rest := p.Env[:cap(p.Env)][len(p.Env)]; rest != "" {
		t.Errorf("%.40q was written behind the environment", rest)
	}
}

// A test that fails, in a process that ends before the failure was tried again, was seen as well.
func TestFailureBeforeDeathIsNotLost(t *testing.T) {
	p := target(t, "FuzzOnceEach")
	p.Runs = 150
	s := campaign(t, p, 0)
	var got []string
	for _, f := range s.Unconfirmed {
		got = append(got, f.Message)
	}
	slices.Sort(got)
	if want := []string{"only once", "the process ended with exit status 5"}; len(s.Findings) != 0 || !slices.Equal(got, want) {
		t.Errorf("findings %v, unconfirmed %q, want %q", s.Findings, got, want)
	}
}

// What a test has started ends with its process, also in a session of its own.
func TestNothingIsLeftBehind(t *testing.T) {
	p := target(t, "FuzzLeaves")
	file := filepath.Join(t.TempDir(), "pid")
	p.Env = append(os.Environ(), "TEASEL_LEFT="+file)
	if f, err := process.Judge(t.Context(), p, []byte("1")); err != nil || f.Rule != "go/exit" {
		t.Fatalf("found %s: %s, %v", f.Rule, f.Message, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if _, alive := proc.StatusOf(pid); alive || err != nil {
		t.Errorf("process %q is still there: %v", text, err)
	}
}

// A loop is found where it runs, on whichever thread that is.
func TestLoopHasAPlace(t *testing.T) {
	p := target(t, "FuzzBlows")
	p.Timeout = time.Second
	f, err := process.Judge(t.Context(), p, []byte(`{"Kind":7,"Deep":"AQE="}`))
	if err != nil || f.Rule != "go/hang" || !strings.Contains(f.Message+f.Detail, "FuzzBlows") {
		t.Errorf("found %s: %s, %v\n%s", f.Rule, f.Message, err, f.Detail)
	}
}
