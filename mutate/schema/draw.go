package schema

import (
	"math/big"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel/mutate"
)

// draw is the state of drawing a value.
type draw struct {
	r       *rand.Rand
	depth   int
	left    int  // number of optional nodes that may still be drawn
	hostile bool // conforming values are to be hostile
	mixed   bool // some nodes are to be adversarial
	broke   int  // number of nodes that were made to violate a keyword
	words   []string
}

// Beyond these limits, only required nodes are drawn, with as little nesting as possible.
const (
	maxDepth    = 6
	maxNodes    = 256
	maxAttempts = 40
)

func newDraw(r *rand.Rand) *draw { return &draw{r: r, left: maxNodes} }

func (d *draw) hurried() bool { return d.depth >= maxDepth || d.left <= 0 }

// draw returns a value that satisfies the goal, or, in mixed mode, possibly an adversarial one.
func (g *goal) draw(d *draw) *mutate.JSON {
	d.left--
	if d.mixed && d.r.IntN(5) == 0 {
		return g.drawAdversarial(d)
	}
	return g.drawConform(d)
}

func (g *goal) drawConform(d *draw) *mutate.JSON {
	for range maxAttempts {
		v, broke := g.pick(d), d.broke
		if v == nil {
			break
		}
		value := v.draw(d)
		if !v.check || d.broke != broke || v.accepts(value) {
			return value
		}
	}
	if g.witness == nil { // only while the witnesses are searched
		return mutate.NewNull()
	}
	return g.witness.Clone()
}

// drawAdversarial returns a value that is hostile or violates one of the goal's own keywords.
func (g *goal) drawAdversarial(d *draw) *mutate.JSON {
	if v := g.pick(d); v != nil && len(v.breaches) > 0 && d.r.IntN(2) == 0 {
		if value := v.breaches[d.r.IntN(len(v.breaches))].make(d); value != nil {
			d.broke++
			return value
		}
	}
	was := d.hostile
	d.hostile = true
	value := g.drawConform(d)
	d.hostile = was
	return value
}

// pick returns a random variant of the goal.
func (g *goal) pick(d *draw) *variant {
	ways := g.variants
	if len(ways) > 1 && d.hurried() {
		ways = g.flat
	}
	switch len(ways) {
	case 0:
		return nil
	case 1:
		return ways[0]
	}
	return ways[d.r.IntN(len(ways))]
}

// draw returns a value of the variant, which must be checked if the variant's check is set.
func (v *variant) draw(d *draw) *mutate.JSON {
	if v.closed {
		return v.values[d.r.IntN(len(v.values))].Clone()
	}
	if len(v.samples) > 0 && d.r.IntN(6) == 0 {
		return v.samples[d.r.IntN(len(v.samples))].Clone()
	}
	dice := v.dice
	if len(dice) > 1 && d.hurried() {
		dice = v.flat
	}
	t := dice[0]
	if len(dice) > 1 {
		t = dice[d.r.IntN(len(dice))]
	}
	return v.drawType(d, t)
}

func (v *variant) drawType(d *draw, t types) *mutate.JSON {
	switch t {
	case nullType:
		return mutate.NewNull()
	case boolType:
		return mutate.NewBool(d.r.IntN(2) == 0)
	case intType, fractionType:
		list := v.numbers.hostile
		if t == intType {
			list = v.numbers.hostileInts
		}
		if d.hostile && len(list) > 0 && d.r.IntN(4) > 0 {
			return mutate.NewNumber(list[d.r.IntN(len(list))])
		}
		return mutate.NewNumber(v.numbers.draw(d.r, t == intType))
	case stringType:
		return mutate.NewString(v.text.draw(d))
	case arrayType:
		return v.array.draw(d)
	default:
		return v.object.draw(d)
	}
}

// roll sets up the weights of a variant's types: types to which its keywords apply are more likely than types that are only not forbidden.
func (v *variant) roll(heights map[types]int) {
	v.dice, v.flat = nil, nil
	for t := nullType; t <= objectType; t <<= 1 {
		if v.types&t == 0 || heights[t] >= unreachable {
			continue
		}
		times := 1
		if v.hinted&t != 0 && v.types&^v.hinted != 0 {
			times = 8
		}
		if t == stringType && v.types == allTypes && v.hinted == 0 {
			times = 4
		}
		for range times {
			v.dice = append(v.dice, t)
		}
		if heights[t] == v.height {
			v.flat = append(v.flat, t)
		}
	}
}

// shift returns the decimal text of x changed by a small amount.
func shift(x *big.Rat, num, den int64) string {
	y := new(big.Rat).Add(x, big.NewRat(num, den))
	return ratText(y)
}

// ratText returns the exact decimal text of a number that has one.
func ratText(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	n := numbers{}
	g := n.gridOf(new(big.Rat).Abs(x))
	text := decimalText(g.mul.String(), g.scale)
	if x.Sign() < 0 {
		return "-" + text
	}
	return text
}
