package netproto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/internal/testrun"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// planted builds testdata/planted/server.c.
func planted(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	return plantedSource(t, "server.c", compiler, flags...)
}

// ours stands for the compiler that "teasel cc" is.
const ours = "teasel cc"

// builds is the environment variable that names the folder with the servers that have been compiled so far.
const builds = "NETPROTO_TEST_BUILDS"

// campaigns is how many of the tests that may run side by side do so at least: they wait for their servers for most of the time.
const campaigns = 4

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "netproto-builds-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = errors.Join(os.Setenv(builds, dir), testrun.Parallel(campaigns))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// plantedSource returns a server of testdata/planted, which is compiled once for all tests that want it built the same way. A
// compiler that is not there is a reason to skip.
func plantedSource(t *testing.T, source, compiler string, flags ...string) string {
	t.Helper()
	name := compiler
	if compiler == ours {
		name = "clang"
	}
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
	dir, err := os.MkdirTemp("", "planted-") // where every user may go, unlike the test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "planted")
	compile := func(out string) { compilePlanted(t, out, source, compiler, flags) }
	testrun.Compile(t, os.Getenv(builds), out, compile, append([]string{source, compiler}, flags...)...)
	return out
}

func compilePlanted(t *testing.T, out, source, compiler string, flags []string) {
	t.Helper()
	command := append(append([]string{compiler}, flags...), "-O1", "-g", "testdata/planted/"+source, "-o", out)
	if compiler == ours {
		var err error
		if command, err = (clang.Compiler{}).Command(context.Background(), command[1:]); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "AFL_QUIET=1")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func plantedModel(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.Load("testdata/planted/planted.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plantedTarget is a target of the planted server.
func plantedTarget(t *testing.T, program string) Target {
	return Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Model: plantedModel(t), Keep: false}
}
