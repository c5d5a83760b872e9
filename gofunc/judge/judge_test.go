package judge_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
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

// text returns a file of an archive. <mark> stands for the mark of a failure.
func text(f txtar.File) string { return strings.ReplaceAll(string(f.Data), "<mark>", agent.Mark) }

// status is the exit status that the last line of a text speaks of; 2, which is that of the runtime, if it does not.
func status(text string) syscall.WaitStatus {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	n := 2
	fmt.Sscanf(lines[len(lines)-1], "exit status %d", &n)
	return syscall.WaitStatus(n << 8)
}

// Each file of the archive is what a process wrote; its name says how it ended and its first line what is to be found.
func TestDetect(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "failures.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]judge.Cause{"test": judge.CauseTest, "process": judge.CauseProcess, "timeout": judge.CauseTimeout, "memory": judge.CauseMemory, "allocation": judge.CauseAllocation}
	for _, f := range a.Files {
		cause, _, _ := strings.Cut(f.Name, "-")
		want, text, _ := strings.Cut(text(f), "\n")
		fs := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: causes[cause], Text: text, Status: status(text)}})
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

// The message names a line of the user's code, and the detail begins with the calls that led there, without the machinery's.
func TestDetectNamesTheLine(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "failures.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"test-panic": {"panic: runtime error: index out of range [9] with length 1, at m.go:3",
			"example.com/m.parse\n\t/home/u/m/m.go:3\nexample.com/m.FuzzA.func1\n\t/home/u/m/m_test.go:3\n\n--- FAIL"},
		"test-panic-in-the-standard-library": {"panic: strings: negative Repeat count, at m.go:3", "strings.Repeat\n\t/usr/local/go/src/strings/strings.go:624\nexample.com/m.(*T).put\n"},
		"process-signal-in-c":                {"the process was ended by a signal: segmentation violation, at c.go:10", "example.com/m._Cfunc_boom\n\t_cgo_gotypes.go:50\n"},
		"test-error":                         {"got 5, want 7", "--- FAIL"},
		"test-error-after-log":               {"got 5, want 7", "--- FAIL: FuzzA (0.00s)\n    m_test.go:9: the input has 3 bytes\n    m_test.go:17: got 5, want 7\n"},
		"test-assertion":                     {"Not equal: expected: 1 actual  : 2", "--- FAIL: FuzzA (0.00s)\n    m_test.go:9: the input has 3 bytes\n    m_test.go:17: \n        \tError Trace:"},
		"test-race":                          {"data race in example.com/m.read, at m.go:5, and in example.com/m.write, at m.go:9", "--- FAIL"},
		"test-race-other-order":              {"data race in example.com/m.read, at m.go:5, and in example.com/m.write, at m.go:9", ""},
		"test-race-in-one-function":          {"data race in example.com/m.write, at m.go:9 and m.go:12", ""},
		"test-race-half-lost":                {"data race in example.com/m.write, at m.go:9", ""},
		"test-below":                         {"got 5, want 7", "--- FAIL"},
		"timeout-typed":                      {"the test did not end in time: its goroutine waits (select (no cases)), at m_test.go:161", "example.com/m.FuzzBlows.func1\n\t/home/u/m/m_test.go:161\n\n"},
	} {
		i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		_, text, _ := strings.Cut(text(a.Files[i]), "\n")
		cause := judge.CauseTest
		switch {
		case strings.HasPrefix(name, "timeout"):
			cause = judge.CauseTimeout
		case strings.HasPrefix(name, "process"):
			cause = judge.CauseProcess
		}
		f := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: cause, Text: text, Status: status(text)}})[0]
		if f.Message != want[0] || !strings.HasPrefix(f.Detail, want[1]) {
			t.Errorf("%s: %q with\n%s", name, f.Message, f.Detail)
		}
	}
}

