package mutate

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// str parses a string. It returns the characters, and the original token if Append would write it differently.
func (p *JSONParser) str(text *string, read **verbatim) bool {
	start := p.at
	s := p.text
	odd := false
	i := start + 1
	for {
		for i < len(s) && stringBytes[s[i]] == 0 {
			i++
		}
		switch {
		case i == len(s):
			p.at = i
			p.wrong("")
			return false
		case s[i] == '"':
			p.at = i + 1
			if *text = s[start+1 : i]; odd {
				*text, *read = decodeString(s[start:p.at])
			}
			return true
		case s[i] == 0xed:
			odd = true
			i++
		case s[i] == '\\':
			odd = true
			n := escapeLength(s[i:])
			if p.at = i; n <= 0 {
				p.badEscape(n)
				return false
			}
			i += n
		default:
			p.at = i
			p.wrong("in string (expecting non-control character)")
			return false
		}
	}
}

// stringBytes marks the bytes of a string that need processing; surrogates of WTF-8 begin with 0xed.
var stringBytes = func() (t [256]uint8) {
	for c := range ' ' {
		t[c] = 1
	}
	t['"'], t['\\'], t[0xed] = 1, 1, 1
	return t
}()

// escapeLength returns the length of the escape at the beginning of s. 0 means that s ends within the escape, a negative number that
// so many bytes are not a valid escape.
func escapeLength(s string) int {
	switch {
	case len(s) < 2:
		return 0
	case s[1] != 'u' && unescaped[s[1]] == 0:
		return -2
	case s[1] != 'u':
		return 2
	}
	for i := 2; i < 6; i++ {
		if i == len(s) {
			return 0
		}
		if c := s[i]; !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return -min(len(s), 6)
		}
	}
	return 6
}

func (p *JSONParser) badEscape(n int) {
	if n == 0 {
		p.fail(p.at, io.ErrUnexpectedEOF)
		return
	}
	what := p.text[p.at : p.at-n]
	if strconv.CanBackquote(what) {
		what = "`" + what + "`"
	} else {
		what = strconv.Quote(what)
	}
	p.fail(p.at, errors.New("invalid escape sequence "+what+" in string"))
}

// decodeString returns the characters of a string token, and the token itself if Append would write it differently.
func decodeString(token string) (string, *verbatim) {
	inner := token[1 : len(token)-1]
	if strings.IndexByte(inner, '\\') < 0 && nextSurrogate(inner) < 0 {
		return inner, nil
	}
	text := unescape(inner)
	if speltAsOurs(inner) {
		return text, nil
	}
	return text, &verbatim{token: token, text: text}
}
