package netproto

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// planted builds testdata/planted/server.c.
func planted(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	return plantedSource(t, "server.c", compiler, flags...)
}

// plantedSource builds a server of testdata/planted. A compiler that is not there is a reason to skip.
func plantedSource(t *testing.T, source, compiler string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
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
	c := exec.Command(compiler, append(flags, "-O1", "-g", "testdata/planted/"+source, "-o", out)...)
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
