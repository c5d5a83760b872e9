package native_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// plainBuild builds a C file of testdata without any instrumentation.
func plainBuild(t testing.TB, file string, flags ...string) string {
	t.Helper()
	return aflBuild(t, "gcc", file, flags...)
}

// TestBlackBox: runs of a program without instrumentation are judged by their exit status and output.
func TestBlackBox(t *testing.T) {
	t.Parallel() // it waits for hangs
	bin := plainBuild(t, "talker.c")
	for _, args := range [][]string{nil, {"@@"}, {"--file=@@"}} {
		target := native.Target{Command: append([]string{bin}, args...), Timeout: 250 * time.Millisecond, Exits: []int{4}}
		i, err := target.Inspect(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if i.Mode != native.ModeBlackBox || len(i.Warnings) != 1 || !strings.Contains(i.Warnings[0], "teasel cc -g -O1 -fsanitize=fuzzer,address harness.c -o harness") {
			t.Errorf("Inspect returns %+v", i)
		}
		ex := start(t, target)
		for _, test := range []struct {
			in   string
			exit teasel.Exit
			rule string
		}{
			{"hello", teasel.ExitOK, ""},
			{"", teasel.ExitRejected, ""},
			{"open", teasel.ExitCrash, "native/abort"},
			{"unlink", teasel.ExitOK, ""},
			{"move", teasel.ExitOK, ""},
			{"4", teasel.ExitCrash, "native/exit"},
			{"ignore", teasel.ExitHang, "native/hang"},
			{"mask", teasel.ExitHang, "native/hang"},
			{"daemon", teasel.ExitOK, ""},
			{"flood", teasel.ExitOK, ""},
			{"child", teasel.ExitOK, ""},
			{"open", teasel.ExitCrash, "native/abort"},
			{"hello", teasel.ExitOK, ""},
		} {
			o := exec1(t, ex, teasel.Ask{}, test.in)
			fs := native.Detect(&o)
			if o.Exit != test.exit || len(fs) > 0 && fs[0].Rule != test.rule || len(fs) == 0 && test.rule != "" {
				t.Errorf("%v %q: %v, %v, want %v, %s: %s", args, test.in, o.Exit, fs, test.exit, test.rule, o.Detail)
			}
			if ok := o.Exit <= teasel.ExitRejected; ok == (len(o.Features) == 0) {
				t.Errorf("%v %q: %v with features %v", args, test.in, o.Exit, o.Features)
			}
		}
		if left := runningPrograms(t, bin); len(left) > 0 {
			t.Errorf("%v: still running: %v", args, left)
		}
	}
}

// TestOutputShape: variable parts of the output are not features, and constant parts are.
func TestOutputShape(t *testing.T) {
	ex := start(t, native.Target{Command: []string{plainBuild(t, "talker.c")}})
	for i := range 64 { // the first inputs are a feature each
		exec1(t, ex, teasel.Ask{}, strings.Repeat("x", i))
	}
	base := exec1(t, ex, teasel.Ask{}, "echo one").Features
	for _, test := range []struct {
		in   string
		same bool
	}{
		{"echo two", true}, {"echo 12", false}, {"echo 77", false}, {"error", false}, {"echo one", true},
	} {
		if fs := exec1(t, ex, teasel.Ask{}, test.in).Features; sameFeatures(fs, base) != test.same {
			t.Errorf("%q: %v, the first: %v, want the same features: %v", test.in, fs, base, test.same)
		}
	}
	a, b := exec1(t, ex, teasel.Ask{}, "echo 12").Features, exec1(t, ex, teasel.Ask{}, "echo 77").Features
	if !sameFeatures(a, b) {
		t.Errorf("two numbers have different features: %v, %v", a, b)
	}
}

func sameFeatures(a, b []teasel.Feature) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestBinaryOutput: binary output has features, and the output of earlier runs does not fill up the capture.
func TestBinaryOutput(t *testing.T) {
	ex := start(t, native.Target{Command: []string{plainBuild(t, "talker.c")}})
	silent := exec1(t, ex, teasel.Ask{}, "hello").Features
	first := exec1(t, ex, teasel.Ask{}, "binary").Features
	if len(first) <= len(silent) {
		t.Errorf("features %v, and without output %v", first, silent)
	}
	for i := range 400 {
		if o := exec1(t, ex, teasel.Ask{}, "binary"); o.Exit != teasel.ExitOK || !sameFeatures(o.Features, first) {
			t.Fatalf("run %d: %v, features %v, the first: %v", i, o.Exit, o.Features, first)
		}
	}
}

// TestBlackBoxCampaign: a campaign reaches a bug guided by the output of the program, and finds nothing in the clean twin.
func TestBlackBoxCampaign(t *testing.T) {
	for _, args := range [][]string{nil, {"@@"}} {
		c := campaign("", 1)
		c.Target, c.Seeds = native.Target{Command: append([]string{plainBuild(t, "talker.c")}, args...)}, [][]byte{[]byte("step000")}
		c.StopAfter, c.Runs, c.MinimizeRuns, c.Duration = 1, 20_000, 30, 5*time.Minute
		s, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != 1 || s.Findings[0].Rule != "native/abort" || !s.Findings[0].Confirmed() {
			t.Errorf("%v: after %d executions: %+v", args, s.Executions, s.Findings)
		}
		c.Target = native.Target{Command: append([]string{plainBuild(t, "talker.c", "-DCLEAN")}, args...)}
		c.Runs = 300
		if s, err := c.Run(context.Background()); err != nil || len(s.Findings) > 0 {
			t.Errorf("%v: the clean twin: %+v, %v", args, s.Findings, err)
		}
	}
}

// runningPrograms returns the living processes that run a program.
func runningPrograms(t testing.TB, path string) (found []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.TrimSuffix(to, " (deleted)") == path {
			if stat, err := os.ReadFile(filepath.Join(filepath.Dir(l), "stat")); err == nil && !strings.Contains(string(stat), ") Z ") {
				found = append(found, l)
			}
		}
	}
	return found
}

