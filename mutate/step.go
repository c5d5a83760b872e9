package mutate

// phase is a kind of ordered change: the number of changes for an input, and a function that applies the i-th to a copy.
type phase struct {
	count func(m *Bytes, n int) int
	apply func(m *Bytes, buf []byte, i int) []byte
}

// phases are in the order in which they are tried: the most productive per step come first.
var phases = [...]phase{
	walkBits(1), walkBits(2), walkBits(4),
	walkBytes(1), walkBytes(2), walkBytes(4),
	{
		func(_ *Bytes, n int) int {
			if n > shortInput {
				return 0
			}
			return 255 * n
		},
		func(_ *Bytes, buf []byte, i int) []byte {
			buf[i/255] += byte(1 + i%255)
			return buf
		},
	},
	walkInteresting(0), walkInteresting(1), walkInteresting(2), walkInteresting(3),
	{
		func(m *Bytes, n int) int { return n * m.stepTokens() },
		func(m *Bytes, buf []byte, i int) []byte {
			overwrite(buf[i/m.stepTokens():], m.Dictionary.tokens[i%m.stepTokens()])
			return buf
		},
	},
	{
		func(m *Bytes, n int) int { return (n + 1) * m.stepTokens() },
		func(m *Bytes, buf []byte, i int) []byte {
			at, token := i/m.stepTokens(), m.Dictionary.tokens[i%m.stepTokens()]
			buf = open(buf, at, len(token))
			copy(buf[at:], token)
			return buf[:min(len(buf), m.Limit())]
		},
	},
	walkArith(0), walkArith(1), walkArith(2), walkArith(3),
}

// shortInput is the maximum length of an input in which all values of each byte are tried.
const shortInput = 16

// Step returns the k-th ordered change of src, and false if there are no more. At each position: 1, 2 and 4 adjacent bits are inverted;
// 1, 2 and 4 bytes are inverted; a byte gets each other value, in short inputs; interesting numbers of each width and byte order are
// written; each of the first 256 tokens is written and inserted; 1 to 35 is added to, and subtracted from, integers of each width and
// byte order. A step that would leave src unchanged inverts a bit instead.
func (m *Bytes) Step(k uint64, dst, src []byte) ([]byte, bool) {
	src = src[:min(len(src), m.Limit())]
	for _, p := range &phases {
		n := uint64(p.count(m, len(src)))
		if k < n {
			return p.apply(m, append(dst[:0], src...), int(k)), true
		}
		k -= n
	}
	return dst[:0], false
}

// stepTokens is the number of tokens that are tried at each position: the first 256, as in AFL++. Others are only drawn by Mutate.
func (m *Bytes) stepTokens() int { return min(m.Dictionary.Len(), 256) }

func places(n, width int) int { return max(0, n-width+1) }

func walkBits(width int) phase {
	return phase{
		func(_ *Bytes, n int) int { return places(8*n, width) },
		func(_ *Bytes, buf []byte, i int) []byte {
			for bit := i; bit < i+width; bit++ {
				buf[bit/8] ^= 0x80 >> (bit % 8)
			}
			return buf
		},
	}
}

func walkBytes(width int) phase {
	return phase{
		func(_ *Bytes, n int) int { return places(n, width) },
		func(_ *Bytes, buf []byte, i int) []byte {
			for j := range buf[i : i+width] {
				buf[i+j] ^= 0xff
			}
			return buf
		},
	}
}

// orders returns the number of byte orders of an integer of 1 << size bytes.
func orders(size int) int { return min(size+1, 2) }

func walkInteresting(size int) phase {
	values := interesting[:interestingBelow[size]]
	per := len(values) * orders(size)
	return phase{
		func(_ *Bytes, n int) int { return places(n, 1<<size) * per },
		func(_ *Bytes, buf []byte, i int) []byte {
			at := buf[i/per:][:1<<size]
			big, n := i%per >= len(values), uint64(values[i%len(values)])
			had := load(at, big)
			store(at, big, n)
			if load(at, big) == had {
				at[0] ^= 1
			}
			return buf
		},
	}
}

func walkArith(size int) phase {
	per := 2 * maxArith * orders(size)
	return phase{
		func(_ *Bytes, n int) int { return places(n, 1<<size) * per },
		func(_ *Bytes, buf []byte, i int) []byte {
			at := buf[i/per:][:1<<size]
			i %= per
			big, delta := i >= 2*maxArith, uint64(1+i%(2*maxArith)/2)
			if i%2 == 1 {
				delta = -delta
			}
			store(at, big, load(at, big)+delta)
			return buf
		},
	}
}

// overwrite writes the token over at, truncated if it is longer, and inverts a bit if that changes nothing.
func overwrite(at []byte, token string) {
	n := min(len(at), len(token))
	if string(at[:n]) == token[:n] {
		at[0] ^= 1
		return
	}
	copy(at, token)
}
