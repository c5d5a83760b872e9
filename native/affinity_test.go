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
		{"from another one on", []int{0, 1, 2}, 4, nil, nil, nil, []int{1, 2, 0}},
		{"what others are bound to", []int{2, 3, 5}, 0, nil, []int{0, 3}, nil, []int{2, 5}},
		{"what our workers have", []int{2, 3, 5}, 0, []int{5}, []int{2}, nil, []int{3}},
		{"none", []int{0, 1}, 0, []int{0}, []int{1}, nil, nil},
		{"nothing is known", []int{0, 1}, 0, nil, nil, errors.New("no /proc"), nil},
		{"the only one", []int{3}, 1, nil, []int{3}, nil, []int{3}},
		{"the only one, twice", []int{3}, 1, []int{3}, []int{3}, nil, nil},
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

// sleeper runs a program until the test ends, on what the calling goroutine is bound to.
func sleeper(t *testing.T) {
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

// list is what a program is bound to that is started now.
func list(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, cpus, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	return cpus
}

// Workers are told when they do not get a core each, and run wherever they like.
func TestNoCores(t *testing.T) {
	cpus, err := proc.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	before := list(t)
	if c, warning := NewCores(len(cpus) + 1); c != nil || !strings.Contains(warning, "more than the") {
		t.Errorf("more workers than cores get %v, %q", c, warning)
	}
	if len(cpus) == 1 {
		t.Skip("there is one core only, and it is always ours")
	}
	for _, n := range cpus {
		release, err := proc.Bind(n)
		if err != nil {
			t.Fatal(err)
		}
		sleeper(t)
		release()
	}
	c, warning := NewCores(1)
	if c == nil || !strings.Contains(warning, "other processes are bound to") {
		t.Fatalf("with others on every core: %v, %q", c, warning)
	}
	bound := Target{Cores: c}.bound(teasel.Role{})
	defer bound.release()
	if now := list(t); now != before {
		t.Errorf("it is bound to %s, was to %s", now, before)
	}
	Target{}.bound(teasel.Role{}).release()
}

// One processor of Go's at least is idle while all workers wait, and what there is already is not taken away.
func TestProcs(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	for workers, want := range map[int]int{0: max(n, 2), 1: max(n, 2), n: n + 1, n + 3: n + 4} {
		if got := Procs(workers); got != want {
			t.Errorf("%d workers, %d there: %d, want %d", workers, n, got, want)
		}
	}
}

// A worker has the core until it releases it.
func TestCores(t *testing.T) {
	cpus, err := proc.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	before := list(t)
	c := &Cores{cpus: cpus[:1], held: map[int]bool{}} // which is free, whoever is bound to it
	release := c.bind()
	if now := list(t); now == before && len(cpus) > 1 || strings.ContainsAny(now, ",-") {
		t.Errorf("the first is bound to %s", now)
	}
	c.bind()() // there is no second one
	if now := list(t); strings.ContainsAny(now, ",-") {
		t.Errorf("after a second has asked: %s", now)
	}
	release()
	if now := list(t); now != before {
		t.Errorf("after release: %s, want %s", now, before)
	}
	release = c.bind()
	defer release()
	if now := list(t); strings.ContainsAny(now, ",-") {
		t.Errorf("the next is bound to %s", now)
	}
}
