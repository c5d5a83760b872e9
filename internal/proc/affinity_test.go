package proc

import (
	"bufio"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func policy(t *testing.T, pid int) uint32 {
	t.Helper()
	attr, err := unix.SchedGetAttr(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	return attr.Policy
}

// What is started in between runs on the processor alone, as a batch process, and nothing after.
func TestBind(t *testing.T) {
	runtime.LockOSThread() // whose policy is looked at
	defer runtime.UnlockOSThread()
	usual := policy(t, 0)
	before, err := CPUs()
	if err != nil || len(before) == 0 || !slices.IsSorted(before) {
		t.Fatal(before, err)
	}
	last := before[len(before)-1]
	release, err := Bind(last)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "grep Cpus_allowed_list: /proc/self/status; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // it was killed
	defer cmd.Process.Kill()
	during, err := CPUs()
	if err != nil || !slices.Equal(during, []int{last}) {
		t.Errorf("bound to %d we have %v, %v", last, during, err)
	}
	want := "Cpus_allowed_list:\t" + strconv.Itoa(last) + "\n"
	text := make([]byte, 100)
	if n, err := out.Read(text); err != nil || string(text[:n]) != want {
		t.Errorf("what was started has %q, %v, want %q", text[:n], err, want)
	}
	if bound, err := BoundCPUs(); err != nil || !bound[last] {
		t.Errorf("processors that somebody is bound to: %v, %v; want %d among them", bound, err, last)
	}
	if p := policy(t, cmd.Process.Pid); usual == unix.SCHED_NORMAL && p != unix.SCHED_BATCH {
		t.Errorf("what was started has policy %d, want %d", p, unix.SCHED_BATCH)
	}
	release()
	if p := policy(t, 0); p != usual {
		t.Errorf("released we have policy %d, want %d", p, usual)
	}
	if after, err := CPUs(); err != nil || !slices.Equal(after, before) {
		t.Errorf("released we have %v, %v, want %v", after, err, before)
	}
	if _, err := Bind(1023); err == nil {
		t.Error("bound to a processor that there is not")
	}
	if after, err := CPUs(); err != nil || !slices.Equal(after, before) {
		t.Errorf("after an error we have %v, %v, want %v", after, err, before)
	}
}

// What keeps to half of the processors does so with all that it starts, and nothing else does.
func TestHalf(t *testing.T) {
	all, err := CPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Skip("skipped: there is one processor only")
	}
	for range 20 {
		for _, half := range []bool{true, false} {
			p, err := Start(Command{Args: []string{"sh", "-c", "sleep 60 & echo $!; wait"}, Half: half})
			if err != nil {
				t.Fatal(err)
			}
			want := all
			if half {
				want = all[len(all)/2:]
			}
			child := number(t, bufio.NewReader(p.Stdout))
			for _, pid := range []int{p.PID(), child} {
				if got, err := affinity(pid); err != nil || !slices.Equal(got, want) {
					t.Errorf("half %v: process %d has the processors %v, %v, want %v of %v", half, pid, got, err, want, all)
				}
			}
			p.Close()
		}
	}
}
