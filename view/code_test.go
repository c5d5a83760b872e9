package view

import (
	"reflect"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/blocks"
)

// What was entered and has most left comes first, files are named by what they do not have in common, and what is hidden is in no table.
func TestCode(t *testing.T) {
	reached := corpus.EdgeSet{}
	reached.Add(teasel.NewFeatureSet(1, 2, 9, 8*4+1)) // blocks 0, 1 and 4
	c := []Code{{Reached: reached, Hidden: func(f string) bool { return f == "/usr/h" }, Blocks: []blocks.Block{
		{Function: "f", File: "/s/a/x.c", Line: 3}, {Function: "f", File: "/s/a/x.c", Line: 4}, {Function: "f", File: "/s/a/x.c", Line: 6},
		{Function: "g", File: "/s/b/y.c", Line: 9}, {Function: "h", File: "/usr/h", Line: 1}, {}}}}
	ps := CodePanels(c)
	want := [][][]string{{{"f", "a/x.c:3", "2", "3"}, {"g", "b/y.c:9", "never", "1"}}, {{"a/x.c", "1", "1", "2", "3"}, {"b/y.c", "never", "1", "never", "1"}}}
	for i, p := range ps {
		if !reflect.DeepEqual(p.Rows, want[i]) || !reflect.DeepEqual(p.Files, []string{"/s/a/x.c", "/s/b/y.c"}) {
			t.Errorf("%s: %q of files %q", p.Title, p.Rows, p.Files)
		}
	}
	if ls, ok := CodeLines(c, "/s/a/x.c"); !ok || !reflect.DeepEqual(ls, Lines{Reached: []int{3, 4}, Missed: []int{6}}) {
		t.Errorf("lines %+v, %v", ls, ok)
	}
	for _, file := range []string{"/usr/h", "/etc/passwd", ""} {
		if _, ok := CodeLines(c, file); ok {
			t.Errorf("%q has lines", file)
		}
	}
	more := append(c, Code{Blocks: []blocks.Block{{File: "/s/b/y.c", Line: 9}, {File: "/s/c/z.c", Line: 1}}})
	if reached, missed := CodeFiles(more); !reflect.DeepEqual(reached, []string{"/s/a/x.c"}) || !reflect.DeepEqual(missed, []string{"/s/b/y.c", "/s/c/z.c"}) {
		t.Errorf("reached are %q, and missed %q", reached, missed)
	}
	if ps := CodePanels([]Code{{}}); ps != nil {
		t.Errorf("panels of nothing: %v", ps)
	}
}
