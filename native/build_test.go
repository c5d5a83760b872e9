package native_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/internal/testrun"
	"github.com/teaselfuzz/teasel/native"
)

// builds is the environment variable that names the folder with the programs that were compiled so far.
const builds = "NATIVE_TEST_BUILDS"

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if os.Getenv(builds) != "" { // this process was started by a test
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "native-builds-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv(builds, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// compiled returns the program that compile makes, which is called once for each recipe: the inputs of the build. Each test gets the
// program under another name, since some tests search for the processes of a program.
func compiled(t testing.TB, compile func(bin string), recipe ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "target")
	testrun.Compile(t, os.Getenv(builds), bin, compile, recipe...)
	return bin
}

// needTool returns the path of a program. If it is missing, the test is skipped, or fails if TEASEL_REQUIRE_SERVERS is set.
func needTool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
		t.Fatalf("%v: scripts/setup-test.sh installs it", err)
	}
	t.Skipf("%v: scripts/setup-test.sh installs it", err)
	return ""
}

// compile runs teasel's compiler as a build does.
func compile(t testing.TB, c clang.Compiler, args ...string) {
	t.Helper()
	needTool(t, "clang")
	argv, err := c.Command(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out.Bytes())
	}
}

// build compiles C text into a program.
func build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	return compiled(t, func(bin string) {
		src := bin + ".c"
		write(t, src, source)
		compile(t, clang.Compiler{}, append([]string{src, "-o", bin}, flags...)...)
	}, append([]string{"teasel cc", source}, flags...)...)
}

type opened interface {
	teasel.Executor[[]byte]
	teasel.BatchExecutor[[]byte]
	teasel.Learner
	teasel.Resetter
}

func open(t testing.TB, target native.Target) opened {
	t.Helper()
	ex, err := target.Open(context.Background(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	return ex.(opened)
}

// run runs one input.
func run(t testing.TB, ex opened, a teasel.Ask, in string) teasel.Observation {
	t.Helper()
	o := teasel.Observation{Ask: a, Runs: 1}
	if err := ex.Exec(context.Background(), []byte(in), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestJoinedConditions: conditions joined by && have an edge each, which the optimiser would merge: an input that satisfies one
// condition more is kept.
func TestJoinedConditions(t *testing.T) {
	bin := build(t, `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	int state = 0, depth = 0;
	for (size_t i = 0; i < n; i++) {
		int k = d[i];
		if (k == 1) depth++;
		else if (k > 2 && state == 0 && depth == 1) state = 1;
		else if (k > 4 && state == 1 && depth == 2) state = 2;
		else if (k == 0 && state == 2 && depth == 3) state = 3;
	}
	return state == 3 ? -1 : 0;
}`, "-O1")
	p, err := native.Target{Command: []string{bin}}.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if least := 12; p.Edges < least { // ten conditions, the loop, and the exits
		t.Errorf("%d edges, want at least %d", p.Edges, least)
	}
}
