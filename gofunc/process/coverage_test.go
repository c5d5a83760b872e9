package process_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/gofunc/process"
)

// The example's bug is found by the compiler's coverage alone, in a binary that go test -c has built with it, and the
// saved finding fails plain go test.
func TestCoverageFindsTheExamplesBug(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a test binary")
	}
	const pkg = "github.com/teaselfuzz/teasel/examples/typed"
	binary := filepath.Join(t.TempDir(), "cart.test")
	if out, err := exec.Command("go", "test", "-c", "-gcflags="+pkg+"=-d=libfuzzer", "-o", binary, pkg).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	p := &process.Test{Binary: binary, Name: "FuzzTotal", Seed: 3, Runs: 500_000, Timeout: 10 * time.Second}
	s := campaign(t, p, 1)
	if len(s.Findings) != 1 || !strings.Contains(s.Findings[0].Message, "with vouchers the order costs") || !s.Findings[0].Confirmed() {
		t.Fatalf("%d executions, %d features, findings %v", s.Executions, s.Features, s.Findings)
	}
	if s.Features < 10 {
		t.Errorf("the compiler's counters gave %d features", s.Features)
	}
	if got, err := process.Judge(t.Context(), p, s.Findings[0].Input); err != nil || got.ID() != s.Findings[0].ID() {
		t.Errorf("run again it came to %v, %v", got.Message, err)
	}
	t.Logf("%d executions: %s", s.Executions, s.Findings[0].Input)
}
