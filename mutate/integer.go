package mutate

import (
	"encoding/binary"
	"math/bits"
)

// load reads an integer of 1, 2, 4 or 8 bytes.
func load(at []byte, big bool) uint64 {
	var n uint64
	switch len(at) {
	case 1:
		return uint64(at[0])
	case 2:
		n = uint64(binary.LittleEndian.Uint16(at))
	case 4:
		n = uint64(binary.LittleEndian.Uint32(at))
	case 8:
		n = binary.LittleEndian.Uint64(at)
	}
	return ordered(n, len(at), big)
}

// store writes the low bytes of an integer into at, which has 1, 2, 4 or 8 bytes.
func store(at []byte, big bool, n uint64) {
	n = ordered(n, len(at), big)
	switch len(at) {
	case 1:
		at[0] = byte(n)
	case 2:
		binary.LittleEndian.PutUint16(at, uint16(n))
	case 4:
		binary.LittleEndian.PutUint32(at, uint32(n))
	case 8:
		binary.LittleEndian.PutUint64(at, n)
	}
}

// ordered reverses the low bytes of an integer if big is set.
func ordered(n uint64, size int, big bool) uint64 {
	if big {
		n = bits.ReverseBytes64(n) >> (uint(64-8*size) & 63)
	}
	return n
}
