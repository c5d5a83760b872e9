package mcpserver

import (
	"fmt"
	"io"
	"strings"

	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// maxNamedBlocked is how many blocked tools are named at the beginning; the report names all.
const maxNamedBlocked = 5

// warnBlocked warns of tools that are not called. Where no tool is left, it prints the command line that allows them.
func warnBlocked(w io.Writer, command []string, c *session.Choice) {
	n := len(c.Blocked)
	if n == 0 {
		return
	}
	var names []string
	for _, b := range c.Blocked[:min(n, maxNamedBlocked)] {
		names = append(names, plain.Line(b.Name))
	}
	if n > maxNamedBlocked {
		names = append(names, "...")
	}
	fmt.Fprintf(w, "teasel: %d of %d tools are not called, because they may change something that outlives the server: %s (%s: %s)\n", n, n+len(c.Tools),
		strings.Join(names, ", "), names[0], plain.Line(c.Blocked[0].Why))
	if len(c.Tools) > 0 {
		fmt.Fprintln(w, "hint: --allow NAME fuzzes one all the same, --allow '*' all of them, in a place where they can do no harm")
		return
	}
	fmt.Fprintln(w, "teasel: warning: no tool is left to call; only the protocol is fuzzed")
	fmt.Fprintf(w, "hint: to fuzz the tools, in a place where they can do no harm: teasel mcp %s -- %s\n", allowFlags(c.Blocked), quoted(command))
}

// quoted returns a command as it is typed into a shell.
func quoted(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = plain.Quote(w)
	}
	return strings.Join(words, " ")
}

// allowFlags returns the flags that allow these tools, by name if there are not too many.
func allowFlags(blocked []session.Blocked) string {
	if len(blocked) > 2*maxNamedBlocked {
		return "--allow '*'"
	}
	var words []string
	for _, b := range blocked {
		words = append(words, "--allow "+plain.Quote(glob.Escape(b.Name)))
	}
	return strings.Join(words, " ")
}
