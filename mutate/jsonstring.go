package mutate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// boundary returns a random position between two characters of a text.
func (e *editor) boundary(text string) int {
	i := below(e.r, len(text)+1)
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// stretch returns a random part of a text that does not split characters. It is empty only if the text is.
func (e *editor) stretch(text string) (from, to int) {
	if text == "" {
		return 0, 0
	}
	from, to = e.boundary(text), e.boundary(text)
	if from > to {
		from, to = to, from
	}
	if from == to {
		if from == len(text) {
			_, n := utf8.DecodeLastRuneInString(text)
			return from - n, to
		}
		_, n := utf8.DecodeRuneInString(text[from:])
		to += n
	}
	return from, to
}

func flipText(e *editor, at *slot) bool {
	text := []byte(at.node.Text)
	if len(text) == 0 {
		return false
	}
	i := below(e.r, 8*len(text))
	text[i/8] ^= 1 << (i % 8)
	return e.setText(at, string(text))
}

func insertText(e *editor, at *slot) bool {
	text := at.node.Text
	i := e.boundary(text)
	var b strings.Builder
	b.WriteString(text[:i])
	for range between(e.r, 1, 8) {
		b.WriteRune(e.drawRune())
	}
	b.WriteString(text[i:])
	return e.setText(at, b.String())
}

// drawRune returns a random character: most are ASCII, some Latin-1, some from all planes.
func (e *editor) drawRune() rune {
	switch below(e.r, 8) {
	case 0:
		return rune(below(e.r, 0x20))
	case 1:
		return rune(between(e.r, 0x80, 0xff))
	case 2:
		return rune(below(e.r, unicode.MaxRune+1))
	}
	return rune(between(e.r, ' ', '~'))
}

func deleteText(e *editor, at *slot) bool {
	text := at.node.Text
	from, to := e.stretch(text)
	if chance(e.r, 1, 2) && to > from { // half the time one character, otherwise any part
		_, n := utf8.DecodeRuneInString(text[from:])
		to = from + n
	}
	return e.setText(at, text[:from]+text[to:])
}

func duplicateText(e *editor, at *slot) bool {
	text := at.node.Text
	if text == "" {
		return false
	}
	from, to := e.stretch(text)
	if chance(e.r, 1, 3) {
		from, to = 0, len(text)
	}
	times := 1
	if chance(e.r, 1, 4) {
		times = e.drawLength(1024)
	}
	times = min(times, max(1, e.room/(6*(to-from))))
	return e.setText(at, text[:to]+strings.Repeat(text[from:to], times)+text[to:])
}

// putToken draws injections twice as often as other tokens, since most injections need a string.
func putToken(e *editor, at *slot) bool {
	token := e.tree.words.Token(e.r)
	if chance(e.r, 2, 3) {
		if special := e.tree.words.TokenOf(e.r, Injection); special != "" {
			token = special
		}
	}
	text := at.node.Text
	i := e.boundary(text)
	switch below(e.r, 4) {
	case 0:
		return e.setText(at, text+token)
	case 1:
		return e.setText(at, token+text)
	case 2:
		return e.setText(at, text[:i]+token+text[i:])
	}
	return e.setText(at, token)
}

// foldTraps replaces letters by others that some case mappings convert back.
var foldTraps = strings.NewReplacer("ss", "\u00df", "i", "\u0131", "I", "\u0130", "s", "\u017f", "K", "\u212a", "k", "\u212a")

// changeCase maps a text, or one character of it, to another case, which may be longer.
func changeCase(e *editor, at *slot) bool {
	text := at.node.Text
	switch below(e.r, 5) {
	case 0:
		return e.setText(at, strings.ToUpper(text))
	case 1:
		return e.setText(at, strings.ToLower(text))
	case 2:
		return e.setText(at, strings.Map(swapCase, text))
	case 3:
		return e.setText(at, foldTraps.Replace(text))
	}
	from, to := e.stretch(text)
	return e.setText(at, text[:from]+strings.Map(swapCase, text[from:to])+text[to:])
}

func swapCase(c rune) rune {
	if unicode.IsUpper(c) {
		return unicode.ToLower(c)
	}
	return unicode.ToUpper(c)
}

var spaces = [...]string{" ", "\t", "\n", "\r\n", "\r", "  ", "\v", "\f", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\u200b", "\x00"}

func putSpace(e *editor, at *slot) bool {
	text, space := at.node.Text, pick(e.r, spaces[:])
	switch below(e.r, 4) {
	case 0:
		return e.setText(at, space+text)
	case 1:
		return e.setText(at, text+space)
	case 2:
		return e.setText(at, space+text+space)
	}
	i := e.boundary(text)
	return e.setText(at, text[:i]+space+text[i:])
}
