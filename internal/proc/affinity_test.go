package proc

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

// What is started in between runs on the processor alone, and nothing after.
func TestBind(t *testing.T) {
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
	release()
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
