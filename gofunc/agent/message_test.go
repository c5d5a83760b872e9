package agent_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// However long the message and the stack are, what is left has the beginning of the message and the innermost calls.
func TestShorten(t *testing.T) {
	const room = 4096
	stack := "    goroutine 8 [running]:\n    m.inner()\n" + strings.Repeat("    m.outer()\n", 2000) + "created by testing.(*F).Fuzz in goroutine 6\n"
	for name, text := range map[string]string{
		"message":          "x.go:1: panic: " + strings.Repeat("m\n", 1<<20) + stack[:100],
		"line":             "x.go:1: panic: " + strings.Repeat("\x00", 1<<20) + "\n" + stack[:100],
		"stack":            "x.go:1: panic: short\n" + stack,
		"message and both": "x.go:1: panic: " + strings.Repeat("goroutine \n", 1<<16) + stack + strings.Repeat("log\n", 5000),
	} {
		got := agent.Shorten(text, room)
		if len(got) > room || !strings.HasPrefix(got, "x.go:1: panic: ") || !strings.Contains(got, "goroutine 8 [running]:\n    m.inner()\n") || !strings.Contains(got, " bytes left out ...\n") {
			t.Errorf("%s: %d bytes: %q ... %q", name, len(got), got[:100], got[len(got)-100:])
		}
	}
	if got := agent.Shorten("short", room); got != "short" {
		t.Errorf("a short text is now %q", got)
	}
}
