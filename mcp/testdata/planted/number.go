package main

import (
	"math"
	"strconv"
	"strings"
)

// decimal is the exact value of a number's text: ±digits × 10^exp, where digits has no zero at either end and "" is zero.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// exponents beyond this are all the same to us, and it keeps sums in range.
const farExponent = 1 << 40

func (v value) decimal() decimal {
	s := string(v)
	var d decimal
	s, d.neg = strings.CutPrefix(s, "-")
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		e, err := strconv.ParseInt(s[at+1:], 10, 64)
		if err != nil || e > farExponent || e < -farExponent {
			e = farExponent
			if s[at+1] == '-' {
				e = -e
			}
		}
		d.exp, s = int(e), s[:at]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	d.exp -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exp += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) isInteger() bool { return d.exp >= 0 }

// key is the same text for the same value, however it was written.
func (d decimal) key() string {
	sign := ""
	if d.neg {
		sign = "-"
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exp)
}

// integer returns a whole number; outside of int64 it is the nearest end.
func (d decimal) integer() int64 {
	const most = 19
	if len(d.digits)+d.exp <= most {
		s := d.digits + strings.Repeat("0", d.exp)
		if s == "" {
			return 0
		}
		if d.neg {
			s = "-" + s
		}
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	if d.neg {
		return math.MinInt64
	}
	return math.MaxInt64
}

func (v value) isInteger() bool { return v.isNumber() && v.decimal().isInteger() }

// float returns the nearest float64, an infinity beyond its range.
func (v value) float() float64 {
	f, _ := strconv.ParseFloat(string(v), 64)
	return f
}
