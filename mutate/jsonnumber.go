package mutate

import (
	"math/big"
	"strconv"
	"strings"
)

// calculate changes an integer exactly, and any other number as a float64.
func (e *editor) calculate(at *slot, whole func(n *big.Int), real func(f float64) float64) bool {
	d, ok := parseDecimal(at.node.Text)
	if !ok {
		return false
	}
	if n, ok := d.integer(); ok {
		whole(n)
		return e.put(at, NewNumber(n.String()))
	}
	text := strconv.FormatFloat(real(d.float()), 'g', -1, 64)
	return isNumber(text) && e.put(at, NewNumber(text)) // an infinity is not a JSON number
}

func addNumber(e *editor, at *slot) bool {
	delta := int64(between(e.r, 1, maxArith))
	if chance(e.r, 1, 2) {
		delta = -delta
	}
	return e.calculate(at,
		func(n *big.Int) { n.Add(n, big.NewInt(delta)) },
		func(f float64) float64 { return f + float64(delta) })
}

var factors = [...]int64{2, 10, 1000}

func scaleNumber(e *editor, at *slot) bool {
	factor := pick(e.r, factors[:])
	if chance(e.r, 1, 3) {
		return e.calculate(at,
			func(n *big.Int) { n.Quo(n, big.NewInt(factor)) },
			func(f float64) float64 { return f / float64(factor) })
	}
	return e.calculate(at,
		func(n *big.Int) { n.Mul(n, big.NewInt(factor)) },
		func(f float64) float64 { return f * float64(factor) })
}

func negateNumber(e *editor, at *slot) bool {
	if text, negative := strings.CutPrefix(at.node.Text, "-"); negative {
		return e.put(at, NewNumber(text))
	}
	return e.put(at, NewNumber("-"+at.node.Text))
}

// reformatNumber writes the same number in another notation, half the time one that JSON does not allow.
func reformatNumber(e *editor, at *slot) bool {
	text := at.node.Text
	if !isNumber(text) {
		return false
	}
	if chance(e.r, 1, 2) {
		return e.put(at, NewRaw(pick(e.r, []string{
			"+" + text, "0" + text, "00" + text, text + ".", text + "n", text + "_0", "0x" + text, text + "L", strings.Map(wideDigit, text),
		})))
	}
	var same []string
	if whole := !strings.ContainsAny(text, ".eE"); whole {
		same = append(same, text+".0", text+".000000000000000000000000000000")
		if strings.Trim(text, "-0") != "" { // two leading zeros are not allowed
			same = append(same, text+"0e-1", text+"0000000000e-10")
		}
	}
	if !strings.ContainsAny(text, "eE") {
		same = append(same, text+"e0", text+"E+00", text+"e-0")
	}
	if len(same) == 0 { // only the exponent can have another notation, with more digits
		i := strings.LastIndexAny(text, "eE+-")
		same = append(same, text[:i+1]+"0"+text[i+1:])
	}
	return e.put(at, NewNumber(pick(e.r, same)))
}

func wideDigit(c rune) rune {
	if c >= '0' && c <= '9' {
		return c + 0xfee0
	}
	return c
}
