package schema

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// numbers describes the numbers that a variant allows.
type numbers struct {
	low, high         *big.Rat // nil if there is no bound
	openLow, openHigh bool     // the bound itself is not allowed
	step              *big.Rat // values must be multiples of it; nil: all values are allowed
	ints              *grid    // the integers among them, nil if there are none
	hostile           []string // allowed numbers that are hostile or boundary values
	hostileInts       []string // the integers among them
	fractions         []*grid  // the non-integers, or, of a dense set, samples of increasing precision; empty if only integers are allowed
}

// grid is the set of numbers k*mul/10^scale for low <= k <= high; a nil bound is infinite.
type grid struct {
	mul       *big.Int
	scale     int
	low, high *big.Int
	// The same as int64, if all values fit; instead of an infinite bound, a window near the other one.
	small              bool
	first, last, times int64
}

// raise makes the lower bound at least limit.
func (n *numbers) raise(limit *big.Rat, open bool) {
	if limit == nil {
		return
	}
	if n.low == nil || limit.Cmp(n.low) > 0 {
		n.low, n.openLow = limit, open
	} else if limit.Cmp(n.low) == 0 {
		n.openLow = n.openLow || open
	}
}

// lower makes the upper bound at most limit.
func (n *numbers) lower(limit *big.Rat, open bool) {
	if limit == nil {
		return
	}
	if n.high == nil || limit.Cmp(n.high) < 0 {
		n.high, n.openHigh = limit, open
	} else if limit.Cmp(n.high) == 0 {
		n.openHigh = n.openHigh || open
	}
}

// divide additionally requires values to be multiples of step.
func (n *numbers) divide(step *big.Rat) {
	if step == nil || step.Sign() <= 0 {
		return
	}
	if n.step == nil {
		n.step = step
		return
	}
	n.step = commonMultiple(n.step, step)
}

func commonMultiple(a, b *big.Rat) *big.Rat {
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	gcd := new(big.Int).GCD(nil, nil, x, y)
	return new(big.Rat).SetFrac(x.Div(x.Mul(x, y), gcd), new(big.Int).Mul(a.Denom(), b.Denom()))
}

