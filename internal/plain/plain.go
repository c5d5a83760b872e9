// Package plain makes text of a target safe to print: it may contain anything.
package plain

import (
	"fmt"
	"strings"
)

// Text returns s with escapes in place of characters that would control a terminal, change the direction of text or be invalid in XML.
// New lines and tabs stay.
func Text(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case clean(r):
			b.WriteRune(r)
		case r == '\ufffd' && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func clean(r rune) bool {
	switch {
	case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
		return true
	case r < 0xa0, r == '\u2028', r == '\u2029', r == '\ufeff', r >= '\ufffd' && r <= '\uffff':
		return false
	case r == '\u061c', r == '\u200e', r == '\u200f', r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional marks
		return false
	}
	return true
}

// Line is [Text] on one line.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Quote returns s as one word of a shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