// Files of many packages have the same names: failures whose function is not known are distinguished by their fuzz tests. Those of
// the same function are one fault, whichever fuzz test shows it.
func TestDetectTellsFuzzTestsApart(t *testing.T) {
	for name, c := range map[string]struct {
		failure judge.Failure
		same    bool
	}{
		"line":   {judge.Failure{Cause: judge.CauseTest, Text: "--- FAIL: FuzzX (0.00s)\n    fuzz_test.go:8: wrong\n"}, false},
		"fail":   {judge.Failure{Cause: judge.CauseTest, Text: "--- FAIL: FuzzX (0.00s)\n"}, false},
		"exit":   {judge.Failure{Cause: judge.CauseProcess, Status: syscall.WaitStatus(3 << 8)}, false},
		"signal": {judge.Failure{Cause: judge.CauseProcess, Status: syscall.WaitStatus(syscall.SIGTERM)}, false},
		"hang":   {judge.Failure{Cause: judge.CauseTimeout}, false},
		"memory": {judge.Failure{Cause: judge.CauseMemory}, false},
		"panic": {judge.Failure{Cause: judge.CauseProcess, Status: syscall.WaitStatus(2 << 8), Text: "panic: no\n\ngoroutine 7 [running]:\nexample.com/m.parse(...)\n\t/m/m.go:3 +0x1\n" +
			"created by example.com/m.Start\n\t/m/m.go:9 +0x1\n"}, true},
	} {
		ids := map[string]bool{}
		for _, test := range []string{"example.com/m/a FuzzX", "example.com/m/b FuzzX", "example.com/m/a FuzzY"} {
			c.failure.Test = test
			ids[judge.Detect(&teasel.Observation{Evidence: &c.failure})[0].ID()] = true
		}
		if want := map[bool]int{true: 1, false: 3}[c.same]; len(ids) != want {
			t.Errorf("%s: %d findings of three fuzz tests, want %d", name, len(ids), want)
		}
	}
}

// Panics in two lines of a function are two faults; a recursion of any depth, a generic function of any type and a call that was
// inlined or not are one. Where a fatal error of the runtime shows depends on the moment.
func TestDetectTellsLinesApart(t *testing.T) {
	panics := func(first string, calls ...string) string {
		text := first + "\n\ngoroutine 7 [running]:\npanic({0x1?, 0x2?})\n\t/usr/local/go/src/runtime/panic.go:860 +0x13a\n"
		for _, c := range append(calls, "FuzzA.func1 m_test.go:3") {
			function, place, _ := strings.Cut(c, " ")
			text += "example.com/m." + function + "\n\t/home/u/m/" + place + " +0x1\n"
		}
		return text + "testing.tRunner(0x1, 0x2)\n\t/usr/local/go/src/testing/testing.go:2036 +0xea\n"
	}
	for name, c := range map[string]struct {
		one, other string
		same       bool
	}{
		"lines":     {panics("panic: a", "parse({0x1}) m.go:6"), panics("panic: b", "parse({0x1}) m.go:9"), false},
		"recursion": {panics("panic: a", "parse({0x1}) m.go:6"), panics("panic: a", "parse({0x1}) m.go:6", "parse({0x1}) m.go:8", "parse({0x1}) m.go:8", "parse({0x1}) m.go:8"), true},
		"generics":  {panics("panic: a", "parse[...]({0x1}) m.go:6"), panics("panic: a", "parse({0x1}) m.go:6"), true},
		"inlining":  {panics("panic: a", "parse(...) m.go:6"), panics("panic: a", "parse({0x1}) m.go:6"), true},
		"maps":      {panics("fatal error: concurrent map writes", "put({0x1}) m.go:6"), panics("fatal error: concurrent map writes", "put({0x1}) m.go:9"), true},
	} {
		var ids []string
		for _, text := range []string{c.one, c.other} {
			f := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseProcess, Status: status(text), Text: text, Test: "m FuzzA"}})[0]
			if !strings.HasPrefix(f.Subject, "example.com/m.p") {
				t.Errorf("%s: the subject is %s", name, f.Subject)
			}
			ids = append(ids, f.ID())
		}
		if same := ids[0] == ids[1]; same != c.same {
			t.Errorf("%s: one finding is %v, want %v", name, same, c.same)
		}
	}
}

// A line may be as long as the input: reports show its beginning, and the place all the same.
func TestDetectShortensLines(t *testing.T) {
	text := "--- FAIL: FuzzA (0.00s)\n    testing.go:1927: panic: " + strings.Repeat("\u20ac", 1<<18) + "\n        goroutine 8 [running]:\n" +
		"        example.com/m.parse(0x3)\n        \t/home/u/m/m.go:3 +0xf8\n"
	f := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTest, Text: text}})[0]
	if len(f.Message) > 1024 || len(f.Detail) > 4096 || !utf8.ValidString(f.Message) {
		t.Errorf("a message of %d bytes with a detail of %d", len(f.Message), len(f.Detail))
	}
	if !strings.HasPrefix(f.Message, "panic: \u20ac") || !strings.HasSuffix(f.Message, " bytes more), at m.go:3") || !strings.HasSuffix(f.Detail, "m.go:3 +0xf8\n") {
		t.Errorf("the message is %q", f.Message)
	}
}

