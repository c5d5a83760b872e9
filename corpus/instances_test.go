package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pull(t *testing.T, n *Instances) (out []string) {
	t.Helper()
	ins, err := n.Pull(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range ins.Inputs {
		out = append(out, string(in))
	}
	return out
}

// Each input of the other instances comes once, also over a new start, and what they had from us does not come back.
func TestInstances(t *testing.T) {
	dir := t.TempDir()
	put := func(name, data string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("us/queue/id:000000,time:0,execs:0,orig:x", "ours")
	put("main/queue/id:000000,time:0,execs:0,orig:x", "one")
	put("main/queue/id:000001,sync:us,src:000000", "ours")
	put("main/queue/id:000002,src:000000,time:5,execs:7,op:havoc,rep:2", "two")
	put("main/queue/id:000003,src:000000,op:havoc", "")
	put("main/queue/id:000004,src:000000,op:havoc", strings.Repeat("x", maxAFLInput+1))
	put("main/queue/.state/deterministic_done/id:000000", "hidden")
	put("main/crashes/id:000000,sig:11", "a crash")
	put("second/queue/id:000000,sync:main", "two")
	put("second/queue/README", "no testcase")
	put("file", "no instance")
	put("fresh/cmdline", "no queue yet")
	n := NewInstances(dir, "us")
	if got := pull(t, n); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("first %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "us", syncedName)); err == nil {
		t.Error("it was noted before it could be run")
	}
	if got := pull(t, n); got != nil {
		t.Errorf("and then %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "us", syncedName, "main")); err != nil || len(got) != 4 || got[0]+got[3] != 5 {
		t.Errorf("noted %v, %v", got, err)
	}
	put("fresh/queue/id:000000,orig:y", "three")
	put("main/queue/id:000005,src:000002,op:havoc", "four")
	n = NewInstances(dir, "us")
	if got := pull(t, n); !slices.Equal(got, []string{"three", "four"}) {
		t.Errorf("after a new start %q", got)
	}
	// What one call does not bring comes with the next.
	for i := range maxPull {
		put(fmt.Sprintf("main/queue/id:%06d,op:x", 1000+i), strings.Repeat("y", i+1))
	}
	put("main/queue/id:003000,op:x", "last")
	if got := len(pull(t, n)); got != maxPull {
		t.Errorf("%d at a time, want %d", got, maxPull)
	}
	if got := pull(t, n); !slices.Equal(got, []string{"last"}) {
		t.Errorf("then %q", got)
	}
	if _, err := NewInstances(filepath.Join(dir, "nowhere"), "us").Pull(context.Background()); err == nil {
		t.Error("a directory that is not there was read")
	}
}
