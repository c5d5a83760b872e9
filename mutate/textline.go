package mutate

import (
	"bytes"
	"math/rand/v2"
)

// maxTextLine is how many bytes from a position the ends of its line are searched.
const maxTextLine = 512

// textLine deletes a line, duplicates it, or copies it before another line: most text formats treat duplicate, missing and misplaced
// lines specially.
func textLine(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	from, to, ok := lineAround(buf, where(x, len(buf)))
	if !ok {
		return buf, false
	}
	n := to - from
	at := to
	switch small(x, 4) {
	case 0:
		if n == len(buf) {
			return buf, false
		}
		return append(buf[:from], buf[to:]...), true
	case 1:
	default:
		if at, _, ok = lineAround(buf, below(r, len(buf))); !ok {
			return buf, false
		}
	}
	if n > m.most()-len(buf) {
		return buf, false
	}
	buf = open(buf, at, n)
	if at <= from { // the inserted gap has moved the line
		from += n
	}
	copy(buf[at:at+n], buf[from:from+n])
	return buf, true
}

// lineAround returns the line that contains a byte, with its newline. It returns false if the line is long, not text, or has no newline.
func lineAround(buf []byte, at int) (from, to int, ok bool) {
	if len(buf) == 0 {
		return 0, 0, false
	}
	low, high := max(0, at-maxTextLine), min(len(buf), at+maxTextLine)
	before, after := bytes.LastIndexByte(buf[low:at], '\n'), bytes.IndexByte(buf[at:high], '\n')
	switch {
	case before < 0 && after < 0, before < 0 && low > 0, after < 0 && high < len(buf):
		return 0, 0, false
	case after < 0:
		after = len(buf) - at - 1
	}
	from, to = low+before+1, at+after+1
	return from, to, bytes.IndexByte(buf[from:to], 0) < 0
}
