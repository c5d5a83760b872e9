package operands

import (
	"bytes"
	"context"
	"math/bits"
	"slices"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Stage[[]byte] = Gradient{}

// Gradient changes the results of comparisons whose operands are computed from a few bytes of a testcase, such as numbers that are
// scaled, added, packed into bits or written in digits. It finds the bytes on which the difference of the operands depends, measures by
// how much each of their bits changes it, and combines bits so that the operands become equal, or one of them greater or less. It works
// on a testcase once, after [InputToState] has tried all candidates, and only on comparisons that have had the same result in every
// recording so far. It then continues with the comparisons to which the solved ones lead: the testcase that is kept of a solution is
// trimmed, perhaps to fewer bytes than these comparisons need.
type Gradient struct{}

// Name implements [teasel.Stage].
func (Gradient) Name() string { return "gradient" }

// Limits of the work on one testcase.
const (
	maxTargets = 128  // comparisons to solve
	maxNth     = 4    // occurrences of one comparison in an execution
	maxBlocks  = 64   // parts of the testcase that are changed to find those on which operands depend
	maxBytes   = 16   // bytes on which an operand depends; an operand that depends on more is probably a checksum
	maxUnion   = 32   // bytes of all targets together whose bits are measured
	maxSteps   = 4    // iterations towards a solution
	maxSweeps  = 4    // bytes of which all 256 values are tried
	maxRounds  = 4    // rounds, each of which starts from the solution of the previous one
	maxGrowth  = 1024 // bytes that are added to a testcase if an operand depends on its length
)

// A comparison gets one more try each time that the number of testcases on which the stage has worked doubles. A try in which no byte had
// an effect counts as a third.
const fullTry = 3

// The stage may make searchAllowance executions initially, and then one of every searchShare executions. Recording recordsPerRun
// comparisons costs as much as an execution.
const (
	searchAllowance = 2048
	searchShare     = 512
	recordsPerRun   = 128
	usualEnergy     = 16 // a testcase with less than an eighth of the average energy gets 1, and so does each of a slow target
	slowPicks       = 8  // times that such a testcase is picked before
)

// Run implements [teasel.Stage].
func (Gradient) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	s, err := analysisOf(ctx, w, tc)
	if err != nil || s.history == nil || s.searched || s.next < len(s.swaps) || s.history.spent > searchAllowance+s.history.runs/searchShare {
		return err
	}
	if w.Energy(usualEnergy, usualEnergy) == 1 && tc.Picked < slowPicks { // so slow that others would have to wait for seconds
		return nil
	}
	s.searched = true
	before := s.history.runs
	defer func() { s.history.spent += s.history.runs - before }()
	for in, round := tc.Input, 0; round < maxRounds; round++ {
		x, err := newSearch(ctx, w, in)
		if err != nil || len(x.targets) == 0 {
			return err
		}
		if err := x.locate(ctx); err != nil {
			return err
		}
		for _, t := range x.solvable() {
			if err := x.solve(ctx, t); err != nil {
				return err
			}
		}
		if bytes.Equal(in, x.latest) || !x.solved {
			return nil
		}
		in = x.latest
	}
	return nil
}

// search is the work on one testcase.
type search struct {
	w          *teasel.Worker[[]byte]
	in         []byte
	maxLen     int    // length of the longest candidate
	latest     []byte // the testcase with all solutions so far: a branch may depend on several comparisons
	solved     bool   // latest changes the result of at least one target
	history    *History
	records    int   // comparisons that an execution records if all targets are watched
	enumerated []int // bytes of which all values were tried
	targets    []*target
	at         map[comparison][]*target // by the number of earlier occurrences of the comparison in the execution
}

// target is a comparison whose result is to be changed.
type target struct {
	comparison
	size     int
	from     int64 // difference of the operands for the testcase
	seen     outcome
	blocks   []int // parts of the testcase on which the difference depends
	bytes    []int
	bits     []effect
	additive []effect // effects of the bits of bytes in which the effects of bits add up
	digits   []effect // effects of replacing a byte by the digit 1
	length   int64    // effect of one more byte at the end
}

