package judge

import (
	"fmt"
	"path/filepath"
	"strings"
)

// place says in which line of the user's code a failure happened: of the innermost function outside of the standard library.
// "": that is not known.
func place(frames []Frame) string {
	for _, f := range frames {
		if !standard(f) && f.Line > 0 {
			return fmt.Sprintf(", at %s:%d", filepath.Base(f.File), f.Line)
		}
	}
	return ""
}

// shownCalls is how many functions stand before what the runtime has printed.
const shownCalls = 8

// calls lists the functions that led to a failure, those of the machinery left out, the innermost first.
func calls(frames []Frame) string {
	if len(frames) == 0 {
		return ""
	}
	var b strings.Builder
	for _, f := range frames[:min(len(frames), shownCalls)] {
		fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
	}
	if left := len(frames) - shownCalls; left > 0 {
		fmt.Fprintf(&b, "and %d more\n", left)
	}
	b.WriteByte('\n')
	return b.String()
}
