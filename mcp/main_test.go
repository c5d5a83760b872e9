package mcp

import (
	"os"
	"sync"
	"testing"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/testrun"
)

// servers are those of testdata that a test has wanted: each is compiled once for all of them.
var servers struct {
	sync.Mutex
	dir      string
	programs map[string]string
}

// campaigns is how many of the tests that may run side by side do so at least: they wait for their servers for most of the time.
const campaigns = 4

func TestMain(m *testing.M) {
	if err := testrun.Parallel(campaigns); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(servers.dir)
	os.Exit(code)
}

// Missing skips a test for want of what scripts/setup-test.sh installs, or fails it where all of that has to be there.
func Missing(tb testing.TB, err error) {
	tb.Helper()
	if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
		tb.Fatalf("%v: run scripts/setup-test.sh", err)
	}
	tb.Skipf("%v: run scripts/setup-test.sh", err)
}

// computes is for tests that compute for long in one goroutine: the race detector would make them ten times as long and
// learn nothing.
func computes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine computes for long: not with -short")
	}
	t.Parallel()
}

// BuildServer returns the program of a server in testdata.
func BuildServer(tb testing.TB, name string) string {
	tb.Helper()
	servers.Lock()
	defer servers.Unlock()
	if program, ok := servers.programs[name]; ok {
		return program
	}
	var err error
	if servers.dir == "" {
		servers.programs = map[string]string{}
		if servers.dir, err = os.MkdirTemp("", "teasel-mcp-"); err != nil {
			tb.Fatal(err)
		}
	}
	program, err := plantedtest.Build(tb.Context(), servers.dir, name)
	if err != nil {
		tb.Fatal(err)
	}
	servers.programs[name] = program
	return program
}
