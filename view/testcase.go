package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Testcase is a testcase as it is shown.
type Testcase struct {
	Key       string  `json:"key"`
	Origin    string  `json:"origin"` // where it comes from, a sentence without its full stop
	Why       string  `json:"why"`    // why it was kept, the same
	Stage     string  `json:"stage,omitempty"`
	Parent    string  `json:"parent,omitempty"`
	Found     float64 `json:"found"`
	Execution uint64  `json:"execution"`
	Size      int     `json:"size"`
	First     int     `json:"first"` // features that no testcase had reached before
	Features  int     `json:"features"`
	Picked    uint64  `json:"picked"`         // times that it was picked to be mutated
	Data      []byte  `json:"data,omitempty"` // the encoded input; of a list, none
}

// NewTestcase returns a testcase as it is shown, without its data.
func NewTestcase(e *teasel.Entry) Testcase {
	return Testcase{Key: plain.Line(e.Key), Origin: origin(e), Why: why(e), Stage: plain.Line(e.Stage), Parent: plain.Line(e.Parent), Found: e.Found.Seconds(),
		Execution: e.Execution, Size: len(e.Data), First: e.First, Features: e.Features.Len(), Picked: e.Picked}
}

// seedText is what is said of the origin of a seed.
const seedText = "a seed"

// MadeBy says which stage has made an input, and from which testcase, as findings and testcases have it; "": it is not known.
func MadeBy(stage, parent string) string {
	switch {
	case stage == "":
		return ""
	case stage == "seeds":
		return seedText
	case parent == "":
		return "made by " + plain.Line(stage)
	}
	return "made by " + plain.Line(stage) + " from testcase " + plain.Line(parent)
}

// origin says where a testcase comes from.
func origin(e *teasel.Entry) string {
	from := cmp.Or(MadeBy(e.Stage, e.Parent), seedText)
	if e.Depth > 0 {
		from += ", " + noun.Count(e.Depth, "mutation", "") + " away from a seed"
	}
	return fmt.Sprintf("%s, after %v, execution %d", from, e.Found.Round(time.Millisecond), e.Execution)
}

// why says why a testcase was kept.
func why(e *teasel.Entry) string {
	reaches := noun.Count(e.Features.Len(), "feature", "")
	switch {
	case e.First > 0:
		return fmt.Sprintf("kept because it was the first to reach %d of its %s", e.First, reaches)
	case len(e.Measures) > 0:
		return fmt.Sprintf("kept because it is simpler than what reached one of its %s before, or for its measures", reaches)
	}
	return fmt.Sprintf("kept because it is simpler than what reached one of its %s before", reaches)
}

func linesOf(p Paneler, entries []teasel.Entry, file string) (Lines, bool) {
	l, ok := p.(Liner)
	if !ok {
		return Lines{}, false
	}
	return l.Lines(entries, file)
}

// Lines returns the lines of a source file, which a panel names, that testcases reach. Several may call it at once.
func (r *Recorder) Lines(file string) (Lines, bool) {
	r.mu.Lock()
	entries := slices.Collect(maps.Values(r.entries))
	r.mu.Unlock()
	return linesOf(r.options.Panels, entries, file)
}

// Testcases returns the testcases, newest first, without their data. Several may call it at once.
func (r *Recorder) Testcases() []Testcase {
	r.mu.Lock()
	defer r.mu.Unlock()
	return list(maps.Values(r.entries))
}

// Testcase returns a testcase with its data; false: it is not kept. Several may call it at once.
func (r *Recorder) Testcase(key string) (Testcase, bool) {
	r.mu.Lock()
	e, ok := r.entries[key]
	r.mu.Unlock()
	if !ok {
		return Testcase{}, false
	}
	return whole(&e), true
}

func whole(e *teasel.Entry) Testcase {
	t := NewTestcase(e)
	t.Data = e.Data[:min(len(e.Data), mostShown)]
	return t
}

// list returns testcases, the newest first. What was given and has not run is none.
func list(entries func(func(teasel.Entry) bool)) []Testcase {
	all := []Testcase{}
	for e := range entries {
		if e.Runs > 0 {
			all = append(all, NewTestcase(&e))
		}
	}
	slices.SortFunc(all, func(a, b Testcase) int {
		return cmp.Or(cmp.Compare(b.Found, a.Found), cmp.Compare(b.Execution, a.Execution), strings.Compare(a.Key, b.Key))
	})
	return all
}
