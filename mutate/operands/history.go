package operands

import "github.com/teaselfuzz/teasel"

// History is what one executor has recorded so far. The stages use it to try first what was seen rarely, and to leave
// comparisons alone that have come out both ways. An executor that records has one; it belongs to the worker that has the
// executor. The zero value is empty.
type History struct {
	// Room is how many comparisons one batch has room to record. 0: as many as there are.
	Room int

	pairs    map[pair]uint8 // compared so far, and how often
	outcomes map[comparison]outcomes
	runs     int // executions of the executor
	spent    int // of those, the gradient stage's
	searches int // testcases on which the gradient stage has worked
}

// Ran counts executions of the executor, recorded or not: the gradient stage gets a share of them.
func (h *History) Ran(n int) { h.runs += n }

// pair is a comparison and what was compared: texts or numbers.
type pair struct {
	site uint32
	a, b string
	x, y uint64
}

// maxPairs is how many pairs, or comparisons, are remembered; then all of them are forgotten.
const maxPairs = 1 << 18

// count counts a pair and returns how often it was recorded before, 255 at most.
func (h *History) count(x pair) uint8 {
	if h.pairs == nil || len(h.pairs) >= maxPairs {
		h.pairs = map[pair]uint8{}
	}
	n := h.pairs[x]
	if n < 255 {
		h.pairs[x] = n + 1
	}
	return n
}

// comparison is one place in the program where numbers are compared; each case of a switch is one.
type comparison struct {
	site     uint32
	constant uint64 // 0: neither side is a constant, or the constant is 0
}

func comparisonOf(op teasel.Operand) comparison {
	if op.Const {
		return comparison{op.Site, op.A}
	}
	return comparison{site: op.Site}
}

// outcomes is how a comparison has come out so far.
type outcomes struct {
	seen  outcome
	tried uint8 // how often the gradient stage has tried to make it come out differently
}

// outcome is a set of the three ways in which two numbers compare.
type outcome uint8

const (
	less outcome = 1 << iota
	equal
	greater
)

// outcomeOf returns how B compares with A, given their difference.
func outcomeOf(difference int64) outcome {
	switch {
	case difference < 0:
		return less
	case difference > 0:
		return greater
	}
	return equal
}

// difference returns B minus A as a signed number of their size.
func difference(op teasel.Operand) int64 { return signed(op.B-op.A, int(op.Size)) }

// signed returns the low bytes of n as a signed number.
func signed(n uint64, size int) int64 {
	shift := 64 - 8*min(uint(size), 8)
	return int64(n<<shift) >> shift
}

// oneSided reports whether the branch behind the comparison may have gone one way only, whether it asks for equality or
// for less.
func (v outcomes) oneSided() bool { return v.seen&equal == 0 || v.seen == equal }

// add takes the outcomes of a recording in.
func (h *History) add(rec *Recording) {
	if h.outcomes == nil || len(h.outcomes) >= maxPairs {
		h.outcomes = map[comparison]outcomes{}
	}
	for _, op := range rec.Numbers {
		c := comparisonOf(op)
		if v := h.outcomes[c]; v.seen&outcomeOf(difference(op)) == 0 {
			v.seen |= outcomeOf(difference(op))
			h.outcomes[c] = v
		}
	}
}
