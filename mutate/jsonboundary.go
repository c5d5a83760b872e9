package mutate

import (
	"math/big"
	"strings"
)

// boundaryNumbers are valid JSON numbers that often trigger bugs in parsers and programs.
var boundaryNumbers = append(powersOfTwo(7, 8, 15, 16, 24, 31, 32, 52, 53, 62, 63, 64, 127, 128),
	"0", "-0", "1", "-1", "2", "-2", "10", "100", "1000", "0.0", "-0.0", "0.1", "-0.1", "0.5", "1.5", "1e-7", "1E5", "0e0", "0E+0", "1e0",
	"1e20", "1e21", "1e22", "1e308", "-1e308", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324", "2e-324", "1e-308",
	"1e400", "-1e400", "1e-400", "1e9999", "1e-9999", "1e2147483648", "1e-2147483649", "1e999999999999999999999",
	"1234567890123456789012345678901", "-1234567890123456789012345678901", "0.1234567890123456789012345678901",
	"123456789.123456789123456789", "0.30000000000000004", "2.2250738585072011e-308", "9007199254740993.0", "100000000000000000000000000000000000000000",
	"253402300800", "-62135596801", "8640000000000001", "1114112", "55296",
)

// powersOfTwo returns 2^n - 1, 2^n, 2^n + 1 and their negatives.
func powersOfTwo(exponents ...uint) []string {
	var texts []string
	for _, n := range exponents {
		for _, sign := range [2]int64{1, -1} {
			for _, off := range [3]int64{-1, 0, 1} {
				v := new(big.Int).Lsh(big.NewInt(1), n)
				v.Add(v, big.NewInt(off)).Mul(v, big.NewInt(sign))
				texts = append(texts, v.String())
			}
		}
	}
	return texts
}

// boundaryRaws are notations of numbers that JSON does not allow.
var boundaryRaws = [...]string{
	"NaN", "nan", "Infinity", "-Infinity", "inf", "undefined", "None", "nil", "True", "0x7fffffff", "0b1", "0o7", "01", "-01", "00", "+1", "++1", "--1", "-",
	"+", ".5", "5.", "1.e1", "1e", "1e+", "1e1.5", "1_000", "1,5", "1n", "1f", "1L", "1 000", "\uff11", "\u0661", "-\u221e", "1.2.3", "1e1e1", "",
}

// boundaryStrings are strings that look empty, or that a parser may take for the end of the string.
var boundaryStrings = [...]string{
	"", " ", "\x00", "\t", "\n", "\r", "\r\n", "\n\r\t", "  ", "a", "0", "-1", "null", "true", "false", "[]", "{}", "\"", "\\", "/", "\u00a0", "\ufeff", "\u200b", "\x7f", "\x1b",
	"\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x1f", "a\x00b", "\x00a", "a\x00", "\u2028", "\xff", "\xed\xa0\x80", "NaN", "undefined", "\x1a", "-", ".", "..", "%00",
	"\U0010ffff", "\uffff",
}

// lengths are the lengths of long strings and arrays, in ascending order. Mostly a prefix is drawn from, so that expensive ones are
// rare.
var lengths = [...]int{
	15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 1000, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8191, 8192, 8193, 10000, 16384,
	32767, 32768, 65535, 65536, 65537, 100000, 1 << 17, 1 << 18, 1 << 19, 1<<20 - 64, 1 << 20,
}

// drawLength returns one of the lengths up to most; lengths above 8 KiB are drawn once in eight times.
func (e *editor) drawLength(most int) int {
	n := 0
	for n < len(lengths) && lengths[n] <= most {
		n++
	}
	if usual := 27; n > usual && chance(e.r, 7, 8) {
		n = usual
	}
	if n == 0 {
		return max(0, most)
	}
	return lengths[below(e.r, n)]
}

