package operands

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

// solve runs candidates that should change the result of a target, and continues from the one that came closest.
func (x *search) solve(ctx context.Context, t *target) error {
	in, nearest, err := x.startingPoint(ctx, t)
	if err != nil {
		return err
	}
	for range maxSteps {
		if err := x.measureBitEffects(ctx, in, nearest, t); err != nil {
			return err
		}
		ins := slices.DeleteFunc(t.candidates(x.w.Mutator(), in, nearest), func(c []byte) bool { return len(c) > x.maxLen })
		rows, err := x.measure(ctx, ins, t)
		if err != nil {
			return err
		}
		before := nearest
		for i, row := range rows {
			if r := row[0]; r.ok && distance(r.value) < distance(nearest) {
				in, nearest = ins[i], r.value
			}
		}
		if len(in) != len(x.in) {
			return nil
		}
		if nearest == 0 {
			x.latest, x.solved = in, true
			return nil
		}
		if nearest == before {
			break
		}
	}
	if len(t.bytes) != 1 {
		return nil
	}
	return x.enumerateByte(ctx, in, t.bytes[0])
}

// enumerateByte tries all values of a byte, for operands that are not a sum of effects of its bits.
func (x *search) enumerateByte(ctx context.Context, in []byte, at int) error {
	if len(x.enumerated) == maxSweeps || slices.Contains(x.enumerated, at) {
		return nil
	}
	x.enumerated = append(x.enumerated, at)
	for b := range 256 {
		slot := x.w.Slot()
		*slot = append((*slot)[:0], in...)
		(*slot)[at] = byte(b)
		if err := x.w.Commit(ctx); err != nil {
			return err
		}
	}
	return x.w.Flush(ctx)
}

// startingPoint returns the input from which to solve a target: the one with all solutions so far, unless the comparison is no longer
// made with it.
func (x *search) startingPoint(ctx context.Context, t *target) ([]byte, int64, error) {
	rows, err := x.measure(ctx, [][]byte{x.latest}, t)
	if err != nil || !rows[0][0].ok {
		return x.in, t.from, err
	}
	return x.latest, rows[0][0].value, nil
}

func distance(difference int64) uint64 {
	if difference < 0 {
		return -uint64(difference)
	}
	return uint64(difference)
}

// measureBitEffects measures, for the input in, the amount that inverting each bit of a target's bytes adds to the difference. If a byte
// is part of a number, inverting all its bits adds the sum of these amounts; if the byte selects a branch of the program, it rarely does.
func (x *search) measureBitEffects(ctx context.Context, in []byte, from int64, t *target) error {
	flips := [...]byte{1, 2, 4, 8, 16, 32, 64, 128, 255}
	var ins [][]byte
	for _, at := range t.bytes {
		for _, f := range flips {
			ins = append(ins, replaced(in, at, at+1, func(b byte) byte { return b ^ f }))
		}
	}
	rows, err := x.measure(ctx, ins, t)
	if err != nil {
		return err
	}
	t.bits, t.additive = t.bits[:0], t.additive[:0]
	for i, at := range t.bytes {
		rest, found := uint64(0), len(t.bits)
		for j, f := range flips {
			r := rows[i*len(flips)+j][0]
			adds := signed(uint64(r.value)-uint64(from), t.size)
			if f == 255 {
				rest -= uint64(adds)
			} else if r.ok && adds != 0 {
				rest += uint64(adds)
				t.bits = append(t.bits, effect{at, f, adds})
			}
		}
		if signed(rest, t.size) == 0 {
			t.additive = append(t.additive, t.bits[found:]...)
		}
	}
	return nil
}

// candidates returns inputs that should lead to the results that the target has not had yet.
func (t *target) candidates(m teasel.Mutator[[]byte], in []byte, from int64) (ins [][]byte) {
	known := map[string]bool{string(in): true}
	add := func(out []byte) {
		if !known[string(out)] {
			known[string(out)] = true
			ins = append(ins, out)
		}
	}
	for _, goal := range [...]int64{0, 1, -1} {
		if outcomeOf(goal)&t.seen != 0 {
			continue
		}
		missing := signed(uint64(goal)-uint64(from), t.size)
		for _, effects := range [...][]effect{t.additive, t.bits} {
			for _, chosen := range [...][]effect{modular(effects, missing, t.size), greedy(effects, missing, false), greedy(effects, missing, true)} {
				out := slices.Clone(in)
				for _, e := range chosen {
					out[e.at] ^= e.flip
				}
				add(out)
			}
		}
		for _, out := range t.numbers(m, in, missing) {
			add(out)
		}
		if out := t.resized(in, missing); out != nil {
			add(out)
		}
	}
	return ins
}

