package operands

import "github.com/teaselfuzz/teasel"

// A Splicer is a [teasel.Mutator] of structured inputs, for example with lengths of their parts. Splice returns src with the n bytes
// from at on replaced by text, and with all fields corrected that depend on the length of the replaced part. The result may use the
// memory of dst, which must not overlap that of src.
type Splicer interface {
	Splice(dst, src []byte, at, n int, text string) []byte
}

// splice returns src with the n bytes from at on replaced by text, truncated to the maximum length of m. The memory of dst must not
// overlap that of src.
func splice(m teasel.Mutator[[]byte], dst, src []byte, at, n int, text string) []byte {
	if s, ok := m.(Splicer); ok && n != len(text) {
		return s.Splice(dst, src, at, n, text)
	}
	dst = append(append(append(dst[:0], src[:at]...), text...), src[at+n:]...)
	if l, ok := m.(interface{ Limit() int }); ok {
		dst = dst[:min(len(dst), max(l.Limit(), len(src)))]
	}
	return dst
}
