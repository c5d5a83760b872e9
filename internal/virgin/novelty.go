// Package virgin judges the novelty of an execution by its map of hit counters, as AFL does with its virgin maps: whether it has
// reached a new feature, or one that was only known from longer inputs. It is used where the counters of a target are mapped, so
// that only new features are reported to the engine.
package virgin

import (
	"math/bits"
	"unsafe"
)

// Novelty records which features were reached so far, and the length of the shortest input for each. A feature is 8 times the index
// of a counter plus the bucket of its hits. The buckets are AFL's: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, and 128 or more hits.
// A Novelty is for one goroutine at a time.
type Novelty struct {
	buckets  *[1 << 16]uint16 // classifies two counters at a time
	virgin   []uint64         // a bit for each unknown feature, in the order of the counters
	longest  []uint16         // for each word of virgin, the maximum of shortest over its known features
	shortest []uint16         // for each known feature, the length of the shortest input that has reached it
}

// New returns a Novelty without known features for a map of size bytes, which must be a multiple of 8.
func New(size int) *Novelty {
	n := &Novelty{buckets: new([1 << 16]uint16), virgin: make([]uint64, size/8), longest: make([]uint16, size/8), shortest: make([]uint16, size*8)}
	for i := range n.virgin {
		n.virgin[i] = ^uint64(0)
	}
	for i := range n.buckets {
		n.buckets[i] = uint16(bucket(byte(i))) | uint16(bucket(byte(i>>8)))<<8
	}
	return n
}

// bucket returns the bit of the bucket of a number of hits.
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

// wordsAtOnce is how many words are compared with zero together: most of a map is zero.
const wordsAtOnce = 8

// News reports whether an input of length bytes has reached an unknown feature, or one that is only known from longer inputs. The
// trace must have the size of the map and be aligned to 8 bytes.
func (n *Novelty) News(trace []byte, length int) bool {
	all, short := words(trace), clamp(length)
	virgin, longest := n.virgin[:len(all)], n.longest[:len(all)]
	i := 0
	for ; i+wordsAtOnce <= len(all); i += wordsAtOnce {
		w := all[i : i+wordsAtOnce : i+wordsAtOnce]
		if w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] == 0 {
			continue
		}
		for j, x := range w {
			if x != 0 && (n.classify(x)&virgin[i+j] != 0 || short < longest[i+j] && n.shorter(i+j, x, short)) {
				return true
			}
		}
	}
	for ; i < len(all); i++ {
		if x := all[i]; x != 0 && (n.classify(x)&virgin[i] != 0 || short < longest[i] && n.shorter(i, x, short)) {
			return true
		}
	}
	return false
}

// shorter reports whether one of a word's features is only known from inputs longer than short.
func (n *Novelty) shorter(at int, x uint64, short uint16) bool {
	for c := n.classify(x); c != 0; c &= c - 1 {
		if short < n.shortest[at*64+bits.TrailingZeros64(c)] {
			return true
		}
	}
	return false
}

// Features appends all features of a trace to dst, in ascending order.
func (n *Novelty) Features(dst []uint32, trace []byte) []uint32 {
	for i, x := range words(trace) {
		for c := n.classify(x); c != 0; c &= c - 1 {
			dst = append(dst, uint32(i*64+bits.TrailingZeros64(c)))
		}
	}
	return dst
}

// New returns those features that are unknown, or only known from inputs longer than length bytes. It reuses the memory of fs.
func (n *Novelty) New(fs []uint32, length int) []uint32 {
	short, kept := clamp(length), fs[:0]
	for _, f := range fs {
		if n.virgin[f/64]>>(f%64)&1 != 0 || short < n.shortest[f] {
			kept = append(kept, f)
		}
	}
	return kept
}

// Learn records that an input of length bytes has reached a feature. Features beyond the map are ignored.
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
	n.longest[at] = 0
	for i, s := range n.shortest[at*64 : at*64+64] {
		if n.virgin[at]>>i&1 == 0 {
			n.longest[at] = max(n.longest[at], s)
		}
	}
}

// Hash returns a hash of all features of a trace, which is never 0, and the sum of the hits.
func (n *Novelty) Hash(trace []byte) (hash, hits uint64) {
	hash = 1
	for i, x := range words(trace) {
		if x == 0 {
			continue
		}
		hash = mix(hash^uint64(i)<<32, n.classify(x))
		for ; x != 0; x >>= 8 {
			hits += x & 0xff
		}
	}
	return max(hash, 1), hits
}

func mix(hash, w uint64) uint64 {
	hash = (hash ^ w) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}
