package script

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// altered returns a text that says something else than s, for whoever takes it for what was given. Of a token such as JWT it changes the first
// part, of base64 that holds a text what it holds: readers of base64 pass over what is behind its end.
func altered(s string) string {
	first, _, _ := strings.Cut(s, ".")
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := e.DecodeString(first); err == nil && utf8.Valid(text) && !strings.ContainsFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }) {
			if changed := changeLast(string(text)); changed != string(text) {
				return e.EncodeToString([]byte(changed)) + s[len(first):]
			}
		}
	}
	half := (len(first) + 1) / 2
	if changed := changeLast(s[:half]); changed != s[:half] {
		return changed + s[half:]
	}
	return changeLast(s)
}

// changeLast replaces the last ASCII letter or digit of a text, which in JSON is mostly one of a value, by another one.
func changeLast(s string) string {
	const from, to = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "bcdefghijklmnopqrstuvwxyzaBCDEFGHIJKLMNOPQRSTUVWXYZA1234567890"
	i := strings.LastIndexAny(s, from)
	if i < 0 {
		return s
	}
	return s[:i] + to[strings.IndexByte(from, s[i]):][:1] + s[i+1:]
}
