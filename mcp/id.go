package mcp

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// integerID returns the number that the JSON text of an id is, written as we write it.
func integerID(id string) (int64, bool) {
	if len(id) == 0 || len(id) > 19 || id[0] < '1' || id[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil
}

// salvageID finds a number of ours as the id in a line that cannot be parsed, near its beginning or its end.
func salvageID(raw []byte) (int64, bool) {
	const near = 128
	for _, part := range [][]byte{raw[:min(len(raw), near)], raw[max(0, len(raw)-near):]} {
		i := bytes.Index(part, []byte(`"id":`))
		if i < 0 {
			continue
		}
		digits := bytes.TrimLeft(part[i+len(`"id":`):], " ")
		n := 0
		for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
			n++
		}
		if id, ok := integerID(string(digits[:n])); ok {
			return id, true
		}
	}
	return 0, false
}

// looseID returns the integer that the JSON text of an id comes to in whatever notation: "5", 5.0, 5e0.
func looseID(id string) (int64, bool) {
	if n, ok := integerID(id); ok {
		return n, true
	}
	v, err := mutate.ParseJSON([]byte(id))
	if err != nil {
		return 0, false
	}
	if s, ok := v.Str(); ok {
		v = mutate.NewNumber(strings.TrimSpace(s))
		if _, err := mutate.ParseJSON([]byte(v.Text)); err != nil {
			return 0, false
		}
	}
	return v.Int()
}

// answersLoosely reports whether the JSON text of an id is our number in some notation.
func answersLoosely(id string, ours int64) bool {
	n, ok := looseID(id)
	return ok && n == ours
}

// sameLoosely reports whether two JSON texts of ids are the same value but for its type and notation. Numbers that
// a double cannot tell apart count as the same: that is how ids get lost.
func sameLoosely(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := idText(a)
	y, okY := idText(b)
	if !okX || !okY {
		return false
	}
	if x == y {
		return true
	}
	f, okF := floatOf(x)
	g, okG := floatOf(y)
	return okF && okG && f == g
}

// idText returns the characters of an id that is a string or a number.
func idText(id string) (string, bool) {
	v, err := mutate.ParseJSON([]byte(id))
	if err != nil {
		return "", false
	}
	if s, ok := v.Str(); ok {
		return s, true
	}
	return v.Text, v.Kind == mutate.Number
}

func floatOf(s string) (float64, bool) {
	if len(s) > 64 {
		return 0, false
	}
	f, _, err := big.ParseFloat(s, 10, 53, big.ToNearestEven)
	if err != nil {
		return 0, false
	}
	n, _ := f.Float64()
	return n, true
}

// number reads a decimal number of moderate size.
func number(text string) (*big.Float, bool) {
	if len(text) == 0 || len(text) > 400 || !(text[0] >= '0' && text[0] <= '9' || text[0] == '-') {
		return nil, false
	}
	f, _, err := big.ParseFloat(text, 10, 2048, big.ToNearestEven)
	if err != nil || f.IsInf() || f.MantExp(nil) > 1200 {
		return nil, false
	}
	return f, true
}

// isUsualID reports whether an id is such as clients give out.
func isUsualID(id *mutate.JSON) bool {
	if id.Kind == mutate.Number {
		n, _ := id.Int()
		return n > 0 && isSafeInteger(id)
	}
	return id.Text != "" && len(id.Text) <= 64 && !strings.ContainsFunc(id.Text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// isSafeInteger reports whether a number is an integer that a double holds exactly, its neighbours too.
func isSafeInteger(v *mutate.JSON) bool {
	n, ok := v.Int()
	return ok && n > -1<<53 && n < 1<<53
}

// isPlainInteger reports whether an integer that a double holds is written as one, and not as -0 or 7e9.
func isPlainInteger(v *mutate.JSON) bool {
	n, _ := v.Int()
	return isSafeInteger(v) && strconv.FormatInt(n, 10) == v.Text
}
