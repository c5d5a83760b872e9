// Package virgin judges what an execution has reached in a map of hit counters, as AFL does with its virgin maps: whether
// there is something new in it, or something that was known from longer inputs only. Whoever maps a target's counters judges
// with it, so that an engine is told of news alone.
package virgin

import (
	"math/bits"
	"unsafe"
)

// Novelty knows what was reached so far, and from how short an input. A feature is the number of a counter times 8 plus
// its bucket: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more hits, which are AFL's. One goroutine at a time uses it.
type Novelty struct {
	buckets  *[1 << 16]uint16 // of two counters at once
	virgin   []uint64         // a bit for each feature that is not known, the counters' order
	bar      []uint16         // for each word of virgin the longest of shortest
	shortest []uint16         // length of the shortest input that reached the feature
}

// New returns one that knows nothing, of a map of that many bytes, a multiple of 8.
func New(size int) *Novelty {
	n := &Novelty{buckets: new([1 << 16]uint16), virgin: make([]uint64, size/8), bar: make([]uint16, size/8), shortest: make([]uint16, size*8)}
	for i := range n.virgin {
		n.virgin[i] = ^uint64(0)
	}
	for i := range n.buckets {
		n.buckets[i] = uint16(bucket(byte(i))) | uint16(bucket(byte(i>>8)))<<8
	}
	return n
}

// bucket returns the bit of a number of hits.
func bucket(hits byte) byte {
	switch {
	case hits == 0:
		return 0
	case hits <= 3:
		return 1 << (hits - 1)
	case hits < 8:
		return 1 << 3
	case hits < 16:
		return 1 << 4
	case hits < 32:
		return 1 << 5
	case hits < 128:
		return 1 << 6
	}
	return 1 << 7
}

func words(trace []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(trace))), len(trace)/8)
}

func (n *Novelty) classify(w uint64) uint64 {
	b := n.buckets
	return uint64(b[w&0xffff]) | uint64(b[w>>16&0xffff])<<16 | uint64(b[w>>32&0xffff])<<32 | uint64(b[w>>48])<<48
}

func clamp(length int) uint16 { return uint16(min(length, 1<<16-1)) }

// skipped is how many words are looked at together: most of a map is zero.
const skipped = 8

// News reports whether an input of that length has reached something that is not known, or not from one so short.
func (n *Novelty) News(trace []byte, length int) bool {
	all, short := words(trace), clamp(length)
	virgin, bar := n.virgin[:len(all)], n.bar[:len(all)]
	i := 0
	for ; i+skipped <= len(all); i += skipped {
		w := all[i : i+skipped : i+skipped]
		if w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] == 0 {
			continue
		}
		for j, x := range w {
			if x != 0 && (n.classify(x)&virgin[i+j] != 0 || short < bar[i+j] && n.shorter(i+j, x, short)) {
				return true
			}
		}
	}
	for ; i < len(all); i++ {
		if x := all[i]; x != 0 && (n.classify(x)&virgin[i] != 0 || short < bar[i] && n.shorter(i, x, short)) {
			return true
		}
	}
	return false
}

// shorter reports whether one of a word's features was never reached from so short an input.
func (n *Novelty) shorter(at int, x uint64, short uint16) bool {
	for c := n.classify(x); c != 0; c &= c - 1 {
		if short < n.shortest[at*64+bits.TrailingZeros64(c)] {
			return true
		}
	}
	return false
}

// Features appends all that a trace has reached, rising.
func (n *Novelty) Features(dst []uint32, trace []byte) []uint32 {
	for i, x := range words(trace) {
		for c := n.classify(x); c != 0; c &= c - 1 {
			dst = append(dst, uint32(i*64+bits.TrailingZeros64(c)))
		}
	}
	return dst
}

// New keeps of features those that are not known, or not from an input so short.
func (n *Novelty) New(fs []uint32, length int) []uint32 {
	short, kept := clamp(length), fs[:0]
	for _, f := range fs {
		if n.virgin[f/64]>>(f%64)&1 != 0 || short < n.shortest[f] {
			kept = append(kept, f)
		}
	}
	return kept
}

// Learn notes that a feature is known from an input of that length. One that there is not is none.
func (n *Novelty) Learn(f uint32, length int) {
	if int(f) >= len(n.shortest) {
		return
	}
	short, at := clamp(length), f/64
	bit := uint64(1) << (f % 64)
	if n.virgin[at]&bit == 0 && n.shortest[f] <= short {
		return
	}
	n.virgin[at] &^= bit
	n.shortest[f] = short
	n.bar[at] = 0
	for i, s := range n.shortest[at*64 : at*64+64] {
		if n.virgin[at]>>i&1 == 0 {
			n.bar[at] = max(n.bar[at], s)
		}
	}
}

// Hash returns a number that stands for all that was reached, and how many hits that were.
func (n *Novelty) Hash(trace []byte) (hash, hits uint64) {
	hash = 1
	for i, x := range words(trace) {
		if x == 0 {
			continue
		}
		hash = stir(hash^uint64(i)<<32, n.classify(x))
		for ; x != 0; x >>= 8 {
			hits += x & 0xff
		}
	}
	return max(hash, 1), hits
}

func stir(hash, w uint64) uint64 {
	hash = (hash ^ w) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}
