package native

import "github.com/teaselfuzz/teasel"

// past is what one executor has recorded so far. It belongs to the worker that has the executor.
type past struct {
	pairs    map[pair]uint8 // compared so far, and how often
	verdicts map[comparison]verdict
	runs     int // of all that was run
	spent    int // of those, in searches
	searches int
}

// pair is a comparison and what was compared: texts or numbers.
type pair struct {
	site uint32
	a, b string
	x, y uint64
}

// maxPairs is how many pairs, or comparisons, are remembered before it begins anew.
const maxPairs = 1 << 18

// count returns how often a pair was recorded before.
func (p *past) count(x pair) uint8 {
	if p.pairs == nil || len(p.pairs) >= maxPairs {
		p.pairs = map[pair]uint8{}
	}
	n := p.pairs[x]
	if n < 255 {
		p.pairs[x] = n + 1
	}
	return n
}

// comparison is one of numbers in the program's text; each case of a switch is one.
type comparison struct {
	site     uint32
	constant uint64 // 0: none of them is, or that
}

func comparisonOf(op teasel.Operand) comparison {
	if op.Const {
		return comparison{op.Site, op.A}
	}
	return comparison{site: op.Site}
}

// verdict is how a comparison came out so far.
type verdict struct {
	seen  outcome
	tried uint8 // times that it was sought to come out otherwise
}

// outcome is a set of the three ways in which numbers compare.
type outcome uint8

const (
	less outcome = 1 << iota
	equal
	greater
)

// outcomeOf is how B compares with A, given their difference.
func outcomeOf(difference int64) outcome {
	switch {
	case difference < 0:
		return less
	case difference > 0:
		return greater
	}
	return equal
}

// difference is how much greater B is than A, as a number of their size with a sign.
func difference(op teasel.Operand) int64 { return signed(op.B-op.A, int(op.Size)) }

// signed returns the low bytes of n as a number with a sign.
func signed(n uint64, size int) int64 {
	shift := 64 - 8*min(uint(size), 8)
	return int64(n<<shift) >> shift
}

// open reports whether the comparison may have come out one way only, whether it asks for equality or for less.
func (v verdict) open() bool { return v.seen&equal == 0 || v.seen == equal }

// note takes a recording in.
func (p *past) note(rec *Recording) {
	if p.verdicts == nil || len(p.verdicts) >= maxPairs {
		p.verdicts = map[comparison]verdict{}
	}
	for _, op := range rec.Numbers {
		c := comparisonOf(op)
		if v := p.verdicts[c]; v.seen&outcomeOf(difference(op)) == 0 {
			v.seen |= outcomeOf(difference(op))
			p.verdicts[c] = v
		}
	}
}
