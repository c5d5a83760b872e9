package mutate

import (
	"strings"
	"unicode/utf8"
)

// injectUnicode inserts a token of category Unicode into a string, or replaces characters by others that programs compare, normalise or
// display differently.
func injectUnicode(e *editor, at *slot) bool {
	text := at.node.Text
	token := e.tree.words.TokenOf(e.r, Unicode)
	i := e.boundary(text)
	switch below(e.r, 12) {
	case 0:
		return e.setText(at, token+text)
	case 1:
		return e.setText(at, text+token)
	case 2:
		return e.setText(at, token)
	case 3:
		return e.setText(at, "\u202e"+text+"\u202c") // displayed right to left
	case 4:
		return e.setText(at, e.mapRunes(text, fullWidth))
	case 5:
		return e.setText(at, e.mapRunes(text, homoglyph))
	case 6:
		return e.setText(at, e.mapRunes(text, accented))
	case 7:
		return e.setText(at, e.mapRunes(text, overlong))
	case 8:
		return e.escape(at, everyEscape(text))
	case 9:
		return e.escape(at, rawSurrogate(text))
	case 10:
		return e.setText(at, text[:i]+strings.Repeat("\u0301", e.drawLength(1024))+text[i:])
	}
	return e.setText(at, text[:i]+token+text[i:])
}

// mapRunes maps one character of a text, or all of them.
func (e *editor) mapRunes(text string, spell func(rune) string) string {
	from, to := 0, len(text)
	if chance(e.r, 1, 2) && text != "" {
		from, to = e.stretch(text)
		_, n := utf8.DecodeRuneInString(text[from:to])
		to = from + n
	}
	var b strings.Builder
	b.WriteString(text[:from])
	for _, c := range text[from:to] {
		if s := spell(c); s != "" {
			b.WriteString(s)
		} else {
			b.WriteRune(c)
		}
	}
	b.WriteString(text[to:])
	return b.String()
}

// fullWidth returns a character that NFKC maps to c.
func fullWidth(c rune) string {
	if c > ' ' && c <= '~' {
		return string(c + 0xfee0)
	}
	return ""
}

var homoglyphs = map[rune]string{
	'a': "\u0430", 'c': "\u0441", 'e': "\u0435", 'i': "\u0456", 'j': "\u0458", 'o': "\u043e", 'p': "\u0440", 's': "\u0455", 'x': "\u0445", 'y': "\u0443",
	'A': "\u0391", 'B': "\u0392", 'E': "\u0395", 'H': "\u041d", 'I': "\u0406", 'K': "\u039a", 'M': "\u039c", 'O': "\u041e", 'P': "\u03a1", 'T': "\u0422", 'X': "\u03a7",
	'l': "\u04cf", 'd': "\u0501", 'h': "\u04bb", 'q': "\u051b", 'w': "\u051d", '/': "\u2215", '.': "\u2024", '-': "\u2010", '_': "\u203f", ':': "\u0589",
	'0': "\u041e", '1': "\u04cf", '3': "\u0417",
}

// homoglyph returns a character that looks like c.
func homoglyph(c rune) string { return homoglyphs[c] }

// accented returns c and a combining accent, which NFC may combine into one character.
func accented(c rune) string { return string(c) + "\u0301" }

// overlong returns c encoded with one byte more than UTF-8 allows.
func overlong(c rune) string {
	switch {
	case c < 0x80:
		return string([]byte{0xc0 | byte(c>>6), 0x80 | byte(c)&0x3f})
	case c < 0x800:
		return string([]byte{0xe0, 0x80 | byte(c>>6), 0x80 | byte(c)&0x3f})
	}
	return ""
}

// escape replaces a string by one with its own token, which must be valid for ParseJSON.
func (e *editor) escape(at *slot, token string) bool {
	if at.node.Kind != String {
		return false
	}
	v := &JSON{Kind: String}
	v.Text, v.read = decodeString(token)
	return e.put(at, v)
}

// everyEscape escapes each ASCII character.
func everyEscape(text string) string {
	b := []byte{'"'}
	for i := range len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// rawSurrogate prepends a surrogate as three unescaped bytes, which is not valid UTF-8.
func rawSurrogate(text string) string {
	return string(append(appendEscaped([]byte("\"\xed\xa0\x80"), text), '"'))
}
