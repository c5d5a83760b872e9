package corpus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a target says need not be UTF-8, and JSON has no other strings: an encoder replaces each byte that is invalid by U+FFFD.
// A finding's id follows from its texts, so that it would be another one when the file is read. Texts with such bytes are written
// with escapes, and the file lists their fields.

// escape writes each byte of s that is not part of valid UTF-8 as \xff, and a backslash as two.
func escape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// unescape undoes escape.
func unescape(s string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), nil
		case strings.HasPrefix(after, `\`):
			b.WriteByte('\\')
			s = after[1:]
		case len(after) >= 3 && after[0] == 'x':
			v, err := strconv.ParseUint(after[1:3], 16, 8)
			if err != nil {
				return "", fmt.Errorf(`\%s: expected two hexadecimal digits after \x`, after[:3])
			}
			b.WriteByte(byte(v))
			s = after[3:]
		default:
			return "", errors.New(`a backslash: expected \\, or \x and two hexadecimal digits`)
		}
	}
}
