package plantedtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// measured are the bugs that do not show in a reply; each has a test of its own.
var measured = []string{"quadratic-time", "exponential-time", "memory-leak"}

// TestTriggers: the trigger of each bug shows it on the server with that bug, and not on the server without.
func TestTriggers(t *testing.T) {
	shown := map[string]bool{}
	for _, name := range measured {
		shown[name] = true
	}
	for _, sc := range readScripts(t, "testdata/triggers.txt") {
		shown[sc.name] = true
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			sc.run(t, start(t, planted, "-bugs", sc.name), true)
		})
		t.Run(sc.name+"/clean", func(t *testing.T) {
			t.Parallel()
			sc.run(t, start(t, planted, "-bugs", "none"), false)
		})
	}
	for _, b := range Bugs {
		if !shown[b.Name] {
			t.Errorf("no test shows the bug %s", b.Name)
		}
	}
}

// TestList compares the server's own list with Bugs.
func TestList(t *testing.T) {
	out, err := exec.Command(planted, "-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(Bugs) || len(Bugs) < 24 {
		t.Fatalf("the server lists %d bugs, Bugs has %d, want the same and at least 24", len(lines), len(Bugs))
	}
	for i, line := range lines {
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			t.Fatalf("%q has %d fields, want 4", line, len(fields))
		}
		b := Bugs[i]
		if fields[0] != b.Name || fields[2] != b.About {
			t.Errorf("listed %q, Bugs has %q: %q", line, b.Name, b.About)
		}
		if len(b.Rules) == 0 {
			t.Errorf("%s has no rules", b.Name)
		}
		for _, r := range b.Rules {
			if !strings.HasPrefix(r, "mcp/") {
				t.Errorf("%s: rule %q, want the prefix mcp/", b.Name, r)
			}
		}
	}
	err = exec.Command(planted, "-bugs", "nothing").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
		t.Errorf("an unknown bug ends with %v, want status 2", err)
	}
}

// TestTime: two matchers need far more processor time than their clean twins. The processor time is measured by the operating
// system, so that the result does not depend on the load of the machine.
func TestTime(t *testing.T) {
	for _, tc := range []struct{ bug, tool, argument, text string }{
		{"quadratic-time", "check_filter", "filter", strings.Repeat("a", 1<<16)},
		{"exponential-time", "check_code", "code", strings.Repeat("a", 26)},
	} {
		t.Run(tc.bug, func(t *testing.T) {
			work := func(bugs string) time.Duration {
				s := start(t, planted, "-bugs", bugs)
				s.initialize("2025-11-25")
				s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{%q:%q}}}`, tc.tool, tc.argument, tc.text))
				s.expect(`/This is no (filter|code)/`)
				s.finish()
				return s.cmd.ProcessState.UserTime()
			}
			wrong, clean := work(tc.bug), work("none")
			t.Logf("processor time with the bug %v, without %v", wrong, clean)
			if wrong < 5*clean || wrong < 50*time.Millisecond {
				t.Errorf("processor time with the bug %v, without %v, want far more with it", wrong, clean)
			}
		})
	}
}

// TestMemory: the server with the leak grows, and the clean twin does not.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the size of another process is read from /proc, which only Linux has")
	}
	grown := func(bugs string) int {
		s := start(t, planted, "-bugs", bugs)
		s.initialize("2025-11-25")
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"define_word","arguments":{"word":"w"}}}`
		rounds := func(n int) int {
			for range n {
				s.send(call)
				s.expect(`/No definition/`)
			}
			return resident(t, s.cmd.Process.Pid)
		}
		before := rounds(10)
		after := rounds(500)
		s.finish()
		return after - before
	}
	const kib = 1024
	if n := grown("memory-leak"); n < 100*kib {
		t.Errorf("500 calls with the bug grow the server by %d KiB, want at least 100 MiB", n)
	}
	if n := grown("none"); n > 20*kib {
		t.Errorf("500 calls without the bug grow the server by %d KiB, want less than 20 MiB", n)
	}
}

// resident returns a process's resident memory in KiB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
