package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// How many bytes of a line are shown: of the message of a finding, and in its detail. A test may print any input in one line.
const (
	messageLength = 512
	detailLength  = 1024
)

// shortLine returns a line that is not much longer than so many bytes, and says how many are missing.
func shortLine(line string, length int) string {
	if len(line) <= length {
		return line
	}
	for length > 0 && !utf8.RuneStart(line[length]) {
		length--
	}
	return fmt.Sprintf("%s... (%d bytes more)", line[:length], len(line)-length)
}

// shortLines shortens the long lines of a text.
func shortLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		b.WriteString(shortLine(body, detailLength))
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// labelled is a line of an assertion library such as testify: what it has to say is in columns.
var labelled = regexp.MustCompile(`^\s*\t([A-Z][A-Za-z ]*):\s*\t(.*)`)

// below returns what a failure says in the lines below its first one, which is empty: what is labelled as the error, or else the
// first of them. text begins behind the first line.
func below(text string) string {
	var first, label string
	var says []string
	for line := range strings.Lines(text) {
		if errorLine.MatchString(line) { // the next failure, or log
			break
		}
		if m := labelled.FindStringSubmatch(line); m != nil {
			label, line = m[1], m[2]
		}
		line = strings.TrimSpace(line)
		first = cmp.Or(first, line)
		if label == "Error" && line != "" {
			says = append(says, line)
		}
	}
	return cmp.Or(strings.Join(says, " "), first)
}
