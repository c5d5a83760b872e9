package proc

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInterrupt: all threads of a process are stopped once, the first thread first, and go on. Its end is still reported to its parent, who may
// be us, and of a process that is gone there is an error.
func TestInterrupt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(python, "-c", `import threading, sys
for _ in range(2): threading.Thread(target=sys.stdin.read).start()
print("up", flush=True)
for line in iter(lambda: sys.stdin.readline(), ""): pass
sys.exit(7)`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var seen []int
		err := Interrupt(cmd.Process.Pid, func(s Stop) {
			if len(s.Registers) == 0 {
				t.Errorf("thread %d has no registers", s.Thread)
			}
			seen = append(seen, s.Thread)
			if unix.Gettid() == unix.Getpid() {
				t.Error("the tracer is the main thread, which never ends")
			}
		})
		if err != nil && strings.Contains(err.Error(), "not permitted") {
			in.Close()
			cmd.Wait()
			t.Skipf("this system lets no process trace another: %v", err)
		}
		if err != nil || len(seen) != 3 || seen[0] != cmd.Process.Pid {
			t.Errorf("threads %v of process %d, %v; want 3", seen, cmd.Process.Pid, err)
		}
	}
	in.Close()
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it ended with %v, want status 7", cmd.ProcessState)
	}
	if err := Interrupt(cmd.Process.Pid, func(Stop) { t.Error("a process that is gone has stopped") }); err == nil {
		t.Error("no error for a process that is gone")
	}
}
