package judge

import (
	"regexp"
	"strings"
)

// raceReport is how a report of the race detector begins.
var raceReport = regexp.MustCompile(`(?m)^={18}\nWARNING: DATA RACE\n`)

// race judges a report of the race detector by the innermost functions of the two accesses.
func race(text string) verdict {
	v := verdict{rule: ruleRace, message: "data race"}
	var names []string
	wants := false
	if at := raceReport.FindStringIndex(text); at != nil { // lines before it may look alike
		text = text[at[0]:]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, " at 0x") && strings.Contains(line, " by ") {
			wants = true
			continue
		}
		if name := called(line); wants && name != "" && !isMachinery(name) {
			names, wants = append(names, plainName(name)), false
		}
	}
	if len(names) > 0 {
		v.subject, v.message = names[0], "data race in "+names[0]
		if len(names) > 1 && names[1] < names[0] {
			names[0], names[1] = names[1], names[0]
		}
		v.group = strings.Join(names[:min(2, len(names))], " and ")
	}
	return v
}