// greedy chooses effects that add up to a sum, the largest first. If no choice does, the total of the chosen effects is just below the
// sum, or, with over, larger by one smallest effect. It is exact for numbers in any byte order, for bit fields, for numbers that were
// multiplied, inverted or offset, and for sums and differences of these.
func greedy(effects []effect, sum int64, over bool) (chosen []effect) {
	const most = 1 << 55 // so that no sum of effects overflows
	usable := slices.DeleteFunc(slices.Clone(effects), func(e effect) bool { return distance(e.adds) > most })
	if distance(sum) > most {
		return nil
	}
	slices.SortStableFunc(usable, func(a, b effect) int { return cmp.Compare(distance(b.adds), distance(a.adds)) })
	left := sum // starting with all negative effects, each of which can be removed again
	for _, e := range usable {
		left -= min(e.adds, 0)
	}
	for _, e := range usable {
		n := int64(distance(e.adds))
		taken := n <= left
		if taken {
			left -= n
		}
		if taken == (e.adds > 0) {
			chosen = append(chosen, e)
		}
	}
	if over && left > 0 && len(usable) > 0 {
		return greedy(effects, sum-left+int64(distance(usable[len(usable)-1].adds)), false)
	}
	return chosen
}

// modular chooses effects that add up to a sum modulo 2 to the power of 8 times size, the lowest bit first. It is exact for
// numbers that were multiplied by an odd number and have overflowed.
func modular(effects []effect, sum int64, size int) (chosen []effect) {
	left := uint64(sum)
	for bit := range 8 * size {
		if left>>bit&1 == 0 {
			continue
		}
		i := slices.IndexFunc(effects, func(e effect) bool { return bits.TrailingZeros64(uint64(e.adds)) == bit })
		if i < 0 {
			return nil
		}
		left -= uint64(effects[i].adds)
		chosen = append(chosen, effects[i])
	}
	return chosen
}

// numbers returns inputs in which a number in decimal or hexadecimal digits is changed, or inserted, so that the difference grows by
// missing.
func (t *target) numbers(m teasel.Mutator[[]byte], in []byte, missing int64) (ins [][]byte) {
	for _, base := range [...]int{10, 16} {
		for _, e := range t.bits {
			if e.flip != 1 || !digit(in[e.at], 10) {
				continue
			}
			if out := e.number(m, in, missing, base); out != nil {
				ins = append(ins, out)
				break // the other digits lead to the same
			}
		}
		for _, e := range t.digits {
			if e.adds == 0 || missing%e.adds != 0 {
				continue
			}
			text := strconv.FormatInt(missing/e.adds, base)
			ins = append(ins, splice(m, nil, in, e.at, 1, text), splice(m, nil, in, e.at, min(len(text), len(in)-e.at), text))
			break
		}
	}
	return ins
}

// maxDigits is the maximum number of digits of a number in text.
const maxDigits = 15

// number returns the input with a new value of the number that contains the digit whose lowest bit was measured. It returns nil if the
// byte is not part of a number.
func (e effect) number(m teasel.Mutator[[]byte], in []byte, missing int64, base int) []byte {
	from, to, unit := e.at, e.at+1, int64(1)
	for from > 0 && digit(in[from-1], base) {
		from--
	}
	for ; to < len(in) && digit(in[to], base); to++ {
		unit *= int64(base)
	}
	n, err := strconv.ParseInt(string(in[from:to]), base, 64)
	if err != nil || to-from > maxDigits {
		return nil
	}
	if in[e.at]&1 == 1 { // inverting the bit has decremented the digit
		unit = -unit
	}
	if e.adds%unit != 0 || missing%(e.adds/unit) != 0 {
		return nil
	}
	return splice(m, nil, in, from, to-from, strconv.FormatInt(n+missing/(e.adds/unit), base))
}

// resized returns the input with bytes added or removed at its end, as many as are needed for the difference to grow by missing.
func (t *target) resized(in []byte, missing int64) []byte {
	if t.length == 0 {
		return nil
	}
	n := missing / t.length
	if missing%t.length != 0 && (missing > 0) == (t.length > 0) {
		n++
	}
	switch {
	case n > maxGrowth || n < -int64(len(in)) || n == 0:
		return nil
	case n < 0:
		return slices.Clone(in[:len(in)+int(n)])
	}
	return append(slices.Clone(in), make([]byte, n)...)
}
