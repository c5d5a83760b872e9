package mcp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const (
	excerptLines  = 16   // lines of a transcript that a finding's detail shows
	excerptLine   = 500  // characters of each
	excerptStderr = 2000 // bytes of standard error
	excerptNoise  = 200  // characters of each of its lines
)

// excerpt writes a transcript for people: the last lines in the order in which they crossed the wire, the end of
// standard error, how the process ended, and where the rule is written down.
func excerpt(t *Transcript, source string) string {
	var lines []string
	sent, received := len(t.Sent), len(t.Received)
	for len(lines) < excerptLines && sent+received > 0 {
		if sent == 0 || received > 0 && t.Received[received-1].At >= t.Sent[sent-1].At {
			received--
			lines = append(lines, "< "+cut(t.Received[received].Raw, excerptLine))
			continue
		}
		sent--
		lines = append(lines, "> "+cut(t.Sent[sent].Raw, excerptLine))
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
		fmt.Fprintf(&b, "stdout, no message: %s\n", cut(noise, excerptLine))
	}
	if t.End.Kind != EndInvalid {
		fmt.Fprintf(&b, "server %s\n", ending(&t.End))
	}
	if tail := stderrTail(stderrOf(t)); tail != "" {
		fmt.Fprintf(&b, "stderr:\n%s", tail)
	}
	if source != "" {
		fmt.Fprintf(&b, "see %s\n", source)
	}
	return b.String()
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
			b.WriteString(cut(line, excerptNoise))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// stderrOf returns what the server wrote to standard error: during the script, where that is known, else the end of all
// that it has ever written. In the latter stands what was logged of other requests, too.
func stderrOf(t *Transcript) []byte {
	if len(t.Stderr) > 0 {
		return t.Stderr
	}
	return t.End.Stderr
}

// ending says how a process ended, after "server".
func ending(e *End) string {
	switch e.Kind {
	case EndExited:
		return fmt.Sprintf("exited with status %d", e.Code)
	case EndSignalled:
		return fmt.Sprintf("was killed by a signal (%s)", e.Signal)
	case EndKilled:
		return "had to be killed"
	}
	return "lives"
}
