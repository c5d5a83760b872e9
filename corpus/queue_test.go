package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

func listing(t *testing.T, d *Dir, folder string) (out []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(d.Path(), folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

// Where inputs are what the target reads, AFL++'s tools find them under AFL++'s names, without a gap, also after a
// testcase has gone and after a new start.
func TestQueue(t *testing.T) {
	m := testMeta()
	m.AFL, m.Edges, m.Extension = true, 40, ""
	m.Crashes, m.Hangs = []string{"native/abort"}, []string{"native/hang"}
	d, err := Create(t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	seed, child := added("seed", 1), added("child", 2)
	child.Entry.Parent, child.Entry.Stage, child.Entry.Found, child.Entry.Execution = seed.Entry.Key, "havoc", 1500*time.Millisecond, 77
	seed.Entry.Features, child.Entry.Features = teasel.NewFeatureSet(1, 2, 8), teasel.NewFeatureSet(9, 17, 1<<33+17) // the last one is no edge
	crash, hang := found("native/abort", "a", "boom"), found("native/hang", "b", "zzz")
	crash.Finding.Signal, crash.Finding.Execution = 6, 123
	report(t, d, seed, child, teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: seed.Entry.Key}}, crash, hang,
		progress(2*time.Second, 1000))
	crash.Finding.Input = []byte("bo")
	report(t, d, crash)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	queue := []string{"id:000000,time:0,execs:0,orig:" + seed.Entry.Key, "id:000001,src:000000,time:1500,execs:77,op:havoc"}
	if got := listing(t, d, Queue); !slices.Equal(got, queue) {
		t.Errorf("queue %q\n want %q", got, queue)
	}
	if got := listing(t, d, Crashes); len(got) != 1 || got[0] != "id:000000,sig:06,time:0,execs:123,finding:"+crash.Finding.ID() {
		t.Errorf("crashes %q", got)
	} else if data, err := os.ReadFile(filepath.Join(d.Path(), Crashes, got[0])); err != nil || string(data) != "bo" {
		t.Errorf("the crash's input %q, %v", data, err)
	}
	if got := InputFile(d.FindingPath("x"), hang.Finding.ID()); filepath.Dir(got) != filepath.Join(d.Path(), Hangs) {
		t.Errorf("the hang's input is at %q", got)
	}
	if got := listing(t, d, Hangs); len(got) != 1 || !strings.HasPrefix(got[0], "id:000000,time:0") {
		t.Errorf("hangs %q", got)
	}
	stats := strings.Join(lines(t, d, aflName), "\n") + "\n"
	for _, l := range []string{"edges_found       : 3\n", "total_edges       : 40\n", "bitmap_cvg        : 7.50%\n", "corpus_count      : 1\n"} {
		if !strings.Contains(stats, l) {
			t.Errorf("no %q in\n%s", l, stats)
		}
	}

	// Files that are missing because of a kill are written, and the numbers continue.
	if err := os.Remove(filepath.Join(d.Path(), Queue, queue[1])); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(d.Path()); err != nil {
		t.Fatal(err)
	}
	third := added("third", 3)
	third.Entry.Stage, third.Entry.Parent = "a b", child.Entry.Key
	report(t, d, third, child, crash, found("native/abort", "c", "bang"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := append(queue, "id:000002,src:000001,time:0,execs:0,op:a-b"); !slices.Equal(listing(t, d, Queue), got) {
		t.Errorf("queue after a new start %q\n want %q", listing(t, d, Queue), got)
	}
	if got := listing(t, d, Crashes); len(got) != 2 || !strings.HasPrefix(got[1], "id:000001,sig:00") {
		t.Errorf("crashes after a new start %q", got)
	}
}
