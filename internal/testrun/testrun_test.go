package testrun_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel/internal/testrun"
)

// A program is compiled once for each recipe, and every test has it under the name that it wants.
func TestCompile(t *testing.T) {
	folder, times := t.TempDir(), 0
	for i, recipe := range [][]string{{"a.c", "-O1"}, {"a.c", "-O1"}, {"a.c", "-O2"}, {"a.c", "-O1"}} {
		out := filepath.Join(t.TempDir(), "target")
		testrun.Compile(t, folder, out, func(out string) {
			times++
			if err := os.WriteFile(out, []byte(recipe[1]), 0o755); err != nil {
				t.Fatal(err)
			}
		}, recipe...)
		if got, err := os.ReadFile(out); err != nil || string(got) != recipe[1] {
			t.Errorf("call %d: %q, %v", i, got, err)
		}
	}
	if times != 2 {
		t.Errorf("compiled %d times, want 2", times)
	}
}
