package operands

import "github.com/teaselfuzz/teasel"

// A Splicer is a [teasel.Mutator] of inputs that have structure, such as lengths of their parts. Splice returns src with
// text in the place of n bytes from at on, and with all that depends on the length of that set right. The result may lie in
// the memory of dst, which is not that of src.
type Splicer interface {
	Splice(dst, src []byte, at, n int, text string) []byte
}

// splice returns src with text in the place of n bytes from at on, cut to the longest that m makes. dst is not the memory of src.
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
