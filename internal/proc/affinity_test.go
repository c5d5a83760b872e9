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

func schedulingPolicy(t *testing.T, pid int) uint32 {
	t.Helper()
	attr, err := unix.SchedGetAttr(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	return attr.Policy
}

// TestBind: a program that is started between Bind and release runs on that processor only, with SCHED_BATCH; one that is
// started later does not.
func TestBind(t *testing.T) {
	runtime.LockOSThread() // the test reads the scheduling policy of this thread
	defer runtime.UnlockOSThread()
	usual := schedulingPolicy(t, 0)
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
	defer cmd.Wait() // the error says that the program was killed
	defer cmd.Process.Kill()
	during, err := CPUs()
	if err != nil || !slices.Equal(during, []int{last}) {
		t.Errorf("bound to processor %d: CPUs is %v, %v", last, during, err)
	}
	want := "Cpus_allowed_list:\t" + strconv.Itoa(last) + "\n"
	text := make([]byte, 100)
	if n, err := out.Read(text); err != nil || string(text[:n]) != want {
		t.Errorf("the program reports %q, %v, want %q", text[:n], err, want)
	}
	if bound, err := BoundCPUs(); err != nil || !bound[last] {
		t.Errorf("BoundCPUs is %v, %v; want %d among them", bound, err, last)
	}
	if p := schedulingPolicy(t, cmd.Process.Pid); usual == unix.SCHED_NORMAL && p != unix.SCHED_BATCH {
		t.Errorf("the program has policy %d, want %d", p, unix.SCHED_BATCH)
	}
	release()
	if p := schedulingPolicy(t, 0); p != usual {
		t.Errorf("after release the policy is %d, want %d", p, usual)
	}
	if after, err := CPUs(); err != nil || !slices.Equal(after, before) {
		t.Errorf("after release CPUs is %v, %v, want %v", after, err, before)
	}
	if _, err := Bind(1023); err == nil {
		t.Error("bound to a processor that does not exist")
	}
	if after, err := CPUs(); err != nil || !slices.Equal(after, before) {
		t.Errorf("after an error CPUs is %v, %v, want %v", after, err, before)
	}
}

// TestRestrictToHalf: Command.Half restricts a program and its children to half of the processors, and no other program.
func TestRestrictToHalf(t *testing.T) {
	all, err := CPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 {
		t.Skip("skipped: there is only one processor")
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
