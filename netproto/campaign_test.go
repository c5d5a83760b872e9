package netproto

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// campaign fuzzes the planted server until it has as many findings as it may, or the time is over.
func campaign(t *testing.T, program string, stop int, runs uint64, limit time.Duration) teasel.Summary {
	t.Helper()
	target := plantedTarget(t, program)
	target.Timeout = 200 * time.Millisecond
	c := Campaign(target, &dialogue.Mutator{Model: target.Model})
	for _, s := range target.Seeds() {
		c.Seeds = append(c.Seeds, s.Input)
	}
	c.Seed, c.StopAfter, c.Runs, c.Duration = 1, stop, runs, limit
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A campaign finds a bug in a state that only a value from a response leads to, and confirms it.
func TestCampaign(t *testing.T) {
	sum := campaign(t, planted(t, "afl-clang-fast"), 1, 200_000, 0)
	if len(sum.Findings) != 1 || !sum.Findings[0].Confirmed() {
		t.Fatalf("findings %+v after %d executions", sum.Findings, sum.Executions)
	}
}

// The clean twin of the server gives no findings.
func TestCleanCampaign(t *testing.T) {
	runs := uint64(20_000)
	if testing.Short() {
		runs = 1000
	}
	if sum := campaign(t, planted(t, "afl-clang-fast", "-DCLEAN"), 0, runs, 0); len(sum.Findings) > 0 {
		t.Errorf("findings %+v", sum.Findings)
	}
}

// All planted bugs are found. How long that takes is not judged here but by what the campaign is run for.
func TestAllPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it runs until all seven bugs are found")
	}
	want := []string{"die_state", "die_length", "die_checksum", "die_token", "die_other", "net/hang", "net/memory-growth"}
	sum := campaign(t, planted(t, "afl-clang-fast"), len(want), 2_000_000, 0)
	var all strings.Builder
	for i := range sum.Findings {
		all.WriteString(sum.Findings[i].Rule + " " + sum.Findings[i].Fault + "\n")
	}
	for _, w := range want {
		if !strings.Contains(all.String(), w) {
			t.Errorf("%s was not found in %d executions; found were\n%s", w, sum.Executions, all.String())
		}
	}
}
