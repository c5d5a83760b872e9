package schema

import (
	"encoding/base64"
	"math/big"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/mutate"
)

// numbers violates the bounds by as little as possible, and by a large amount.
func (c *breaching) numbers() {
	a := c.atom
	for _, bound := range []struct {
		keyword string
		limit   *big.Rat
		below   bool // values below the limit violate it
		open    bool // the limit itself is allowed
	}{
		{"minimum", a.Minimum, true, true}, {"exclusiveMinimum", a.ExclusiveMinimum, true, false},
		{"maximum", a.Maximum, false, true}, {"exclusiveMaximum", a.ExclusiveMaximum, false, false},
	} {
		if bound.limit != nil {
			c.beyond(bound.keyword, bound.limit, bound.below, bound.open)
		}
	}
	if a.MultipleOf != nil && a.MultipleOf.Sign() > 0 {
		c.offGrid(a.MultipleOf)
	}
}

// beyond adds breaches of a bound. If possible, they satisfy multipleOf and are integers if required.
func (c *breaching) beyond(keyword string, limit *big.Rat, below, open bool) {
	outside := numbers{step: c.v.numbers.step}
	if below {
		outside.lower(limit, open)
	} else {
		outside.raise(limit, open)
	}
	outside.settle(c.v.types&intType != 0, c.v.types&fractionType != 0)
	near := func(g *grid) string {
		if below {
			return g.at(g.high)
		}
		return g.at(g.low)
	}
	if g := outside.ints; g != nil {
		c.add(keyword, "just outside", func(*draw) *mutate.JSON { return mutate.NewNumber(near(g)) })
	}
	for _, g := range outside.fractions {
		c.add(keyword, "just outside, by a fraction", func(*draw) *mutate.JSON { return mutate.NewNumber(near(g)) })
		break
	}
	if outside.ints == nil && len(outside.fractions) == 0 {
		return
	}
	whole := c.v.types&fractionType == 0
	c.add(keyword, "far outside", func(d *draw) *mutate.JSON {
		for range 8 {
			text := hostileNumbers[d.r.IntN(len(hostileNumbers))]
			if x, ok := parseNumber(text); ok && outside.allows(x) && (!whole || x.IsInt()) {
				return mutate.NewNumber(text)
			}
		}
		return mutate.NewNumber(outside.draw(d.r, whole))
	})
}

// offGrid adds a breach of multipleOf: an allowed number, changed by a fraction of the step.
func (c *breaching) offGrid(step *big.Rat) {
	v := c.v
	whole := v.types&fractionType == 0
	c.add("multipleOf", "off by little", func(d *draw) *mutate.JSON {
		x, ok := parseNumber(v.numbers.draw(d.r, whole))
		if !ok {
			return nil
		}
		part := new(big.Rat).Mul(step, big.NewRat(1, []int64{2, 10, 1000}[d.r.IntN(3)]))
		if step.IsInt() && (whole || d.r.IntN(2) == 0) {
			part.SetInt64(1)
		}
		if d.r.IntN(2) == 0 {
			part.Neg(part)
		}
		if y := new(big.Rat).Add(x, part); withinBounds(&v.numbers, y) {
			return mutate.NewNumber(ratText(y))
		}
		return mutate.NewNumber(ratText(x.Sub(x, part)))
	})
}

func withinBounds(n *numbers, x *big.Rat) bool {
	bounds := *n
	bounds.step = nil
	return bounds.allows(x)
}

