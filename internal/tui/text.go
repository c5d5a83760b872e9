package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// style is an SGR attribute. The colours are those of the terminal's theme; without colour they are left out, so that none of them is the
// only sign of anything.
type style string

const (
	normal   style = ""
	bold     style = "1"
	faint    style = "2"
	reversed style = "7"
)

var severityStyles = map[string]style{"critical": "1;31", "high": "31", "medium": "33", "low": "36", "info": faint}

func (s style) paint(text string) string {
	if s == normal || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// fit returns text that takes exactly so many cells.
func fit(text string, cells int) string {
	if cells <= 0 {
		return ""
	}
	n := ansi.StringWidth(text)
	if n > cells {
		text = ansi.Truncate(text, cells, "")
		n = ansi.StringWidth(text)
	}
	return text + strings.Repeat(" ", cells-n)
}

// fitRight is [fit] with the text at the right.
func fitRight(text string, cells int) string {
	if n := ansi.StringWidth(text); n < cells {
		return strings.Repeat(" ", cells-n) + text
	}
	return fit(text, cells)
}

// safe returns text of a target on one line, for the terminal. The state has none that is not safe; what is drawn does not rely on that.
func safe(text string) string { return plain.Line(text) }

// marks are the characters that lines, plots and the names of keys are drawn with.
type marks struct {
	rule, bar string
	braille   bool
	keys      string // that move
}

var (
	unicodeMarks = marks{rule: "─", bar: "│", braille: true, keys: "↑↓"}
	asciiMarks   = marks{rule: "-", bar: "|", keys: "up/down"}
)

// heading returns a horizontal line with a title in it.
func (m marks) heading(title string, cells int) string {
	text := m.rule + m.rule + " " + title + " "
	return fit(text+strings.Repeat(m.rule, max(0, cells-ansi.StringWidth(text))), cells)
}

// seconds shows a time of a state.
func seconds(s float64) string { return clock.Seconds(time.Duration(s * float64(time.Second))) }

// count shows a number with separators: 1,234,567.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
