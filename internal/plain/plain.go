// Package plain makes text of a target safe to print: it may contain anything.
package plain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Text returns s with escapes in place of characters that would control a terminal, change the direction of text, hide a text in it
// or be invalid in XML.
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
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// JSON returns a JSON text that means the same, with escapes in place of those characters: in JSON they stand in strings only.
func JSON(text []byte) []byte {
	if bytes.IndexFunc(text, func(r rune) bool { return !clean(r) && r > '~' }) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch high, low := utf16.EncodeRune(r); {
		case clean(r) || r <= '~':
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

func clean(r rune) bool {
	switch {
	case r == '\n', r == '\t', r >= ' ' && r < 0x7f:
		return true
	case r < 0xa0, r == '\u2028', r == '\u2029', r == '\ufeff', r >= '\ufffd' && r <= '\uffff':
		return false
	case r == '\u061c', r == '\u200e', r == '\u200f', r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional marks
		return false
	case r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // invisible: operators, annotations, tags
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