// segments returns the number of System V segments that a process has made.
func segments(t testing.TB, pid int) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if f := strings.Fields(l); len(f) > 4 && f[4] == strconv.Itoa(pid) {
			n++
		}
	}
	return n
}

// TestKilledWithoutRuntime: no process, segment or file of a program is left when teasel is killed during a run that does not end.
func TestKilledWithoutRuntime(t *testing.T) {
	if path := os.Getenv("NATIVE_TEST_FOREIGN"); path != "" {
		command := strings.Fields(path)
		ex := start(t, native.Target{Command: command, Timeout: time.Hour})
		for _, in := range []string{"daemon", "child", "hello", "x"} {
			exec1(t, ex, teasel.Ask{}, in)
		}
		os.Stdout.WriteString("ready\n")
		if strings.Contains(path, "loop") {
			select {} // the child has stopped itself
		}
		exec1(t, ex, teasel.Ask{}, "ignore")
		return
	}
	for name, command := range map[string][]string{
		"black box":            {plainBuild(t, "talker.c"), "@@"},
		"fork server":          {aflBuild(t, "afl-clang-fast", "talker.c"), "@@"},
		"persistent, stopped":  {aflBuild(t, "gcc", "speaker.c", "-DLOOPS"), "loop"},
		"persistent, sleeping": {aflBuild(t, "gcc", "speaker.c", "-DLOOPS")},
	} {
		t.Run(name, func(t *testing.T) {
			victim := exec.Command(os.Args[0], "-test.run=^TestKilledWithoutRuntime$")
			victim.Env = append(os.Environ(), "NATIVE_TEST_FOREIGN="+strings.Join(command, " "))
			out, err := victim.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := victim.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "ready\n" {
				t.Fatalf("the victim said %q, %v", line, err)
			}
			eventually(t, "the target runs", func() bool { return len(runningPrograms(t, command[0])) > 0 })
			time.Sleep(100 * time.Millisecond) // into the run
			if name != "black box" && segments(t, victim.Process.Pid) == 0 {
				t.Error("no segment is in use: nothing would be tested")
			}
			folder := inputFolder(t, runningPrograms(t, command[0])[0])
			victim.Process.Kill()
			victim.Wait()
			eventually(t, "nothing is left", func() bool { return len(runningPrograms(t, command[0])) == 0 })
			eventually(t, "the segments are gone", func() bool { return segments(t, victim.Process.Pid) == 0 })
			if folder != "" {
				eventually(t, "the folder of the input is gone", func() bool { _, err := os.Stat(folder); return errors.Is(err, os.ErrNotExist) })
			}
		})
	}
}