// limit returns the length of the longest input, in bytes.
func limit(w *teasel.Worker[[]byte]) int {
	if m, ok := w.Mutator().(interface{ Limit() int }); ok {
		return m.Limit()
	}
	return 1 << 20
}

// padding is the number of bytes that are added after, or before, a testcase that is shorter than the program reads.
const padding = 16

// newSearch finds the targets of a testcase. The testcase is padded with zeros if zeros change no comparison but other bytes would.
func newSearch(ctx context.Context, w *teasel.Worker[[]byte], in []byte) (*search, error) {
	x := &search{w: w, at: map[comparison][]*target{}, maxLen: max(limit(w), len(in))}
	ins := [][]byte{in}
	if zeros, ones := make([]byte, padding), bytes.Repeat([]byte{'1'}, padding); len(in)+padding <= x.maxLen {
		ins = append(ins, slices.Concat(in, zeros), slices.Concat(in, ones), slices.Concat(zeros, in), slices.Concat(ones, in))
	}
	obs, err := w.Probe(ctx, ins, teasel.Ask{Operands: true})
	if err != nil {
		return x, err
	}
	var recs [5]*Recording
	for i := range obs {
		if rec := recordingOf(&obs[i]); rec != nil {
			recs[i] = rec
			rec.History.spent += len(rec.Numbers) / recordsPerRun
		}
	}
	if recs[0] == nil {
		return x, nil
	}
	best, most := 0, 0
	for _, i := range [...]int{1, 3} {
		if n := countVaried(recs[0], recs[i], recs[i+1]); n > most {
			best, most = i, n
		}
	}
	x.in, x.latest, x.history = ins[best], ins[best], recs[0].History
	x.selectTargets(recs[best])
	return x, nil
}

// countVaried returns the number of comparisons that depend on the padding, among those that have the same result with and without
// padding or are only made with it. It returns 0 if a comparison is no longer made with padding.
func countVaried(plain, zeros, ones *Recording) (n int) {
	if zeros == nil || ones == nil {
		return 0
	}
	first := func(r *Recording) map[comparison]int64 {
		m := make(map[comparison]int64, len(r.Numbers))
		for _, op := range slices.Backward(r.Numbers) {
			m[comparisonOf(op)] = difference(op)
		}
		return m
	}
	a, b, c := first(plain), first(zeros), first(ones)
	for k := range a {
		if _, ok := b[k]; !ok {
			return 0
		}
	}
	for k, d := range b {
		x, made := c[k]
		if before, ok := a[k]; made && x != d && (!ok || before == d) {
			n++
		}
	}
	return n
}

// selectTargets makes targets of the comparisons that have had only one result.
func (x *search) selectTargets(rec *Recording) {
	most := fullTry * bits.Len(uint(x.history.searches+1))
	for _, op := range rec.Numbers {
		c := comparisonOf(op)
		if v := x.history.outcomes[c]; !v.oneSided() || int(v.tried) >= most || len(x.targets) == maxTargets || len(x.at[c]) == maxNth {
			continue
		}
		t := &target{comparison: c, size: int(op.Size), from: difference(op), seen: x.history.outcomes[c].seen}
		x.targets, x.at[c] = append(x.targets, t), append(x.at[c], t)
	}
	watched := map[uint32]bool{}
	for _, t := range x.targets {
		watched[t.site] = true
	}
	for _, op := range rec.Numbers {
		if watched[op.Site] {
			x.records++
		}
	}
}

// solvable returns the targets that depend on few bytes, or on the length, and counts a try for each target.
func (x *search) solvable() (ts []*target) {
	x.history.searches++
	union, tried := map[int]bool{}, map[comparison]uint8{}
	for _, t := range x.targets {
		ok := len(t.bytes) > 0 && len(t.bytes) <= maxBytes
		for _, at := range t.bytes {
			if ok = ok && (union[at] || len(union) < maxUnion); ok {
				union[at] = true
			}
		}
		if !ok {
			t.bytes = nil
		}
		if ok || t.length != 0 {
			ts = append(ts, t)
			tried[t.comparison] = fullTry
		} else {
			tried[t.comparison] = max(tried[t.comparison], 1)
		}
	}
	for c, n := range tried {
		v := x.history.outcomes[c]
		v.tried += n
		x.history.outcomes[c] = v
	}
	return ts
}
