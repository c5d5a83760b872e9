package operands

import "github.com/teaselfuzz/teasel"

// History summarises the recordings of one executor. The stages use it to prefer rarely seen pairs, and to skip comparisons that have
// had both results. Each executor that records has one. The zero value is empty. It is for one goroutine at a time.
type History struct {
	// Room is the number of comparisons that one batch can record. 0: unlimited.
	Room int

	pairs    map[pair]uint8 // how often each pair was compared so far
	outcomes map[comparison]outcomes
	runs     int // executions of the executor
	spent    int // executions of the gradient stage
	searches int // testcases on which the gradient stage has worked
}

// Ran adds n executions of the executor, recorded or not: the gradient stage gets a share of them.
func (h *History) Ran(n int) { h.runs += n }

// pair is a comparison site and the two operands: texts or numbers.
type pair struct {
	site uint32
	a, b string
	x, y uint64
}

// maxPairs is the maximum number of pairs, or of comparisons, in a History; when it is reached, all of them are dropped.
const maxPairs = 1 << 18

// count counts a pair and returns how often it was recorded before, at most 255.
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

// comparison is a site at which the program compares numbers; each case of a switch is one.
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

// outcomes are the results that a comparison has had so far.
type outcomes struct {
	seen  outcome
	tried uint8 // how often the gradient stage has tried to change the result
}

// outcome is a set of the three possible results of a comparison: less, equal, greater.
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

// oneSided reports whether the branch that depends on the comparison may have been taken in one direction only, whether it tests for
// equality or for less.
func (v outcomes) oneSided() bool { return v.seen&equal == 0 || v.seen == equal }

// add adds the results of a recording.
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
