package native

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
)

func TestFreeCores(t *testing.T) {
	for _, test := range []struct {
		name        string
		cpus        []int
		first       int
		held, bound []int
		err         error
		want        []int
	}{
		{"all", []int{0, 1, 2}, 0, nil, nil, nil, []int{0, 1, 2}},
		{"another first core", []int{0, 1, 2}, 4, nil, nil, nil, []int{1, 2, 0}},
		{"cores of other processes", []int{2, 3, 5}, 0, nil, []int{0, 3}, nil, []int{2, 5}},
		{"cores of our workers", []int{2, 3, 5}, 0, []int{5}, []int{2}, nil, []int{3}},
		{"none", []int{0, 1}, 0, []int{0}, []int{1}, nil, nil},
		{"unknown", []int{0, 1}, 0, nil, nil, errors.New("no /proc"), nil},
		{"one core", []int{3}, 1, nil, []int{3}, nil, []int{3}},
		{"one core, assigned", []int{3}, 1, []int{3}, []int{3}, nil, nil},
	} {
		set := func(ns []int) map[int]bool {
			m := map[int]bool{}
			for _, n := range ns {
				m[n] = true
			}
			return m
		}
		c := &Cores{cpus: test.cpus, first: test.first, held: set(test.held)}
		if got := c.free(set(test.bound), test.err); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// startSleeper starts a program that runs until the test ends, on the core to which the calling goroutine is bound.
func startSleeper(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // it was killed
	})
}

// boundTo returns the list of cores to which a program is bound that this goroutine starts.
func boundTo(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, cpus, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	return cpus
}

// TestNoCores: if there are not enough free cores, there is a warning and workers are not bound.
func TestNoCores(t *testing.T) {
	cpus, err := proc.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	before := boundTo(t)
	if c, warning := NewCores(len(cpus) + 1); c != nil || !strings.Contains(warning, "more than the") {
		t.Errorf("more workers than cores get %v, %q", c, warning)
	}
	if len(cpus) == 1 {
		t.Skip("skipped: there is only one core, which always counts as free")
	}
	for _, n := range cpus {
		release, err := proc.Bind(n)
		if err != nil {
			t.Fatal(err)
		}
		startSleeper(t)
		release()
	}
	c, warning := NewCores(1)
	if c == nil || !strings.Contains(warning, "other processes are bound to") {
		t.Fatalf("with others on every core: %v, %q", c, warning)
	}
	bound := Target{Cores: c}.bound(teasel.Role{})
	defer bound.release()
	if now := boundTo(t); now != before {
		t.Errorf("bound to %s, want %s", now, before)
	}
	Target{}.bound(teasel.Role{}).release()
}

// TestProcs: at least one P of Go's scheduler is idle while all workers wait, and GOMAXPROCS is not reduced.
func TestProcs(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	for workers, want := range map[int]int{0: max(n, 2), 1: max(n, 2), n: n + 1, n + 3: n + 4} {
		if got := Procs(workers); got != want {
			t.Errorf("%d workers, %d there: %d, want %d", workers, n, got, want)
		}
	}
}

// TestCores: a worker is bound to a core until it calls release.
func TestCores(t *testing.T) {
	cpus, err := proc.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	before := boundTo(t)
	c := &Cores{cpus: cpus[:1], held: map[int]bool{}} // the only core counts as free, whichever processes are bound to it
	release := c.bind()
	if now := boundTo(t); now == before && len(cpus) > 1 || strings.ContainsAny(now, ",-") {
		t.Errorf("the first worker is bound to %s", now)
	}
	c.bind()() // no core is free
	if now := boundTo(t); strings.ContainsAny(now, ",-") {
		t.Errorf("after a second bind: %s", now)
	}
	release()
	if now := boundTo(t); now != before {
		t.Errorf("after release: %s, want %s", now, before)
	}
	release = c.bind()
	defer release()
	if now := boundTo(t); strings.ContainsAny(now, ",-") {
		t.Errorf("the next worker is bound to %s", now)
	}
}
