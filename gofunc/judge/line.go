package judge

import (
	"fmt"
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
