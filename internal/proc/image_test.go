package proc_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/proc"
)

func TestImage(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "other name")
	sleep, err := filepath.EvalSymlinks("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, program string }{{link, link}, {"sleep", sleep}} {
		p, err := proc.Start(proc.Command{Args: []string{"sh", "-c", `"$0" 60; exit`, tt.name}, Env: []string{"A=b=c"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var child int
		for child == 0 { // the shell may not have started it yet
			pids, err := proc.Children(p.PID())
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range pids {
				if c, _, err := proc.Image(pid); err == nil && c.Args[0] == tt.name {
					child = pid
				}
			}
		}
		c, program, err := proc.Image(child)
		if err != nil || program != tt.program || !slices.Equal(c.Args, []string{tt.name, "60"}) || c.Dir != dir || !slices.Contains(c.Env, "A=b=c") {
			t.Errorf("image of %s: %s %q in %s, %v", tt.name, program, c.Args, c.Dir, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := proc.Image(1 << 30); err == nil {
		t.Error("a process that does not exist has an image")
	}
}
