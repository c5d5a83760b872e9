package main

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func (v value) is(first byte) bool { return len(v) > 0 && v[0] == first }

func (v value) isObject() bool { return v.is('{') }
func (v value) isArray() bool  { return v.is('[') }
func (v value) isString() bool { return v.is('"') }
func (v value) isBool() bool   { return v.is('t') || v.is('f') }
func (v value) isNumber() bool { return len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') }

// gap returns the next byte of a checked text that is neither white space nor a comma or colon.
func gap(v value, i int) int {
	for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\n' || v[i] == '\r' || v[i] == ',' || v[i] == ':') {
		i++
	}
	return i
}

// members returns an object's members in their order. Where a name stands twice the last one counts, at the place of the first.
func (v value) members() []member {
	if !v.isObject() {
		return nil
	}
	var list []member
	seen := map[string]int{}
	for i := gap(v, 1); i < len(v)-1; i = gap(v, i) {
		end := skip(v, i)
		name := v[i:end].str()
		i = gap(v, end)
		end = skip(v, i)
		if at, twice := seen[name]; twice {
			list[at].val = v[i:end]
		} else {
			seen[name] = len(list)
			list = append(list, member{name, v[i:end]})
		}
		i = end
	}
	return list
}

// get returns the member of that name, or nil.
func (v value) get(name string) value {
	for _, m := range v.members() {
		if m.name == name {
			return m.val
		}
	}
	return nil
}

func (v value) items() []value {
	if !v.isArray() {
		return nil
	}
	var list []value
	for i := gap(v, 1); i < len(v)-1; i = gap(v, i) {
		end := skip(v, i)
		list = append(list, v[i:end])
		i = end
	}
	return list
}

// str returns a string's characters, "" for anything else. A lone surrogate becomes the three bytes that UTF-8 would
// give it if it were allowed to, so that quote can write it as it came.
func (v value) str() string {
	if !v.isString() {
		return ""
	}
	body := v[1 : len(v)-1]
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		i++
		switch body[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := unit(body[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && i+6 < len(body) && body[i+1] == '\\' && body[i+2] == 'u' {
				if full := utf16.DecodeRune(r, unit(body[i+3:])); full != utf8.RuneError {
					r, i = full, i+6
				}
			}
			out = appendRune(out, r)
		default:
			out = append(out, body[i])
		}
	}
	return string(out)
}

// unit reads the four digits of a \u escape.
func unit(digits []byte) rune {
	var r rune
	for _, b := range digits[:4] {
		d, _ := hex(b)
		r = r<<4 | d
	}
	return r
}

func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// length counts characters; a lone surrogate is one.
func length(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// raw is JSON text that the server made itself.
type raw []byte

const hexDigits = "0123456789abcdef"

// quote writes s as a JSON string.
func quote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\n':
			dst = append(dst, '\\', 'n')
		case b < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		case b == 0xED && i+2 < len(s) && s[i+1] >= 0xA0:
			r := 0xD000 | uint16(s[i+1]&0x3F)<<6 | uint16(s[i+2]&0x3F)
			dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			i += 2
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}

// text writes one value: raw, value, string, bool, int, int64, float64, or a slice of raw or string.
func text(dst []byte, v any) []byte {
	switch v := v.(type) {
	case raw:
		return append(dst, v...)
	case value:
		return append(dst, v...)
	case string:
		return quote(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64)
	case []raw:
		return sequence(dst, v)
	case []string:
		return sequence(dst, v)
	}
	panic("planted: no JSON text for this type")
}

func sequence[T any](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = text(dst, item)
	}
	return append(dst, ']')
}

// object writes an object from names and values in turn. A value of nil leaves its name out.
func object(pairs ...any) raw {
	out := raw{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(quote(out, pairs[i].(string)), ':')
		out = text(out, pairs[i+1])
	}
	return append(out, '}')
}
