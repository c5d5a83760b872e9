package jsonrpc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mutate"
)

// Describe returns a kind of value with its article: "an object".
func Describe(k mutate.Kind) string {
	switch k {
	case mutate.Array, mutate.Object:
		return "an " + k.String()
	case mutate.Null:
		return "null"
	}
	return "a " + k.String()
}

// Cut returns text of at most n bytes for people; what is left out is counted.
func Cut[T string | []byte](text T, n int) string {
	shown, rest := cut(text, n)
	return printable([]byte(shown)) + rest
}

// Quote is [Cut] in quotes, with the escapes of a Go string.
func Quote[T string | []byte](text T, n int) string {
	shown, rest := cut(text, n)
	return strconv.Quote(string(shown)) + rest
}

// cut returns at most n bytes of a text, and how many it has in all if that is not all of it.
func cut[T string | []byte](text T, n int) (shown T, rest string) {
	if len(text) <= n {
		return text, ""
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], fmt.Sprintf(" … (%d bytes in all)", len(text))
}

// printable keeps control characters and bytes that are no UTF-8 away from terminals.
func printable(text []byte) string {
	dirty := func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if bytes.IndexFunc(text, dirty) < 0 {
		return string(text)
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case dirty(r) && r != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// CutBytes returns at most the first n bytes of s.
func CutBytes(s string, n int) string { return s[:min(n, len(s))] }