// strings violates limits of lengths by one, and pattern, format and content by small changes.
func (c *breaching) strings() {
	a, t := c.atom, c.v.text
	if a.MinLength != nil && *a.MinLength > 0 {
		c.length("minLength", "min-1", *a.MinLength-1)
		if *a.MinLength > 1 {
			c.length("minLength", "empty", 0)
		}
	}
	if a.MaxLength != nil && *a.MaxLength < maxForcedLength {
		c.length("maxLength", "max+1", *a.MaxLength+1)
		c.length("maxLength", "far more", min(*a.MaxLength*4+100, max(*a.MaxLength+1, longHostile)))
	}
	if p, ok := a.Pattern.(*pattern); ok {
		c.add("pattern", "near miss", func(d *draw) *mutate.JSON { return nearMiss(d, t, p.MatchString) })
	}
	if f := a.Format; f != nil && formats[f.Name].bits == 0 {
		valid := func(s string) bool { return f.Validate(s) == nil }
		c.add("format", "near miss", func(d *draw) *mutate.JSON {
			if near := formats[f.Name].near; len(near) > 0 && d.r.IntN(4) > 0 {
				if s := near[d.r.IntN(len(near))]; !valid(s) {
					return mutate.NewString(s)
				}
			}
			return nearMiss(d, t, valid)
		})
	}
	if a.ContentEncoding != nil {
		c.add("contentEncoding", "near miss", func(d *draw) *mutate.JSON {
			return mutate.NewString(base64Format.near[d.r.IntN(len(base64Format.near))])
		})
	}
	if a.ContentMediaType != nil {
		c.add("contentMediaType", "near miss", func(d *draw) *mutate.JSON {
			s := []string{"", "{", "{'a':1}", "[1,]", "{\"a\":1}}", "nul", "01", "\"\n\"", "undefined"}[d.r.IntN(9)]
			if t.base64 {
				s = base64.StdEncoding.EncodeToString([]byte(s))
			}
			return mutate.NewString(s)
		})
	}
}

// length adds a breach by a string of n code points, which satisfies the other keywords if possible.
func (c *breaching) length(keyword, how string, n int) {
	strict := *c.v.text
	strict.min, strict.max = n, n
	if !strict.settle() {
		strict = text{min: n, max: n}
		strict.settle()
	}
	c.add(keyword, how, func(d *draw) *mutate.JSON { return mutate.NewString(strict.draw(d)) })
}

// nearMiss changes an allowed string until it is no longer valid.
func nearMiss(d *draw, t *text, valid func(string) bool) *mutate.JSON {
	for range 24 {
		s := smudge(d.r, t.draw(d))
		if !valid(s) {
			return mutate.NewString(s)
		}
	}
	for _, s := range []string{"", " ", "\x00", "a", "1", "-"} {
		if !valid(s) {
			return mutate.NewString(s)
		}
	}
	return nil
}

// smudge makes a small change to a string.
func smudge(r *rand.Rand, s string) string {
	runes := []rune(s)
	if len(runes) == 0 {
		return string([]rune{[]rune(" \n\x00a1-_é")[r.IntN(8)]})
	}
	i := r.IntN(len(runes))
	switch r.IntN(8) {
	case 0:
		return s + "\n"
	case 1:
		return " " + s
	case 2:
		return string(append(runes[:i:i], runes[i+1:]...))
	case 3:
		runes[i] = []rune(" \n\x00aZ1-_é!٣")[r.IntN(11)]
		return string(runes)
	case 4:
		return string(append(append(runes[:i:i], []rune(" a0-.\u200b")[r.IntN(6)]), runes[i:]...))
	case 5:
		if unicode.IsUpper(runes[i]) {
			runes[i] = unicode.ToLower(runes[i])
		} else {
			runes[i] = unicode.ToUpper(runes[i])
		}
		return string(runes)
	case 6:
		return s + s
	default:
		return string(runes[:i])
	}
}

// respell changes the case of a string. It returns nil if that has no effect.
func respell(r *rand.Rand, value *mutate.JSON) *mutate.JSON {
	s := value.Text
	if value.Kind != mutate.String {
		return nil
	}
	forms := []string{strings.ToUpper(s), strings.ToLower(s), swapFirst(s)}
	for _, i := range r.Perm(len(forms)) {
		if forms[i] != s {
			return mutate.NewString(forms[i])
		}
	}
	return nil
}

func swapFirst(s string) string {
	c, size := utf8.DecodeRuneInString(s)
	if unicode.IsUpper(c) {
		return string(unicode.ToLower(c)) + s[size:]
	}
	return string(unicode.ToUpper(c)) + s[size:]
}
