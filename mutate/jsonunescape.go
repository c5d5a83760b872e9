package mutate

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes the inside of a valid string token. A lone surrogate becomes three bytes, as in WTF-8.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			b.WriteByte(unescaped[c])
			continue
		}
		r := hex4(s[:4])
		s = s[4:]
		if utf16.IsSurrogate(r) && strings.HasPrefix(s, `\u`) {
			if pair := utf16.DecodeRune(r, hex4(s[2:6])); pair != utf8.RuneError {
				b.WriteRune(pair)
				s = s[6:]
				continue
			}
		}
		if utf16.IsSurrogate(r) {
			b.Write([]byte{0xed, 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
			continue
		}
		b.WriteRune(r)
	}
}

// speltAsOurs reports whether the inside of a valid string token equals what appendString writes for its characters. It must be fast:
// it is called for every text with an escape, including the long error messages of some servers.
func speltAsOurs(s string) bool {
	if nextSurrogate(s) >= 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if i++; s[i] == '/' {
			return false
		}
		if s[i] != 'u' {
			continue
		}
		digits, rest := s[i+1:i+5], s[i+5:]
		r := hex4(digits)
		i += 4
		switch {
		case strings.ContainsAny(digits, "ABCDEF"):
			return false
		case utf16.IsSurrogate(r): // appendString writes the character instead of a pair
			if strings.HasPrefix(rest, `\u`) && utf16.DecodeRune(r, hex4(rest[2:6])) != utf8.RuneError {
				return false
			}
		case r >= ' ', strings.ContainsRune("\b\f\n\r\t", r):
			return false
		}
	}
	return true
}

func hex4(s string) rune {
	n, err := strconv.ParseUint(s, 16, 16)
	if err != nil {
		panic("mutate: internal error: escape of a checked string is broken: " + s)
	}
	return rune(n)
}

// nextSurrogate returns the index of the first WTF-8 surrogate in s, -1 if there is none.
func nextSurrogate(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], 0xed)
		if i < 0 {
			return -1
		}
		i += from
		if isSurrogate(s[i:]) {
			return i
		}
		from = i + 1
	}
}

// isSurrogate reports whether s begins with a WTF-8 surrogate.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf
}

// surrogateAt decodes the WTF-8 surrogate at the beginning of s.
func surrogateAt(s string) rune {
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// joinSurrogates replaces pairs of WTF-8 surrogates by the characters that they encode.
func joinSurrogates(s string) string {
	i := nextSurrogate(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		if isSurrogate(s[3:]) {
			if r := utf16.DecodeRune(surrogateAt(s), surrogateAt(s[3:])); r != utf8.RuneError {
				b.WriteRune(r)
				s = s[6:]
				i = nextSurrogate(s)
				continue
			}
		}
		b.WriteString(s[:3])
		s = s[3:]
		i = nextSurrogate(s)
	}
	b.WriteString(s)
	return b.String()
}
