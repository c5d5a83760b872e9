package mutate

import "strings"

// defects make malformed JSON out of JSON. A few results may still be valid: 12 truncated is 1. Each function returns "" if it cannot
// be applied. No result contains a newline, so that in line-based protocols it is still one message.
var defects = [...]func(e *editor, text string) string{
	without(','),
	without(':'),
	without('"'),
	without('}'),
	without(']'),
	trailingComma,
	func(e *editor, text string) string { // truncated
		if len(text) < 2 {
			return ""
		}
		return text[:between(e.r, 1, len(text)-1)]
	},
	func(_ *editor, text string) string { // single quotes
		if !strings.Contains(text, `"`) {
			return ""
		}
		return replaceAt(text, positions(text, '"'), "'")
	},
	unquotedName,
	func(_ *editor, text string) string { return "/* comment */" + text },
	func(_ *editor, text string) string { return text + "/**/" },
	func(_ *editor, text string) string { return text + "//" },
	func(_ *editor, text string) string { return "#" + text },
	insideString("\x00", "\x01", "\t", "\x1f", "\x08", "\x1b"),
	insideString(`\x41`, `\u12`, `\u`, `\q`, `\'`, `\u{41}`, `\U00000041`, `\ud800\u`, `\uDCGG`, `\0`),
	func(_ *editor, text string) string { return "\ufeff" + text },
	func(_ *editor, text string) string { return "\xff\xfe" + text },
	func(_ *editor, text string) string { return text + text },
	func(_ *editor, text string) string { return text + " " + text },
	func(_ *editor, text string) string { return text + ",{}" },
	func(_ *editor, text string) string { return text + "]" },
	func(_ *editor, text string) string { return text + "}" },
	func(_ *editor, text string) string { return "(" + text + ")" },
	func(_ *editor, text string) string { return text + ";" },
	func(_ *editor, text string) string { return "\x00" + text },
	func(_ *editor, text string) string { return text + "\x00" },
	func(_ *editor, text string) string { return "\u00a0" + text },
	func(_ *editor, text string) string { return "," + text },
	wrongLiteral,
}

// breakText replaces a value by malformed text.
func breakText(e *editor, at *slot) bool {
	text := defects[below(e.r, len(defects))](e, at.node.String())
	return text != "" && !e.isStillJSON(at, text) && e.put(at, NewRaw(text))
}

// isStillJSON reports whether a text is valid JSON at its position; in an array it may be several items.
func (e *editor) isStillJSON(at *slot, text string) bool {
	if p := e.parent(at); p != nil && p.node.Kind == Array {
		text = "[" + text + "]"
	}
	_, err := ParseJSON([]byte(text))
	return err == nil
}

// positions returns the positions of a byte outside of strings, or, if c is a quote, of the delimiters of strings.
func positions(text string, c byte) []int {
	var found []int
	inString := false
	for i := 0; i < len(text); i++ {
		switch {
		case inString && text[i] == '\\':
			i++
			continue
		case text[i] == '"':
			inString = !inString
		case inString:
			continue
		}
		if text[i] == c {
			found = append(found, i)
		}
	}
	return found
}

// replaceAt replaces the bytes at some positions by other.
func replaceAt(text string, at []int, other string) string {
	var b strings.Builder
	from := 0
	for _, i := range at {
		b.WriteString(text[from:i])
		b.WriteString(other)
		from = i + 1
	}
	b.WriteString(text[from:])
	return b.String()
}

// without returns a defect that removes one of the bytes c.
func without(c byte) func(*editor, string) string {
	return func(e *editor, text string) string {
		at := positions(text, c)
		if len(at) == 0 {
			return ""
		}
		return replaceAt(text, []int{pick(e.r, at)}, "")
	}
}

func trailingComma(e *editor, text string) string {
	at := append(positions(text, '}'), positions(text, ']')...)
	if len(at) == 0 {
		return ""
	}
	i := pick(e.r, at)
	return text[:i] + "," + text[i:]
}

// unquotedName removes the quotes of a name.
func unquotedName(e *editor, text string) string {
	quotes := positions(text, '"')
	var names [][]int
	for i := 0; i+1 < len(quotes); i += 2 {
		if end := quotes[i+1]; end+1 < len(text) && text[end+1] == ':' {
			names = append(names, quotes[i:i+2])
		}
	}
	if len(names) == 0 {
		return ""
	}
	return replaceAt(text, pick(e.r, names), "")
}

// insideString returns a defect that inserts one of the texts at the beginning of a string.
func insideString(texts ...string) func(*editor, string) string {
	return func(e *editor, text string) string {
		quotes := positions(text, '"')
		if len(quotes) < 2 {
			return ""
		}
		i := quotes[below(e.r, len(quotes)/2)*2] + 1
		return text[:i] + pick(e.r, texts) + text[i:]
	}
}

// wrongLiteral replaces a literal by that of another language.
func wrongLiteral(e *editor, text string) string {
	switch text {
	case "true":
		return pick(e.r, []string{"True", "TRUE", "tru", "truee", "yes", "on"})
	case "false":
		return pick(e.r, []string{"False", "FALSE", "fals", "no", "off"})
	case "null":
		return pick(e.r, []string{"None", "NULL", "nil", "nul", "undefined"})
	}
	return pick(e.r, []string{"undefined", "NaN", "<html>", "{,}", "[,]", "{]", "[}", "{", "[", "\"", "'", ":", "{\"a\"}", "{:}", "\\", "*"})
}
