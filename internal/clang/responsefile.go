package clang

import (
	"os"
	"strings"
)

// maxNested is the maximum nesting depth of response files.
const maxNested = 16

// expand replaces each argument @FILE by the arguments in that response file, since these decide which flags are added. Like clang,
// it keeps the argument if the file cannot be read.
func expand(args []string, depth int) (out []string) {
	for _, a := range args {
		name, ok := strings.CutPrefix(a, "@")
		if ok && depth < maxNested {
			if text, err := os.ReadFile(name); err == nil {
				out = append(out, expand(words(string(text)), depth+1)...)
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// words splits the text of a response file as clang does: at white space that is neither quoted nor escaped by a backslash.
func words(text string) (out []string) {
	var word strings.Builder
	begun, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			begun = true
			word.WriteByte(text[i])
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			begun, quote = true, c
		case quote == 0 && strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}
