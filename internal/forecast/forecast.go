// Package forecast predicts what will come of an input by what it has in common with those that have run: the bytes at its beginning, by
// their places, and short runs of bytes wherever they are. It knows nothing of what they mean.
package forecast

import "math"

// How much of an input is looked at.
const (
	places = 64  // bytes that count by their place, and with the one behind them
	runs   = 512 // bytes of which each run of three counts
	most   = 1 + 2*places + runs
	slots  = 1 << 15
)

// Forecast tells inputs with some outcome, a rare one rather, from others. The zero value expects of no input that it has it. An input is
// expected to have it if something in it was seen with that outcome so often that this is no chance, and hardly ever without.
type Forecast struct {
	slots       []slot   // by the hash of what was seen with the outcome
	found       []uint64 // in the last input
	with, total float64  // how many inputs had the outcome, and all, of late
	needed      uint16
}

// slot counts the inputs that something was seen in.
type slot struct {
	of            uint32 // the rest of the hash
	with, without uint16 // the outcome
}

const (
	chance  = 1e-4    // that something of no meaning is taken for a sign
	against = 4       // a sign is seen so many times as often with the outcome as without
	late    = 1 << 14 // inputs after which half of their number is forgotten
)

// Expects reports whether an input is to be expected to have the outcome.
func (f *Forecast) Expects(in []byte) bool {
	if f.slots == nil {
		return false
	}
	for _, h := range f.find(in) {
		if s := f.slots[h%slots]; s.of == uint32(h>>32) && s.with >= f.needed && s.with > against*s.without {
			return true
		}
	}
	return false
}

// Learn takes in what came of an input.
func (f *Forecast) Learn(in []byte, outcome bool) {
	if f.total++; f.total > late {
		f.with, f.total = f.with/2, f.total/2
	}
	if outcome {
		f.with++
	} else if f.slots == nil {
		return
	}
	if f.slots == nil {
		f.slots = make([]slot, slots)
	}
	for _, h := range f.find(in) {
		s := &f.slots[h%slots]
		same := s.of == uint32(h>>32)
		switch {
		case !outcome:
			if same && s.without < math.MaxUint16/against {
				s.without++
			}
		case same:
			if s.with < math.MaxUint16 {
				s.with++
			}
		case s.with <= against*s.without || s.with < 2: // it is no sign
			*s = slot{uint32(h >> 32), 1, 0}
		}
	}
	// The probability that n inputs all have the outcome by chance is its share to the power of n.
	share := min(max(f.with/f.total, 0.01), 0.95)
	f.needed = uint16(math.Ceil(math.Log(chance) / math.Log(share)))
}

// find returns hashes of what is in an input.
func (f *Forecast) find(in []byte) []uint64 {
	if f.found == nil {
		f.found = make([]uint64, 0, most)
	}
	f.found = append(f.found[:0], hash(0, uint64(min(len(in), 8))))
	for i, b := range in[:min(len(in), places)] {
		f.found = append(f.found, hash(1+uint64(i), uint64(b)))
		if i+1 < len(in) {
			f.found = append(f.found, hash(1001+uint64(i), uint64(b)|uint64(in[i+1])<<8))
		}
	}
	for i := 0; i+3 <= len(in) && i < runs; i++ {
		f.found = append(f.found, hash(2001, uint64(in[i])|uint64(in[i+1])<<8|uint64(in[i+2])<<16))
	}
	return f.found
}

func hash(kind, value uint64) uint64 {
	x := (kind<<32 | value + 1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>32
}
