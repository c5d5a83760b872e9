package script

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// CutToken cuts "#N" off the end of a pointer; -1: there is none.
func CutToken(pointer string) (path string, token int) {
	i := strings.LastIndexByte(pointer, '#')
	if i < 0 {
		return pointer, -1
	}
	n, err := strconv.ParseUint(pointer[i+1:], 10, 16)
	if err != nil {
		return pointer, -1
	}
	return pointer[:i], int(n)
}

// Unpoint takes back the escapes of a JSON pointer.
var Unpoint = strings.NewReplacer("~1", "/", "~0", "~")

// descend follows a JSON pointer. A text that is JSON itself is gone into as if it stood there as such.
func descend(v *mutate.JSON, pointer string) *mutate.JSON {
	for pointer != "" && v != nil {
		if text, ok := v.Str(); ok {
			inner, err := mutate.ParseJSON([]byte(text))
			if err != nil {
				return nil
			}
			v = inner
			continue
		}
		if pointer[0] != '/' {
			return nil
		}
		name := pointer[1:]
		if i := strings.IndexByte(name, '/'); i >= 0 {
			name = name[:i]
		}
		pointer = pointer[1+len(name):]
		switch v.Kind {
		case mutate.Object:
			v = v.Get(Unpoint.Replace(name))
		case mutate.Array:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(v.Items) {
				return nil
			}
			v = v.Items[n]
		default:
			return nil
		}
	}
	return v
}

// NthToken returns the n-th token of a text: a run of letters, digits and _ . : - that has a digit in it or is longer
// than two. Full stops and colons at its end are the sentence's.
func NthToken(text string, n int) (string, bool) {
	for text != "" {
		var token string
		token, text = NextToken(text)
		if token == "" {
			break
		}
		if n == 0 {
			return token, true
		}
		n--
	}
	return "", false
}

// NextToken returns the first token of a text and what follows it.
func NextToken(text string) (token, rest string) {
	for text != "" {
		start := strings.IndexFunc(text, isTokenRune)
		if start < 0 {
			return "", ""
		}
		text = text[start:]
		end := strings.IndexFunc(text, func(r rune) bool { return !isTokenRune(r) })
		if end < 0 {
			end = len(text)
		}
		token, text = strings.TrimRight(text[:end], ".:"), text[end:]
		if len(token) > 2 || strings.ContainsAny(token, "0123456789") {
			return token, text
		}
	}
	return "", ""
}

func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == ':' || r == '-'
}
