package operands

import (
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// effect is the amount that a change of a byte adds to a difference.
type effect struct {
	at   int
	flip byte // mask of the bits that are inverted
	adds int64
}

// reading is the difference of a target's operands in one execution.
type reading struct {
	value int64
	ok    bool // the comparison was made
}

// measure runs inputs and returns, for each input, the readings of the targets.
func (x *search) measure(ctx context.Context, ins [][]byte, targets ...*target) (readings [][]reading, err error) {
	index := make(map[*target]int, len(targets))
	ask := teasel.Ask{Operands: true}
	for i, t := range targets {
		index[t] = i
		if n := len(ask.Watch); n == 0 || ask.Watch[n-1] != t.site {
			ask.Watch = append(ask.Watch, t.site)
		}
	}
	size := x.w.BatchSize()
	if room := x.history.Room; room > 0 { // all executions of a batch share the room
		size = min(size, max(room/(2*x.records+64), 1))
	}
	for part := range slices.Chunk(ins, size) {
		obs, err := x.w.Probe(ctx, part, ask)
		if err != nil {
			return nil, err
		}
		for i := range obs {
			row := make([]reading, len(targets))
			if rec := recordingOf(&obs[i]); rec != nil {
				x.read(rec, index, row)
			}
			readings = append(readings, row)
		}
	}
	return readings, nil
}

// read fills in a row of readings.
func (x *search) read(rec *Recording, index map[*target]int, row []reading) {
	made := make(map[comparison]int, len(x.at))
	for _, op := range rec.Numbers {
		c := comparisonOf(op)
		ts := x.at[c]
		n := made[c]
		if n >= len(ts) {
			continue
		}
		made[c] = n + 1
		if i, ok := index[ts[n]]; ok {
			row[i] = reading{difference(op), true}
		}
	}
}

// replaced returns the input with each of its bytes between from and to changed.
func replaced(in []byte, from, to int, change func(byte) byte) []byte {
	out := slices.Clone(in)
	for i := from; i < to; i++ {
		out[i] = change(out[i])
	}
	return out
}

// changes are tried on a byte to find out whether it has an effect: a small change, after which a digit is still a digit, a large one,
// and the digit 1, for numbers in text.
var changes = [...]func(byte) byte{
	func(b byte) byte { return b ^ 1 },
	func(b byte) byte { return ^b },
	one,
}

func one(b byte) byte {
	if digit(b, 10) {
		return b
	}
	return '1'
}

func digit(b byte, base int) bool { return b-'0' <= 9 || base == 16 && b|0x20-'a' <= 5 }

// locate finds the bytes on which each target depends: first blocks, then bytes within those blocks.
func (x *search) locate(ctx context.Context) error {
	step := (len(x.in) + maxBlocks - 1) / maxBlocks
	var blocks [][2]int
	for at := 0; at < len(x.in); at += step {
		blocks = append(blocks, [2]int{at, min(at+step, len(x.in))})
	}
	if err := x.perturb(ctx, blocks); err != nil {
		return err
	}
	if step > 1 {
		wanted := map[int]bool{}
		for _, t := range x.targets {
			if len(t.blocks) <= maxBytes/4 {
				for _, b := range t.blocks {
					wanted[b] = true
				}
			}
			t.blocks, t.digits = nil, nil
		}
		var single [][2]int
		for i, b := range blocks {
			for at := b[0]; wanted[i] && at < b[1] && len(single) < maxBlocks; at++ {
				single = append(single, [2]int{at, at + 1})
			}
		}
		if err := x.perturb(ctx, single); err != nil {
			return err
		}
		blocks = single
	}
	for _, t := range x.targets {
		for _, b := range t.blocks {
			t.bytes = append(t.bytes, blocks[b][0])
		}
	}
	if len(x.in) == x.maxLen {
		return nil
	}
	longer, err := x.measure(ctx, [][]byte{append(slices.Clone(x.in), 0)}, x.targets...)
	if err != nil {
		return err
	}
	for i, t := range x.targets {
		if r := longer[0][i]; r.ok {
			t.length = t.added(r)
		}
	}
	return nil
}

// added returns by how much a reading exceeds that of the testcase.
func (t *target) added(r reading) int64 { return signed(uint64(r.value)-uint64(t.from), t.size) }

// perturb changes each block and records which targets the change affects.
func (x *search) perturb(ctx context.Context, blocks [][2]int) error {
	var ins [][]byte
	for _, b := range blocks {
		for _, c := range changes {
			ins = append(ins, replaced(x.in, b[0], b[1], c))
		}
	}
	rows, err := x.measure(ctx, ins, x.targets...)
	if err != nil {
		return err
	}
	for i, row := range rows {
		block, kind := i/len(changes), i%len(changes)
		for j, t := range x.targets {
			if !row[j].ok || t.added(row[j]) == 0 {
				continue
			}
			if n := len(t.blocks); n == 0 || t.blocks[n-1] != block {
				t.blocks = append(t.blocks, block)
			}
			if kind == len(changes)-1 {
				t.digits = append(t.digits, effect{at: blocks[block][0], adds: t.added(row[j])})
			}
		}
	}
	return nil
}