// What the race detector reports is a race where the test was built with it: other programs write such reports too.
func TestDetectRaceOfProcess(t *testing.T) {
	const report = "==================\nWARNING: DATA RACE\nWrite at 0x00c000014178 by goroutine 9:\n  example.com/m.write()\n      /m/m.go:9 +0x2e\n==================\n"
	for built, want := range map[bool]string{true: "go/race", false: "go/exit"} {
		f := judge.Failure{Cause: judge.CauseProcess, Text: report, Status: syscall.WaitStatus(66 << 8), Race: built}
		if got := judge.Detect(&teasel.Observation{Evidence: &f})[0].Rule; got != want {
			t.Errorf("built with the race detector %v: %s, want %s", built, got, want)
		}
		f.Cause = judge.CauseTimeout // a loop may have spent its time on reports
		if got := judge.Detect(&teasel.Observation{Evidence: &f})[0].Rule; (got == "go/race") != built {
			t.Errorf("out of time, built with the race detector %v: %s", built, got)
		}
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

// A panic is known by its line: functions that parse call each other in many ways. A function that panics for its callers may do so
// for many reasons.
func TestDetectOneLine(t *testing.T) {
	for _, c := range []struct {
		message, function string
		want              int
	}{
		{"panic: runtime error: index out of range [9] with length 1", "parse", 1},
		{"panic: unexpected end", "parse", 1},
		{"panic: unexpected end", "(*parser).failf", 2},
		{"panic: unexpected end", "MustParse", 2},
		{"panic: runtime error: index out of range [9] with length 1", "check", 1},
	} {
		ids := map[string]bool{}
		for _, caller := range []string{"list", "object"} {
			text := c.message + "\n\ngoroutine 7 [running]:\nexample.com/m." + c.function + "(...)\n\t/m/m.go:3 +0x1\nexample.com/m." + caller + "(...)\n\t/m/m.go:9 +0x1\n"
			ids[judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseProcess, Status: syscall.WaitStatus(2 << 8), Text: text}})[0].ID()] = true
		}
		if len(ids) != c.want {
			t.Errorf("%s in %s: %d findings of two callers, want %d", c.message, c.function, len(ids), c.want)
		}
	}
}

func TestUnavailable(t *testing.T) {
	running := "goroutine 45 gp=0x2a502a506f00 m=6 mp=0x2a502a4e6008 [running]:\n\tgoroutine running on other thread; stack unavailable\ncreated by testing.(*F).Fuzz.func1 in goroutine 20\n\t/usr/local/go/src/testing/fuzz.go:328 +0x6d5\n"
	test := "goroutine 8 [runnable]:\nexample.com/m.Spin()\n\t/m/m.go:3 +0x1\ntesting.(*F).Fuzz.func1.1.1(...)\n\t/usr/local/go/src/testing/fuzz.go:340 +0x2d\ntesting.tRunner(...)\n\t/usr/local/go/src/testing/testing.go:2036 +0xea\n"
	for text, want := range map[string]bool{"SIGQUIT: quit\n\n" + running: true, "SIGQUIT: quit\n\n" + running + "\n" + test: false, "": false} {
		if got := judge.Unavailable(text); got != want {
			t.Errorf("%v for %q", got, text)
		}
	}
}

// A goroutine whose stack is being moved to a larger one runs: it does not wait for anybody.
func TestGrowingStack(t *testing.T) {
	const text = "SIGQUIT: quit\n\ngoroutine 8 [%s]:\nexample.com/m.Down()\n\t/m/m.go:3 +0x1\ntesting.(*F).Fuzz.func1.1.1(...)\n\t/usr/local/go/src/testing/fuzz.go:340 +0x2d\ntesting.tRunner(...)\n\t/usr/local/go/src/testing/testing.go:2036 +0xea\n"
	for state, want := range map[string]string{"running": "go/hang", "copystack": "go/hang", "chan receive": "go/deadlock"} {
		f := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTimeout, Text: fmt.Sprintf(text, state)}})
		if len(f) != 1 || f[0].Rule != want {
			t.Errorf("%s: %v, want %s", state, f, want)
		}
	}
}

func TestAllocation(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "failures.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"allocation": 3221225472, "allocation-without-a-size": 0x1880000000}
	for _, f := range a.Files {
		if got := judge.Allocation(text(f)); got != want[f.Name] {
			t.Errorf("%s: %d bytes, want %d", f.Name, got, want[f.Name])
		}
	}
}