// setBoundary replaces a value by a boundary value of the same type.
func setBoundary(e *editor, at *slot) bool {
	v := at.node
	switch v.Kind {
	case Bool:
		return e.put(at, NewBool(v.Text != "true"))
	case Number:
		if chance(e.r, 1, 6) {
			return e.put(at, NewRaw(pick(e.r, boundaryRaws[:])))
		}
		return e.put(at, NewNumber(pick(e.r, boundaryNumbers)))
	case String:
		if chance(e.r, 1, 2) {
			return e.put(at, NewString(pick(e.r, boundaryStrings[:])))
		}
		return e.put(at, NewString(e.longText(v.Text)))
	case Array:
		if len(v.Items) == 0 || chance(e.r, 1, 2) {
			return e.put(at, NewArray())
		}
		return e.put(at, e.manyItems(v))
	case Object:
		if len(v.Members) == 0 || chance(e.r, 1, 2) {
			return e.put(at, NewObject())
		}
		return e.put(at, e.manyMembers(v))
	}
	return false
}

// longText returns a text of random length that repeats one character, the old text, or a multi-byte character.
func (e *editor) longText(text string) string {
	unit := pick(e.r, []string{"A", "A", "0", " ", "a,", "/", "\u20ac", "\U0001f600", "(", "\\", text, text})
	if unit == "" {
		unit = "A"
	}
	n := e.drawLength(e.room/2 + len(text))
	return strings.Repeat(unit, max(1, n/len(unit)))
}

// manyItems repeats the items of an array.
func (e *editor) manyItems(v *JSON) *JSON {
	a := NewArray()
	for n := e.drawLength(min(10000, e.room/(v.size()/len(v.Items)+2))); len(a.Items) < n; {
		a.Items = append(a.Items, v.Items[len(a.Items)%len(v.Items)].Clone())
	}
	return a
}

// manyMembers adds members with new names.
func (e *editor) manyMembers(v *JSON) *JSON {
	o := v.Clone()
	value := v.Members[0].Value
	for n := e.drawLength(min(10000, e.room/(value.size()+12))); len(o.Members) < n; {
		o.Members = append(o.Members, Member{Name: "k" + NewInt(int64(len(o.Members))).Text, Value: value.Clone()})
	}
	return o
}

// depths are the nesting depths at which parsers and recursive programs are known to fail, and their neighbours.
var depths = [...]int{2, 3, 5, 10, 20, 32, 33, 64, 65, 100, 101, 128, 129, 200, 256, 257, 500, 512, 513, 1000, 1001, 1024, 2000, 4096, 5000, 9990, 10000}

// nest wraps a value in a random number of arrays, objects or both in turn.
func nest(e *editor, at *slot) bool {
	v := at.moved()
	room := min(e.maxDepth-int(at.depth)-v.depth(), e.room/len(`{"nested":}`))
	n := 0
	for n < len(depths) && depths[n] <= room {
		n++
	}
	if n == 0 {
		return room > 0 && e.put(at, NewArray(v))
	}
	style := below(e.r, 3)
	return e.put(at, nested(v, depths[below(e.r, n)], style))
}

// nested wraps v: 0 in arrays, 1 in objects, 2 in both in turn.
func nested(v *JSON, depth, style int) *JSON {
	around, items, members := make([]JSON, depth), make([]*JSON, depth), make([]Member, depth)
	for i := range around {
		if nestsInArray(style, i) {
			items[i] = v
			around[i] = JSON{Kind: Array, Items: items[i : i+1 : i+1]}
		} else {
			members[i] = Member{Name: "nested", Value: v}
			around[i] = JSON{Kind: Object, Members: members[i : i+1 : i+1]}
		}
		v = &around[i]
	}
	return v
}

// nestsInArray reports whether the i-th value around a nested one is an array.
func nestsInArray(style, i int) bool { return style == 0 || style == 2 && i%2 == 0 }

// nestedText returns the result of nested as raw text, which takes a fiftieth of the memory of a tree.
func nestedText(v *JSON, depth, style int) *JSON {
	each := len(`{"nested":}`)
	if style == 0 {
		each = len("[]")
	}
	text := make([]byte, 0, depth*each+v.size())
	for i := depth - 1; i >= 0; i-- {
		if nestsInArray(style, i) {
			text = append(text, '[')
		} else {
			text = append(text, `{"nested":`...)
		}
	}
	text = v.Append(text)
	for i := range depth {
		if nestsInArray(style, i) {
			text = append(text, ']')
		} else {
			text = append(text, '}')
		}
	}
	return NewRaw(string(text))
}
