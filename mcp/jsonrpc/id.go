package jsonrpc

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// IntegerID returns the number that the JSON text of an id is, written as we write it.
func IntegerID(id string) (int64, bool) {
	if len(id) == 0 || len(id) > 19 || id[0] < '1' || id[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil
}

// SalvageID finds a number of ours as the id in a line that cannot be parsed, near its beginning or its end.
func SalvageID(raw []byte) (int64, bool) {
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
		if id, ok := IntegerID(string(digits[:n])); ok {
			return id, true
		}
	}
	return 0, false
}

// LooseID returns the integer that the JSON text of an id comes to in whatever notation: "5", 5.0, 5e0.
func LooseID(id string) (int64, bool) {
	if n, ok := IntegerID(id); ok {
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

// AnswersLoosely reports whether the JSON text of an id is our number in some notation.
func AnswersLoosely(id string, ours int64) bool {
	n, ok := LooseID(id)
	return ok && n == ours
}

// SameLoosely reports whether two JSON texts of ids are the same value but for its type and notation. Numbers that
// a double cannot tell apart count as the same: that is how ids get lost.
func SameLoosely(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := IDText(a)
	y, okY := IDText(b)
	if !okX || !okY {
		return false
	}
	if x == y {
		return true
	}
	f, okF := FloatOf(x)
	g, okG := FloatOf(y)
	return okF && okG && f == g
}

// IDText returns the characters of an id that is a string or a number.
func IDText(id string) (string, bool) {
	v, err := mutate.ParseJSON([]byte(id))
	if err != nil {
		return "", false
	}
	if s, ok := v.Str(); ok {
		return s, true
	}
	return v.Text, v.Kind == mutate.Number
}

// FloatOf returns the double that a decimal number is read as. False: it is no number, or too long to be looked at.
func FloatOf(s string) (float64, bool) {
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

// Number reads a decimal number of moderate size.
func Number(text string) (*big.Float, bool) {
	if len(text) == 0 || len(text) > 400 || !(text[0] >= '0' && text[0] <= '9' || text[0] == '-') {
		return nil, false
	}
	f, _, err := big.ParseFloat(text, 10, 2048, big.ToNearestEven)
	if err != nil || f.IsInf() || f.MantExp(nil) > 1200 {
		return nil, false
	}
	return f, true
}

// IsUsualID reports whether an id is such as clients give out.
func IsUsualID(id *mutate.JSON) bool {
	if id.Kind == mutate.Number {
		n, _ := id.Int()
		return n > 0 && IsSafeInteger(id)
	}
	return id.Text != "" && len(id.Text) <= 64 && !strings.ContainsFunc(id.Text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// IsSafeInteger reports whether a number is an integer that a double holds exactly, its neighbours too.
func IsSafeInteger(v *mutate.JSON) bool {
	n, ok := v.Int()
	return ok && n > -1<<53 && n < 1<<53
}

// IsPlainInteger reports whether an integer that a double holds is written as one, and not as -0 or 7e9.
func IsPlainInteger(v *mutate.JSON) bool {
	n, _ := v.Int()
	return IsSafeInteger(v) && strconv.FormatInt(n, 10) == v.Text
}

// SetID gives a message that has a fresh id this one, in its tree as well. own says that the tree is shared: then all of it but the id
// goes on being, for a tree for each time that a large line is sent would be too much.
func (m *Message) SetID(id int64, own bool) {
	m.ID = strconv.FormatInt(id, 10)
	at := m.Root.Get("id")
	if own {
		root := *m.Root
		root.Members = slices.Clone(root.Members)
		i := slices.IndexFunc(root.Members, func(x mutate.Member) bool { return x.Value == at })
		at = new(mutate.JSON)
		root.Members[i].Value = at
		m.Root = &root
	}
	*at = mutate.JSON{Kind: mutate.Number, Text: m.ID}
}
