package mutate

// Simplify returns the k-th simpler candidate of src, and false if there are no more: the empty input, then src without one of its
// halves, quarters and so on down to single bytes, from the end on, then the same blocks filled with '0'. For a block that consists of
// '0' the candidate is src itself, which has the same complexity and is to be skipped.
func (m *Bytes) Simplify(k uint64, dst, src []byte) ([]byte, bool) {
	c, ok := chunk(k, len(src))
	if !ok {
		return dst[:0], false
	}
	if c.fill {
		buf := append(dst[:0], src...)
		fill(buf[c.from:c.to], '0')
		return buf, true
	}
	return append(append(dst[:0], src[:c.from]...), src[c.to:]...), true
}

// cut is a way to simplify n elements: to remove some of them, or to make them plain.
type cut struct {
	from, to int
	fill     bool
}

// chunk returns the k-th cut: all elements removed, then halves, quarters and so on, from the end on, then the same elements made plain.
func chunk(k uint64, n int) (cut, bool) {
	if n == 0 {
		return cut{}, false
	}
	if k == 0 {
		return cut{from: 0, to: n}, true
	}
	k--
	for _, fillOnly := range [2]bool{false, true} {
		for size := (n + 1) / 2; ; size = (size + 1) / 2 {
			count := uint64((n + size - 1) / size)
			if k < count {
				to := n - int(k)*size
				return cut{max(0, to-size), to, fillOnly}, true
			}
			k -= count
			if size == 1 {
				break
			}
		}
	}
	return cut{}, false
}

// Candidates returns the number of candidates of [Bytes.Simplify] for an input of n bytes.
func (m *Bytes) Candidates(n int) uint64 { return chunks(n) }

// chunks returns the number of cuts.
func chunks(n int) uint64 {
	if n == 0 {
		return 0
	}
	count := uint64(1)
	for size := (n + 1) / 2; ; size = (size + 1) / 2 {
		count += 2 * uint64((n+size-1)/size)
		if size == 1 {
			return count
		}
	}
}
