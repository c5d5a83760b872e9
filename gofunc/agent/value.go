package agent

import (
	"encoding/binary"
	"math"
	"strings"
)

// Kind is the type of an argument of a fuzz target. The zero value is no type.
type Kind uint8

// The types that package testing supports, under the names that package reflect gives them.
const (
	KindInvalid Kind = iota
	KindBytes
	KindString
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindInt
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindUint
	KindFloat32
	KindFloat64
	kindCount
)

var kindNames = [kindCount]string{"invalid", "[]uint8", "string", "bool", "int8", "int16", "int32", "int64", "int",
	"uint8", "uint16", "uint32", "uint64", "uint", "float32", "float64"}

// An int has eight bytes whatever the machine, so that inputs do not depend on it.
var kindSizes = [kindCount]int{0, 0, 0, 1, 1, 2, 4, 8, 8, 1, 2, 4, 8, 8, 4, 8}

func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return "kind?"
}

// Size is the number of bytes of a value; 0: it varies.
func (k Kind) Size() int {
	if k < kindCount {
		return kindSizes[k]
	}
	return 0
}

// ParseKinds reads the names of types, separated by commas. What is no supported type becomes KindInvalid.
func ParseKinds(names string) []Kind {
	if names == "" {
		return nil
	}
	var kinds []Kind
	for _, name := range strings.Split(names, ",") {
		kind := KindInvalid
		for k := KindInvalid + 1; k < kindCount; k++ {
			if kindNames[k] == name {
				kind = k
			}
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// Split cuts a packed input into the bytes of each argument, which share its memory, and appends them to parts. A
// packed input begins with the arguments of fixed size, little-endian. Then come the lengths of all arguments of
// variable size but the last one, four bytes each, then these arguments; the last one is all that is left. Every
// input can be split: what is missing is empty, and a length is cut to what there is.
func Split(kinds []Kind, in []byte, parts [][]byte) [][]byte {
	lengths, variable := Head(kinds)
	at := 0
	take := func(n int) []byte {
		from := min(at, len(in))
		at = min(from+n, len(in))
		return in[from:at:at]
	}
	rest := min(lengths+4*max(variable-1, 0), len(in))
	for _, k := range kinds {
		if n := k.Size(); n > 0 {
			parts = append(parts, take(n))
			continue
		}
		if variable--; variable == 0 {
			parts = append(parts, in[rest:len(in):len(in)])
			continue
		}
		n := min(int(number(in[min(lengths, len(in)):min(lengths+4, len(in))])), len(in)-rest)
		lengths += 4
		parts = append(parts, in[rest:rest+n:rest+n])
		rest += n
	}
	return parts
}

// Head returns how many bytes the arguments of fixed size take, and how many arguments are of variable size.
func Head(kinds []Kind) (fixed, variable int) {
	for _, k := range kinds {
		if n := k.Size(); n > 0 {
			fixed += n
		} else {
			variable++
		}
	}
	return fixed, variable
}

// number reads up to eight bytes, little-endian.
func number(b []byte) uint64 {
	if len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	n := uint64(0)
	for i := range b {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

// Value returns the bytes of an argument as a Go value of its type. A []byte shares their memory, and is never nil: nor is what
// package testing reads from a corpus file.
func (k Kind) Value(part []byte) any {
	n := number(part[:min(len(part), k.Size())])
	switch k {
	case KindBytes:
		if part == nil {
			return []byte{}
		}
		return part
	case KindString:
		return string(part)
	case KindBool:
		return n&1 != 0
	case KindInt8:
		return int8(n)
	case KindInt16:
		return int16(n)
	case KindInt32:
		return int32(n)
	case KindInt64:
		return int64(n)
	case KindInt:
		return int(n)
	case KindUint8:
		return uint8(n)
	case KindUint16:
		return uint16(n)
	case KindUint32:
		return uint32(n)
	case KindUint64:
		return n
	case KindUint:
		return uint(n)
	case KindFloat32:
		return math.Float32frombits(uint32(n))
	case KindFloat64:
		return math.Float64frombits(n)
	}
	return nil
}
