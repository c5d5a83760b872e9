package mutate

// phase is one kind of ordered change: count of them for an input, and the i-th applied to a copy of it.
type phase struct {
	count func(m *Bytes, n int) int
	apply func(m *Bytes, buf []byte, i int) []byte
}

// phases are in the order in which they are tried: those with the fewest steps for what they find come first.
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

// shortInput is how many bytes an input has at most of which each is given every value.
const shortInput = 16

// Step returns the k-th ordered change of src: 1, 2 and 4 neighbouring bits inverted; 1, 2 and 4 bytes inverted;
// every other value of each byte, if there are few of them; interesting numbers of each width and byte order; each of the first 256 tokens over and between the bytes; numbers of each width and
// byte order 1 to 35 up and down; each at each place. A step that would leave src as it is inverts a bit there.
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

// stepTokens is how many tokens are tried at each place: the first 256, as in AFL++. The others are drawn.
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

// orders is the number of byte orders that a number of 1 << size bytes has.
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

// overwrite writes the token, cut where at ends, and inverts a bit if that is what was there.
func overwrite(at []byte, token string) {
	n := min(len(at), len(token))
	if string(at[:n]) == token[:n] {
		at[0] ^= 1
		return
	}
	copy(at, token)
}
