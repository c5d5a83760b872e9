package triage

import (
	"fmt"
	"strconv"
	"strings"
)

// Symbolise returns a sanitizer's report, or what a program wrote, in which functions and lines replace modules and offsets in all stacks, and
// source names the mangled ones of exceptions' types.
func (x Reader) Symbolise(text string) string {
	text = withTypes(text)
	if x.Frames == nil {
		return text
	}
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		m := stackLine.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			b.WriteString(l)
			continue
		}
		if m[1] == "0" {
			n = 0
		}
		offset, _ := strconv.ParseUint(m[5], 16, 64)
		var frames []Frame
		if m[3] == "" && m[4] != "" {
			frames = x.Frames(m[4], offset)
		}
		if len(frames) == 0 || frames[0].Function == "" {
			b.WriteString(l)
			n++
			continue
		}
		for _, f := range frames { // several if they were inlined
			fmt.Fprintf(&b, "    #%d 0x%s in %v\n", n, m[2], f)
			n++
		}
	}
	return b.String()
}
