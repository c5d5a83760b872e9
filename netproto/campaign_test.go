package netproto

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// campaign fuzzes the planted server until it has as many findings as it may, or as many executions.
func campaign(t *testing.T, program string, stop int, runs uint64) teasel.Summary {
	t.Helper()
	target := plantedTarget(t, program)
	target.Timeout = 200 * time.Millisecond
	c := Campaign(target, &dialogue.Mutator{Model: target.Model})
	for _, s := range target.Seeds() {
		c.Seeds = append(c.Seeds, s.Input)
	}
	c.Seed, c.StopAfter, c.Runs = 1, stop, runs
	var got reached
	c.Reporters = append(c.Reporters, &got)
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if edges := Edges(got); edges < 20 || edges > 200 { // it has some ninety
		t.Errorf("%d edges were reached", edges)
	}
	return sum
}

// brief is a line for each finding, without its input.
func brief(fs []teasel.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "\n%s %s, %d of %d times: %s (input of %d bytes)", f.Rule, f.Subject, f.Stable, f.Tries, f.Message, len(f.Input))
	}
	return b.String()
}

// A campaign finds a bug in a state that only a value from a response leads to, and confirms it.
func TestCampaign(t *testing.T) {
	t.Parallel()
	sum := campaign(t, planted(t, "afl-clang-fast"), 1, 200_000)
	if len(sum.Findings) != 1 || !sum.Findings[0].Confirmed() {
		t.Fatalf("%d findings after %d executions:%s", len(sum.Findings), sum.Executions, brief(sum.Findings))
	}
}

// The clean twin of the server gives no findings.
func TestCleanCampaign(t *testing.T) {
	t.Parallel()
	runs := uint64(20_000)
	if testing.Short() {
		runs = 1000
	}
	if sum := campaign(t, planted(t, "afl-clang-fast", "-DCLEAN"), 0, runs); len(sum.Findings) > 0 {
		t.Errorf("findings:%s", brief(sum.Findings))
	}
}
