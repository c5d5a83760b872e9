package clang

import (
	"os"
	"strings"
)

// maxNested is how deep response files may name further ones.
const maxNested = 16

// expand puts the arguments that stand in response files, "@FILE", in the place of their names, since what they ask for
// decides what is added. A name that is no file's stays, as clang has it.
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

// words splits a response file as clang does: at white space, which quotes and backslashes keep.
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
