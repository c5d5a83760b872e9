package script

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

const (
	excerptLines  = 16   // lines of a transcript that a finding's detail shows
	excerptLine   = 500  // characters of each
	excerptStderr = 2000 // bytes of standard error
	excerptNoise  = 200  // characters of each of its lines
)

// Excerpt writes a transcript for people: the last lines in the order in which they crossed the wire, the end of
// standard error, how the process ended, and where the rule is written down.
func Excerpt(t *Transcript, source string) string {
	var lines []string
	sent, received := len(t.Sent), len(t.Received)
	for len(lines) < excerptLines && sent+received > 0 {
		if sent == 0 || received > 0 && t.Received[received-1].At >= t.Sent[sent-1].At {
			received--
			lines = append(lines, "< "+jsonrpc.Cut(t.Received[received].Raw, excerptLine))
			continue
		}
		sent--
		lines = append(lines, "> "+t.wire(&t.Sent[sent]))
	}
	var b strings.Builder
	if sent+received > 0 {
		fmt.Fprintf(&b, "(%d lines before)\n", sent+received)
	}
	for _, line := range slices.Backward(lines) {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	for _, noise := range t.Noise {
		fmt.Fprintf(&b, "stdout, no message: %s\n", jsonrpc.Cut(noise, excerptLine))
	}
	if t.End.Kind != EndInvalid {
		fmt.Fprintf(&b, "server %s\n", Ending(&t.End))
	}
	if tail := stderrTail(StderrOf(t)); tail != "" {
		fmt.Fprintf(&b, "stderr:\n%s", tail)
	}
	if source != "" {
		fmt.Fprintf(&b, "see %s\n", source)
	}
	return b.String()
}

// wire returns a line as it was sent: over HTTP with how its head differed, and the status of a response that is no plain success.
func (t *Transcript) wire(s *Sent) string {
	line := jsonrpc.Cut(s.Raw, excerptLine)
	if head := t.Head(s); head != "" {
		line = strings.TrimSpace("[" + jsonrpc.Cut([]byte(strings.ReplaceAll(head, "\n", ", ")), excerptNoise) + "] " + line)
	}
	if s.Status >= 300 {
		line += fmt.Sprintf(" (HTTP status %d)", s.Status)
	}
	return line
}

// stderrTail returns the last whole lines for people, long ones cut short.
func stderrTail(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte{'\n'})
	size, from := 0, len(lines)
	for from > 0 && size < excerptStderr {
		from--
		size += min(len(lines[from]), excerptNoise) + 1
	}
	var b strings.Builder
	for _, line := range lines[from:] {
		if line = bytes.TrimRight(line, " \t\r"); len(line) > 0 {
			b.WriteString(jsonrpc.Cut(line, excerptNoise))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// StderrOf returns what the server wrote to standard error: during the script, where that is known, else the end of all
// that it has ever written. In the latter stands what was logged of other requests, too.
func StderrOf(t *Transcript) []byte {
	if len(t.Stderr) > 0 {
		return t.Stderr
	}
	return t.End.Stderr
}

// Ending says how a process ended, after "server".
func Ending(e *End) string {
	switch e.Kind {
	case EndExited:
		return fmt.Sprintf("exited with status %d", e.Code)
	case EndSignalled:
		return fmt.Sprintf("was killed by a signal (%s)", e.Signal)
	case EndKilled:
		return "had to be killed"
	case EndGone:
		return "takes no connections any more"
	}
	return "lives"
}
