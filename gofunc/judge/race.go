package judge

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// raceReport is how a report of the race detector begins.
var raceReport = regexp.MustCompile(`(?m)^={18}\nWARNING: DATA RACE\n`)

// race judges a report of the race detector by the innermost functions of the two accesses. Which of these is reported first is random: the
// race is named after the one that comes first in alphabetical order.
func race(text string) verdict {
	v := verdict{rule: ruleRace, message: "data race"}
	if at := raceReport.FindStringIndex(text); at != nil { // lines before it may look alike
		text = text[at[0]:]
	}
	both := racing(text)
	if len(both) == 0 {
		return v
	}
	first, last := both[0], both[len(both)-1]
	v.subject, v.group = first.Function, first.Function
	v.message = "data race in " + first.Function + place(both[:1])
	if len(both) > 1 {
		v.group += " and " + last.Function
	}
	if where := place(both[len(both)-1:]); first.Function != last.Function {
		v.message += ", and in " + last.Function + where
	} else if first != last && where != "" {
		v.message += fmt.Sprintf(" and %s:%d", filepath.Base(last.File), last.Line)
	}
	return v
}

// racing returns the innermost functions of the program in the two accesses of the first report, in alphabetical order.
func racing(text string) (both []Frame) {
	wants, function := false, ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch name := called(trimmed); {
		case strings.Contains(trimmed, " at 0x") && strings.Contains(trimmed, " by "):
			wants, function = true, ""
		case strings.HasSuffix(trimmed, "created at:"): // the stack of the access may be lost
			wants, function = false, ""
		case function != "": // the line below its name
			file, number := source(trimmed)
			both, wants, function = append(both, Frame{function, file, number}), false, ""
		case wants && name != "" && !isMachinery(name):
			function = plainName(name)
		}
		if len(both) == 2 {
			break
		}
	}
	slices.SortFunc(both, func(a, b Frame) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return both
}
