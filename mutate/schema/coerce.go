package schema

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/teaselfuzz/teasel/mutate"
)

// Some libraries read a value as their language reads its own settings: "2" for 2, true for 1, the text of a list for the list, [2] for 2.

// maxCoerced is how many values of one argument may have been coerced.
const maxCoerced = 7

// Coercible reports whether v, which breaks the schema, does so only by values that such a library would turn into ones that conform.
func (c *Checker) Coercible(v *mutate.JSON) bool {
	v = v.Clone()
	for range maxCoerced {
		breaches, _ := c.Report(v)
		if len(breaches) == 0 {
			return true
		}
		at, done := v.At(breaches[0].At), false
		for _, want := range breaches[0].Want {
			if done = at != nil && coerce(at, want); done {
				break
			}
		}
		if !done {
			return false
		}
	}
	breaches, _ := c.Report(v)
	return len(breaches) == 0
}

// coerce makes v a value of a type of JSON Schema, and reports whether it could.
func coerce(v *mutate.JSON, want string) bool {
	text := strings.TrimSpace(v.Text)
	if want == "integer" || want == "number" {
		if n, ok := coercedNumber(v); ok && (want == "number" || n == math.Trunc(n)) {
			*v = *mutate.NewNumber(strconv.FormatFloat(n, 'f', -1, 64))
			return true
		}
		return false
	}
	switch {
	case v.Kind == mutate.String:
		if read, err := mutate.ParseJSON([]byte(text)); err == nil && isOfType(read, want) {
			*v = *read
			return true
		}
		if b, ok := truths[strings.ToLower(text)]; ok && want == "boolean" {
			*v = *mutate.NewBool(b)
			return true
		}
	case v.Kind == mutate.Number && want == "boolean" && (text == "0" || text == "1"):
		*v = *mutate.NewBool(text == "1")
		return true
	case (v.Kind == mutate.Number || v.Kind == mutate.Bool) && want == "string":
		*v = *mutate.NewString(text)
		return true
	}
	return false
}

// coercedNumber returns the number that a value is to JavaScript's Number or to Python's float, the most generous readers there are.
func coercedNumber(v *mutate.JSON) (n float64, ok bool) {
	if v == nil {
		return 0, false
	}
	switch v.Kind {
	case mutate.Null:
		return 0, true
	case mutate.Bool:
		if v.Text == "true" {
			n = 1
		}
		return n, true
	case mutate.Number:
		n, err := strconv.ParseFloat(v.Text, 64)
		return n, err == nil
	case mutate.String:
		return numberInText(v.Text)
	case mutate.Array:
		switch len(v.Items) {
		case 0: // its text is empty
			return 0, true
		case 1: // its text is that of the item
			return coercedNumber(v.Items[0])
		}
	}
	return 0, false
}

// numberInText returns the number that a text stands for. An empty one is 0.
func numberInText(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, true
	}
	if len(text) > 2 && text[0] == '0' && strings.ContainsRune("xXoObB", rune(text[1])) {
		n, err := strconv.ParseUint(text, 0, 64)
		return float64(n), err == nil
	}
	n, err := strconv.ParseFloat(strings.Map(plainDigit, text), 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// plainDigit returns the ASCII digit for one of any script, as Python reads them, and drops the underscores between digits.
func plainDigit(r rune) rune {
	if r == '_' {
		return -1
	}
	if r < unicode.MaxASCII || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, table := range unicode.Nd.R16 {
		if r >= rune(table.Lo) && r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	for _, table := range unicode.Nd.R32 {
		if r >= rune(table.Lo) && r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	return r
}

// truths are the words that are taken for true or false.
var truths = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

func isOfType(v *mutate.JSON, want string) bool {
	return v.Kind.String() == want || v.Kind == mutate.Bool && want == "boolean"
}