// settle computes the grids. integers means that only integers are allowed, fractions that only other numbers are wanted.
func (n *numbers) settle(integers, fractions bool) {
	if integers {
		step := big.NewRat(1, 1)
		if n.step != nil {
			step = commonMultiple(n.step, step)
		}
		n.ints = n.gridOf(step)
	}
	if !fractions {
		return
	}
	if n.step != nil {
		if g := n.gridOf(n.step); g != nil && !n.step.IsInt() {
			n.fractions = append(n.fractions, g)
		}
		return
	}
	if n.low != nil && n.high != nil {
		if c := n.low.Cmp(n.high); c > 0 || c == 0 && (n.openLow || n.openHigh) {
			return
		}
	}
	// Between two bounds there is always a number, if the steps are small enough.
	one := big.NewInt(1)
	for scale := 1; scale <= 2*maxExponent; scale += 1 + scale/4 {
		if g := n.gridAt(one, scale); g != nil {
			n.fractions = []*grid{g, n.gridAt(one, scale+1), n.gridAt(one, scale+2)}
			return
		}
	}
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// gridOf returns the multiples of step within the bounds, nil if there are none.
func (n *numbers) gridOf(step *big.Rat) *grid {
	// The denominator of a decimal has no prime factors except 2 and 5; the larger exponent is the number of digits.
	twos, fives := 0, 0
	rest, q, m := new(big.Int).Set(step.Denom()), new(big.Int), new(big.Int)
	for _, factor := range []struct {
		prime int64
		count *int
	}{{2, &twos}, {5, &fives}} {
		for q.QuoRem(rest, big.NewInt(factor.prime), m); m.Sign() == 0; q.QuoRem(rest, big.NewInt(factor.prime), m) {
			rest.Set(q)
			*factor.count++
		}
	}
	scale := max(twos, fives)
	return n.gridAt(new(big.Int).Quo(new(big.Int).Mul(step.Num(), powerOfTen(scale)), step.Denom()), scale)
}

// gridAt returns the multiples of mul/10^scale within the bounds, nil if there are none.
func (n *numbers) gridAt(mul *big.Int, scale int) *grid {
	g := &grid{mul: mul, scale: scale}
	step := new(big.Rat).SetFrac(mul, powerOfTen(scale))
	if n.low != nil {
		g.low = ceil(new(big.Rat).Quo(n.low, step))
		if n.openLow && new(big.Rat).Mul(new(big.Rat).SetInt(g.low), step).Cmp(n.low) == 0 {
			g.low.Add(g.low, big.NewInt(1))
		}
	}
	if n.high != nil {
		g.high = floor(new(big.Rat).Quo(n.high, step))
		if n.openHigh && new(big.Rat).Mul(new(big.Rat).SetInt(g.high), step).Cmp(n.high) == 0 {
			g.high.Sub(g.high, big.NewInt(1))
		}
	}
	if g.low != nil && g.high != nil && g.low.Cmp(g.high) > 0 {
		return nil
	}
	g.narrow()
	return g
}

func floor(x *big.Rat) *big.Int {
	q, m := new(big.Int), new(big.Int)
	q.DivMod(x.Num(), x.Denom(), m) // Euclidean, and the denominator is positive
	return q
}

func ceil(x *big.Rat) *big.Int {
	q := floor(new(big.Rat).Neg(x))
	return q.Neg(q)
}

// narrow determines whether 64-bit integers suffice.
func (g *grid) narrow() {
	const window = 1000
	limit := big.NewInt(1 << 53)
	fits := func(x *big.Int) bool { return x == nil || x.CmpAbs(limit) <= 0 }
	if !fits(g.low) || !fits(g.high) || !g.mul.IsInt64() || g.mul.CmpAbs(big.NewInt(512)) > 0 {
		return
	}
	g.small, g.times = true, g.mul.Int64()
	switch {
	case g.low != nil && g.high != nil:
		g.first, g.last = g.low.Int64(), g.high.Int64()
	case g.low != nil:
		g.first, g.last = g.low.Int64(), g.low.Int64()+window
	case g.high != nil:
		g.first, g.last = g.high.Int64()-window, g.high.Int64()
	default:
		g.first, g.last = -window/10, window
	}
}

// draw returns the text of one of the numbers: often small or next to a bound.
func (g *grid) draw(r *rand.Rand) string {
	if !g.small {
		return g.drawBig(r)
	}
	first, last := g.first, g.last
	switch r.IntN(16) {
	case 0:
		return g.text(first)
	case 1:
		return g.text(last)
	case 2, 3, 4, 5:
		if low, high := max(first, 0), min(last, 16); low <= high {
			return g.text(low + r.Int64N(high-low+1))
		}
	case 6:
		if g.low == nil && g.high == nil {
			return g.text(r.Int64N(1<<33) - 1<<32)
		}
	}
	return g.text(first + r.Int64N(last-first+1))
}

func (g *grid) text(k int64) string {
	if g.scale == 0 {
		return strconv.FormatInt(k*g.times, 10)
	}
	return decimalText(strconv.FormatInt(k*g.times, 10), g.scale)
}

// nth returns the text of the n-th number, counted from a bound, or from 0 if there is none. Beyond the other bound, it returns that bound.
func (g *grid) nth(n int) string {
	k := big.NewInt(int64(n))
	switch {
	case g.low != nil:
		if k.Add(k, g.low); g.high != nil && k.Cmp(g.high) > 0 {
			k = g.high
		}
	case g.high != nil:
		k.Sub(g.high, k)
	}
	return g.at(k)
}

// at returns the text of the k-th number.
func (g *grid) at(k *big.Int) string {
	return decimalText(new(big.Int).Mul(k, g.mul).String(), g.scale)
}

func (g *grid) drawBig(r *rand.Rand) string {
	low, high := g.low, g.high
	window := big.NewInt(1000)
	switch {
	case low == nil && high == nil:
		low, high = new(big.Int).Neg(window), window
	case low == nil:
		low = new(big.Int).Sub(high, window)
	case high == nil:
		high = new(big.Int).Add(low, window)
	}
	switch r.IntN(8) {
	case 0:
		return g.at(low)
	case 1:
		return g.at(high)
	case 2, 3:
		if low.Sign() <= 0 && high.Cmp(window) >= 0 {
			return g.at(big.NewInt(r.Int64N(1000)))
		}
	}
	span := new(big.Int).Sub(high, low)
	k := new(big.Int).SetBytes(drawBytes(r, len(span.Bytes())+1))
	k.Mod(k, span.Add(span, big.NewInt(1)))
	return g.at(k.Add(k, low))
}

// decimalText inserts a decimal point before the last scale digits and removes trailing zeros.
func decimalText(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	digits, negative := strings.CutPrefix(digits, "-")
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(whole, "0.") != "" {
		return "-" + whole
	}
	return whole
}

// draw returns the text of an allowed number, an integer if wanted and possible.
func (n *numbers) draw(r *rand.Rand, integer bool) string {
	if integer && n.ints != nil || len(n.fractions) == 0 {
		return n.ints.draw(r)
	}
	text := ""
	for range 16 {
		text = n.fractions[r.IntN(len(n.fractions))].draw(r)
		if n.ints != nil || strings.Contains(text, ".") {
			break // if integers are not allowed, neither are integers in the notation of fractions
		}
	}
	return text
}

// allows reports whether x is within the bounds and a multiple of step, whether it is an integer or not.
func (n *numbers) allows(x *big.Rat) bool {
	if n.low != nil {
		if c := x.Cmp(n.low); c < 0 || c == 0 && n.openLow {
			return false
		}
	}
	if n.high != nil {
		if c := x.Cmp(n.high); c > 0 || c == 0 && n.openHigh {
			return false
		}
	}
	return n.step == nil || new(big.Rat).Quo(x, n.step).IsInt()
}

// findHostile lists the hostile numbers that are allowed, and the boundary values.
func (n *numbers) findHostile() {
	for _, text := range slices.Concat(hostileNumbers, n.edges()) {
		x, ok := parseNumber(text)
		if !ok || !n.allows(x) {
			continue
		}
		if n.ints != nil || !x.IsInt() {
			n.hostile = append(n.hostile, text)
		}
		if x.IsInt() {
			n.hostileInts = append(n.hostileInts, text)
		}
	}
}

// edges returns the texts of the smallest and the largest allowed numbers, and of their neighbours.
func (n *numbers) edges() []string {
	var texts []string
	for _, g := range append([]*grid{n.ints}, n.fractions...) {
		if g == nil {
			continue
		}
		one := big.NewInt(1)
		inside := func(k *big.Int) bool {
			return (g.low == nil || k.Cmp(g.low) >= 0) && (g.high == nil || k.Cmp(g.high) <= 0)
		}
		if g.low != nil {
			texts = append(texts, g.at(g.low))
			if k := new(big.Int).Add(g.low, one); inside(k) {
				texts = append(texts, g.at(k))
			}
		}
		if g.high != nil {
			texts = append(texts, g.at(g.high))
			if k := new(big.Int).Sub(g.high, one); inside(k) {
				texts = append(texts, g.at(k))
			}
		}
		if zero := new(big.Int); inside(zero) {
			texts = append(texts, g.at(zero))
		}
	}
	return texts
}
