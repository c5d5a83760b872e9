package netproto

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// forking is a target of the server that forks for each connection.
func forking(program string) Target {
	return Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}}
}

// What a process of the server's reaches counts: each letter that is right reaches more, the same line the same each time, and
// a server that was started again no other.
func TestOrdinaryBuildCounts(t *testing.T) {
	e := open(t, forking(plantedSource(t, "forks.c", ours, "-DCLEAN")))
	if e.coverage == nil {
		t.Fatal("a server that teasel cc has built does not count")
	}
	traces := map[uint64]string{}
	for round := range 3 {
		if err := e.Exec(context.Background(), dialogue.Raw([]byte("first")), &teasel.Observation{}); err != nil { // a loop's first pass is no other's
			t.Fatal(err)
		}
		for _, line := range []string{"---", "z--", "zQ-"} {
			o := teasel.Observation{Ask: teasel.Ask{Trace: true}}
			if err := e.Exec(context.Background(), dialogue.Raw([]byte(line)), &o); err != nil {
				t.Fatal(err)
			}
			if was, known := traces[o.Trace]; known != (round > 0) || known && was != line {
				t.Errorf("round %d: %q reaches what %q has", round, line, was)
			}
			traces[o.Trace] = line
		}
		if err := e.renew(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that the server has forked dies, the server goes on: it is a finding that names the function.
func TestForkedDeath(t *testing.T) {
	t.Run("noted", func(t *testing.T) { forkedDeath(t, ours) })
	t.Run("image", func(t *testing.T) {
		if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.ContainsAny(string(pattern), "|/@") {
			t.Skipf("skipped: images of memory go to %q here", pattern)
		}
		forkedDeath(t, "clang")
	})
}

func forkedDeath(t *testing.T, compiler string) {
	for _, flags := range [][]string{nil, {"-DCLEAN"}} {
		e := open(t, forking(plantedSource(t, "forks.c", compiler, flags...)))
		for try := range 2 {
			fs, _, err := teasel.Replay(context.Background(), e, Detectors(), dialogue.Raw([]byte("hello\n"), []byte("zQ7\n")))
			if err != nil {
				t.Fatal(err)
			}
			if flags != nil {
				if len(fs) > 0 {
					t.Errorf("the clean twin: %+v", fs)
				}
				continue
			}
			if len(fs) != 1 || fs[0].Rule != judge.RuleCrash || fs[0].Signal != int(syscall.SIGABRT) || !strings.Contains(fs[0].Fault, "die") {
				t.Fatalf("try %d: %+v", try, fs)
			}
		}
	}
}

// Coverage alone leads to a bug whose every step is answered alike.
func TestOrdinaryBuildCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a campaign of some thousand processes")
	}
	t.Parallel()
	target := forking(plantedSource(t, "forks.c", ours))
	c := Campaign(target, &dialogue.Mutator{})
	c.Seeds = append(c.Seeds, dialogue.Raw([]byte("hello\r\n")))
	c.Seed, c.StopAfter, c.Runs = 1, 1, 100_000
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Findings) != 1 || !sum.Findings[0].Confirmed() {
		t.Fatalf("%d findings after %d executions:%s", len(sum.Findings), sum.Executions, brief(sum.Findings))
	}
	t.Logf("found after %d executions", sum.Executions)
}

// A shell that becomes the server is not what is looked at.
func TestServerBehindShell(t *testing.T) {
	program := planted(t, "afl-clang-fast", "-DCLEAN", "-fsanitize=address")
	direct := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}})
	for _, script := range []string{"exec " + program + " {port}", program + " {port}; true"} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{"/bin/sh", "-c", script}})
		if e.coverage == nil || direct.coverage == nil || e.coverage.size != direct.coverage.size || !e.quarantines || !direct.quarantines {
			t.Errorf("%q: coverage %+v, of the program itself %+v", script, e.coverage, direct.coverage)
		}
	}
}

// A program that cannot be asked for the size of its map is an error that says why.
func TestMapSizeOfNoProgram(t *testing.T) {
	if _, err := new(executor).mapSize(t.Context(), "/nonexistent/server"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
