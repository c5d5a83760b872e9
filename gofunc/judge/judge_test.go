package judge_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
)

func ExampleDetect() {
	obs := &teasel.Observation{Exit: teasel.ExitCrash, Evidence: &judge.Failure{Cause: judge.CauseTest,
		Text: "--- FAIL: FuzzX (0.00s)\n    x_test.go:12: round trip differs\n"}}
	for _, f := range judge.Detect(obs) {
		fmt.Println(f.Rule, f.Subject, f.Message)
	}
	// Output: go/failed x_test.go:12 round trip differs
}

// Each file of the archive is what a process wrote; its name says how it ended and its first line what is to be found.
func TestDetect(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "failures.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]judge.Cause{"test": judge.CauseTest, "process": judge.CauseProcess, "timeout": judge.CauseTimeout, "memory": judge.CauseMemory}
	for _, f := range a.Files {
		cause, _, _ := strings.Cut(f.Name, "-")
		want, text, _ := strings.Cut(string(f.Data), "\n")
		fs := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: causes[cause], Text: text, Status: syscall.WaitStatus(2 << 8)}})
		if len(fs) != 1 {
			t.Fatalf("%s: %d findings", f.Name, len(fs))
		}
		if got := fmt.Sprintf("%s | %s | %s", fs[0].Rule, fs[0].Subject, fs[0].Group); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", f.Name, got, want)
		}
	}
	if len(a.Files) < 8 {
		t.Errorf("only %d failures", len(a.Files))
	}
}

func TestRules(t *testing.T) {
	ids := map[string]bool{}
	for _, id := range append(judge.CrashRules(), judge.HangRules()...) {
		ids[id] = true
	}
	for _, r := range judge.Rules() {
		if !ids[r.ID] || r.Help == "" || r.Title == "" || r.Severity == teasel.SeverityInvalid {
			t.Errorf("%s is incomplete", r.ID)
		}
	}
}
