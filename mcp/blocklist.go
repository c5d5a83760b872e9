package mcp

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// A blocklist is the last door before the wire: it knows a line that names a tool which must not be called, however the
// name got there. It errs on the safe side: that a text mentions the tool is enough.
type blocklist struct {
	names []string // lower case
	buf   []byte
}

func newBlocklist(s *Session, blocked func(string) bool) blocklist {
	var b blocklist
	if blocked == nil {
		return b
	}
	for i := range s.Tools {
		if name := s.Tools[i].Name; name != "" && blocked(name) {
			b.names = append(b.names, strings.ToLower(name))
		}
	}
	slices.Sort(b.names)
	b.names = slices.Compact(b.names)
	return b
}

// unescapeRounds is how deep strings of JSON within strings of JSON are looked into.
const unescapeRounds = 3

// names reports whether the line names a blocked tool: in any case, behind escapes, or with characters in between that
// a lax reader drops. line may be the end of one that was begun without a newline, which is in before.
func (b *blocklist) matches(before, line []byte) bool {
	if len(b.names) == 0 {
		return false
	}
	text := appendLower(append(b.buf[:0], before...), line)
	lowerASCII(text[:len(before)])
	found := b.contains(text)
	for range unescapeRounds {
		if found || bytes.IndexByte(text, '\\') < 0 {
			break
		}
		text = unescapeInPlace(text)
		found = b.contains(text)
	}
	if !found && !isPrintable(text) {
		text = dropStrange(text)
		found = b.contains(text)
	}
	if b.buf = text; cap(text) > 1<<20 {
		b.buf = nil
	}
	return found
}

// contains reports whether a name stands in text and is not only a part of a longer one.
func (b *blocklist) contains(text []byte) bool {
	for _, name := range b.names {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(name))
			if i < 0 {
				break
			}
			i += from
			end := i + len(name)
			if (i == 0 || !isNameByte(text[i-1])) && (end == len(text) || !isNameByte(text[end])) {
				return true
			}
			from = i + 1
		}
	}
	return false
}

// isNameByte reports whether the byte can be a part of a tool's name. A full stop and a hyphen can, too, but a sentence
// has them elsewhere.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func appendLower(dst, src []byte) []byte {
	at := len(dst)
	dst = append(dst, src...)
	if isPrintable(src) {
		lowerASCII(dst[at:])
		return dst
	}
	return append(dst[:at], bytes.ToLower(src)...)
}

func lowerASCII(b []byte) {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
}

// isPrintable reports whether there is nothing but printable ASCII.
func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// unescapeInPlace undoes the escapes of JSON strings wherever they stand, and lowers what comes out.
func unescapeInPlace(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'b', 'f', 'n', 'r', 't':
			out = append(out, ' ')
		case 'u':
			r, ok := hexRune(b[i+1:])
			if !ok {
				out = append(out, '\\', 'u')
				continue
			}
			i += 4
			// Never longer than the six bytes it stood in.
			out = append(out, strings.ToLower(string(r))...)
		default:
			out = append(out, b[i])
		}
	}
	return out
}

func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// dropStrange drops control characters, spaces of all kinds and bytes that are not UTF-8. What is left of a character
// beyond ASCII is a mark, so that a word does not grow together with the next.
func dropStrange(b []byte) []byte {
	out := b[:0]
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n <= 1, r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0, r == 0xad,
			r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == utf8.RuneError:
		case r < 0x80:
			out = append(out, byte(r))
		default:
			out = append(out, '?')
		}
		b = b[n:]
	}
	return out
}
