package typed

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
	"unsafe"
)

const maxDepth = 10_000 // nesting depth of values

var (
	errDeep   = fmt.Errorf("it refers to itself, or is nested more than %d levels deep", maxDepth)
	errPacked = errors.New("the packed value is damaged")
)

// exact rounds a complexity to a multiple of unit.
func exact(c float64) float64 {
	if !(c >= 0) {
		return 0
	}
	return math.Round(c/unit) * unit
}

func mismatch(want string, v any) error {
	text, err := json.Marshal(v)
	if err != nil || len(text) > 40 {
		text = fmt.Appendf(nil, "a %T", v)
	}
	return fmt.Errorf("expected %s, got %s", want, text)
}

func number(v any) (string, error) {
	if n, ok := v.(json.Number); ok {
		return n.String(), nil
	}
	return "", mismatch("a number", v)
}

// parse parses one JSON value. Numbers keep their text.
func parse(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected the end of the text after the value")
	}
	return v, nil
}

const hexDigits = "0123456789abcdef"

// appendText writes text as a JSON string, or as {"hex": "…"} if it is not valid UTF-8.
func appendText(b, text []byte) []byte {
	if !utf8.Valid(text) {
		b = append(b, `{"hex":"`...)
		return append(hex.AppendEncode(b, text), `"}`...)
	}
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func parseText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case map[string]any:
		if s, ok := v["hex"].(string); ok && len(v) == 1 {
			raw, err := hex.DecodeString(s)
			if err != nil {
				return "", fmt.Errorf("reading hexadecimal digits: %w", err)
			}
			return string(raw), nil
		}
	}
	return "", mismatch("a string", v)
}

// The packed form is optimised for fast writing. Only the plan that has written it can read it.

func packBits(b []byte, p unsafe.Pointer, size uintptr) []byte {
	return append(b, unsafe.Slice((*byte)(p), size)...)
}

func unpackBits(b []byte, p unsafe.Pointer, size uintptr) ([]byte, error) {
	if uintptr(len(b)) < size {
		return b, errPacked
	}
	copy(unsafe.Slice((*byte)(p), size), b)
	return b[size:], nil
}

func packLen(b []byte, n int, isNil bool) []byte {
	if isNil {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(n)+1)
}

func unpackLen(b []byte) (n int, isNil bool, _ []byte, err error) {
	x, size := binary.Uvarint(b)
	if size <= 0 || x > math.MaxInt32 {
		return 0, false, b, errPacked
	}
	return max(int(x)-1, 0), x == 0, b[size:], nil
}
