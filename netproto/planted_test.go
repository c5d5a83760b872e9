package netproto

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// planted builds testdata/planted/server.c.
func planted(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	return plantedSource(t, "server.c", compiler, flags...)
}

// ours stands for the compiler that "teasel cc" is.
const ours = "teasel cc"

// plantedSource builds a server of testdata/planted. A compiler that is not there is a reason to skip.
func plantedSource(t *testing.T, source, compiler string, flags ...string) string {
	t.Helper()
	command := []string{compiler}
	if compiler == ours {
		command = []string{"clang"}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
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
	command = append(append(command, flags...), "-O1", "-g", "testdata/planted/"+source, "-o", out)
	if compiler == ours {
		if command, err = (clang.Compiler{}).Command(context.Background(), command[1:]); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "AFL_QUIET=1")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
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
