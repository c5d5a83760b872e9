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
// expected to have it if something in it was seen with that outcome so often that this is no chance, and hardly ever without. Where the
// inputs with the outcome are not expected then, since it depends on something else too, as on what ran before, less is asked for.
type Forecast struct {
	slots       []slot   // by the hash of what was seen with the outcome
	found       []uint64 // in the last input
	with, total float64  // how many inputs had the outcome, and all, of late
	share       float64  // of the outcome in all inputs
	odds        float64  // that something in an input has to have for the outcome
}

// slot counts the inputs that something was seen in.
type slot struct {
	of            uint32 // the rest of the hash
	with, without uint16 // the outcome
}

const (
	chance     = 1e-4     // that something of no meaning is taken for a sign
	certain    = 4        // odds at which an input is expected to have the outcome, if such inputs are about all that have it
	lift       = 4        // times the odds that all inputs have, which are the least
	fall, rise = 0.9, 1.5 // of the odds, for an input whose outcome was not expected, and for one whose was
	late       = 1 << 14  // inputs after which half of their number is forgotten
)

// Expects reports whether an input is to be expected to have the outcome.
func (f *Forecast) Expects(in []byte) bool {
	if f.slots == nil {
		return false
	}
	for _, h := range f.find(in) {
		if s := f.slots[h%slots]; s.of == uint32(h>>32) && s.with > 1 && f.sign(s) && f.unlikely(s) {
			return true
		}
	}
	return false
}

// sign reports whether the odds of the outcome are high enough.
func (f *Forecast) sign(s slot) bool {
	return float64(s.with) > max(f.odds, min(lift*f.share/(1-f.share), certain))*float64(s.without)
}

// unlikely reports whether what was seen of a sign is no chance: Chernoff's bound, which for a sign that was never seen without the outcome
// is the probability that so many inputs have it.
func (f *Forecast) unlikely(s slot) bool {
	n := float64(s.with) + float64(s.without)
	p, q := float64(s.with)/n, f.share
	divergence := p * math.Log(p/q)
	if p < 1 {
		divergence += (1 - p) * math.Log((1-p)/(1-q))
	}
	return n*divergence >= -math.Log(chance)
}

// Learn takes in what came of an input.
func (f *Forecast) Learn(in []byte, outcome bool) {
	if f.total++; f.total > late {
		f.with, f.total = f.with/2, f.total/2
	}
	if outcome {
		f.with++
		if f.Expects(in) {
			f.odds = min(f.odds*rise, certain)
		} else if f.slots != nil {
			f.odds *= fall
		}
	} else if f.slots == nil {
		return
	}
	if f.slots == nil {
		f.slots, f.odds = make([]slot, slots), certain
	}
	for _, h := range f.find(in) {
		s := &f.slots[h%slots]
		same := s.of == uint32(h>>32)
		switch {
		case !outcome:
			if same {
				s.without++
			}
		case same:
			s.with++
		case s.with < 2 || !f.sign(*s):
			*s = slot{uint32(h >> 32), 1, 0}
		}
		if s.with|s.without > math.MaxUint16/2 {
			s.with, s.without = s.with/2, s.without/2
		}
	}
	f.share = min(max(f.with/f.total, 0.001), 0.95)
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