// inputFolder returns the folder of the input of a process, from its command line; "": there is none.
func inputFolder(t testing.TB, exe string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "cmdline"))
	if err != nil {
		t.Fatal(err)
	}
	for arg := range strings.SplitSeq(string(b), "\x00") {
		if strings.HasSuffix(arg, "/input") {
			return filepath.Dir(arg)
		}
	}
	return ""
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("timed out before %s", what)
}

// TestBadPrograms: programs that cannot be run are reported, with the reason.
func TestBadPrograms(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	early := aflBuild(t, "afl-clang-fast", "early.c")
	for _, test := range []struct {
		name   string
		target native.Target
		want   string
	}{
		{"missing", native.Target{Command: []string{filepath.Join(dir, "missing")}}, "no such file"},
		{"text", native.Target{Command: []string{file("text", "hello", 0o644)}}, "is not executable"},
		{"no interpreter", native.Target{Command: []string{file("lost", "#!/no/such/shell\n", 0o755)}}, "interpreter"},
		{"no program", native.Target{Command: []string{file("word", "hello", 0o755)}}, "is no program"},
		{"missing command", native.Target{Command: []string{file("script", "#!/bin/sh\nexec /no/such/program\n", 0o755)}}, "/no/such/program"},
		{"mode", native.Target{Command: []string{"/bin/true"}, Mode: "fast"}, `mode "fast"`},
		{"no fork server", native.Target{Command: []string{"/bin/sleep", "100"}, Mode: native.ModeAFL, Start: 10 * time.Millisecond}, "it sent nothing in 10ms"},
		{"not AFL's", native.Target{Command: []string{"/bin/true"}, Mode: native.ModeAFL}, "it ended with status 0 at its start"},
		{"tracer", native.Target{Command: []string{"/bin/true"}, Tracer: []string{"no-such-tracer"}}, "no-such-tracer"},
		{"a directory as the tracer", native.Target{Command: []string{"/bin/true"}, Tracer: []string{dir}}, "is a directory"},
		{"operands of a program without hooks", native.Target{Command: []string{"/bin/true"}, Operands: "/bin/true"}, "--operands"},
		{"dies at start", native.Target{Command: []string{early}}, "no licence"},
	} {
		ex, err := test.target.Open(context.Background(), teasel.Role{})
		var start *native.StartError
		if err == nil {
			ex.Close()
			t.Errorf("%s: it was opened", test.name)
		} else if !errors.As(err, &start) {
			t.Errorf("%s: %T is no StartError: %v", test.name, err, err)
		} else if said := start.Error() + "\n" + start.Stderr; !strings.Contains(said, test.want) {
			t.Errorf("%s: %q does not say %q", test.name, said, test.want)
		}
	}
}

// TestTracer: a tracer such as afl-qemu-trace contains the fork server, with AFL's original protocol.
func TestTracer(t *testing.T) {
	bin := plainBuild(t, "talker.c")
	ex := start(t, native.Target{Command: []string{bin}, Tracer: []string{plainBuild(t, "tracer.c"), "-x", "--"}})
	if o := exec1(t, ex, teasel.Ask{}, "hello"); o.Exit != teasel.ExitOK || len(o.Features) == 0 {
		t.Errorf("%v, %v, %s", o.Exit, o.Features, o.Detail)
	}
	if o := exec1(t, ex, teasel.Ask{}, "open"); o.Exit != teasel.ExitCrash {
		t.Errorf("%v, %s", o.Exit, o.Detail)
	}
}

// TestScripts: a script is run in the mode of the program that it starts: here by AFL's fork server, and as a black box.
func TestScripts(t *testing.T) {
	dir := t.TempDir()
	for mode, bin := range map[string]string{
		native.ModeAFL: aflBuild(t, "afl-clang-fast", "talker.c"), native.ModeBlackBox: plainBuild(t, "talker.c"),
	} {
		script := filepath.Join(dir, mode)
		if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+bin+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		i, err := native.Target{Command: []string{script}}.Inspect(context.Background())
		if err != nil || i.Mode != mode {
			t.Errorf("%s: %+v, %v", mode, i, err)
		}
	}
}
