package agent

import (
	"fmt"
	"strings"
)

// Shorten returns a text of at most room bytes, or little more, that has the beginning of what a test says and, if it has
// one, the stack, with the innermost calls. What is left out of a longer text is said in a line of its own.
func Shorten(text string, room int) string {
	if len(text) <= room {
		return text
	}
	room -= min(room, 64) // for the line
	first := room / 4
	from := len(text) - (room - first)
	if at := lastStack(text); at > first && at < from { // the end of the stack matters least
		from = at
	} else if at >= 0 && at <= first { // the stack begins early
		first = room * 3 / 4
		from = len(text) - (room - first)
	}
	end := min(len(text), from+room-first)
	return fmt.Sprintf("%s\n... %d bytes left out ...\n%s", text[:first], len(text)-first-(end-from), text[from:end])
}

// lastStack returns where the last goroutine's stack begins; -1: there is none.
func lastStack(text string) int {
	for end := len(text); ; {
		at := strings.LastIndex(text[:end], "goroutine ")
		if at < 0 {
			return -1
		}
		line := strings.LastIndexByte(text[:at], '\n') + 1
		rest, _, _ := strings.Cut(text[at:], "\n")
		if strings.TrimLeft(text[line:at], " ") == "" && strings.HasSuffix(rest, "]:") {
			return line
		}
		end = at
	}
}
