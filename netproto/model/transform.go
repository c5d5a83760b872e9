package model

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"strconv"
)

// A Transform changes a value on its way from a response into a message.
type Transform struct {
	Name     string
	Number   int64  // operand of the arithmetic ones
	From, To int    // of slice; To 0 is the end
	Text     []byte // operand of prefix, suffix, before and after
}

// transformOperand says what a transform wants behind its name.
type transformOperand uint8

const (
	noOperand transformOperand = iota
	numberOperand
	rangeOperand
	textOperand
)

var transformNames = map[string]transformOperand{
	"add": numberOperand, "sub": numberOperand, "xor": numberOperand, "and": numberOperand, "or": numberOperand, "shl": numberOperand,
	"shr": numberOperand, "mod": numberOperand, "not": numberOperand,
	"slice": rangeOperand, "prefix": textOperand, "suffix": textOperand, "before": textOperand, "after": textOperand,
	"base64": noOperand, "unbase64": noOperand, "hex": noOperand, "unhex": noOperand, "upper": noOperand, "lower": noOperand, "text": noOperand,
	"number": noOperand, "reverse": noOperand,
}

// apply returns the changed value. What does not fit, such as unhex of what is no hexadecimal number, changes nothing.
func (t *Transform) apply(v value) value {
	if transformNames[t.Name] == numberOperand {
		return value{number: t.arithmetic(v.asNumber())}
	}
	b := v.asBytes()
	switch t.Name {
	case "slice":
		from, to := min(max(t.From, 0), len(b)), t.To
		if to <= 0 {
			to += len(b)
		}
		b = b[from:min(max(to, from), len(b))]
	case "prefix":
		b = append(bytes.Clone(t.Text), b...)
	case "suffix":
		b = append(bytes.Clone(b), t.Text...)
	case "before":
		b, _, _ = bytes.Cut(b, t.Text)
	case "after":
		if _, rest, ok := bytes.Cut(b, t.Text); ok {
			b = rest
		}
	case "base64":
		b = base64.StdEncoding.AppendEncode(nil, b)
	case "unbase64":
		if out, err := base64.StdEncoding.DecodeString(string(b)); err == nil {
			b = out
		}
	case "hex":
		b = hex.AppendEncode(nil, b)
	case "unhex":
		if out, err := hex.DecodeString(string(b)); err == nil {
			b = out
		}
	case "upper":
		b = bytes.ToUpper(b)
	case "lower":
		b = bytes.ToLower(b)
	case "number":
		return value{number: v.asNumber()}
	case "reverse":
		if b = bytes.Clone(b); len(b) > 0 {
			for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
				b[i], b[j] = b[j], b[i]
			}
		}
	}
	return value{bytes: b, text: true}
}

func (t *Transform) arithmetic(n int64) int64 {
	switch t.Name {
	case "add":
		return n + t.Number
	case "sub":
		return n - t.Number
	case "xor":
		return n ^ t.Number
	case "and":
		return n & t.Number
	case "or":
		return n | t.Number
	case "shl":
		return n << uint64(t.Number)
	case "shr":
		return int64(uint64(n) >> uint64(t.Number))
	case "not": // in so many bits
		return n ^ int64(uint64(1)<<uint64(t.Number)-1)
	case "mod":
		if t.Number != 0 {
			return ((n % t.Number) + t.Number) % t.Number
		}
	}
	return n
}

// asNumber reads bytes as decimal digits if they are some, else as a number in big endian order.
func (v value) asNumber() int64 {
	if !v.text {
		return v.number
	}
	if n, err := strconv.ParseInt(string(bytes.TrimSpace(v.bytes)), 10, 64); err == nil {
		return n
	}
	return int64(readInt(v.bytes[:min(len(v.bytes), 8)], false))
}

// asBytes writes a number as decimal digits.
func (v value) asBytes() []byte {
	if v.text {
		return v.bytes
	}
	return strconv.AppendInt(nil, v.number, 10)
}

// bigEndian writes a number in as few bytes as it needs.
func bigEndian(n int64) []byte {
	out := make([]byte, max(1, (bits.Len64(uint64(n))+7)/8))
	writeInt(out, false, uint64(n))
	return out
}
