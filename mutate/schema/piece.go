package schema

import (
	"math/rand/v2"
	"regexp/syntax"
	"unicode"
)

// piece is a node of a regular expression from which text is generated. It knows the possible numbers of code points, so that a wanted
// length can be divided among its parts.
type piece struct {
	op        syntax.Op
	runes     []rune // of a literal; of a class, pairs of first and last
	printable []rune // of a class, its runes in printable ASCII
	count     int    // of a class, the number of its runes
	fold      bool   // a literal matches in either case
	subs      []*piece
	least     int // repetitions
	most      int
	low, high int // numbers of code points; high is endless if there is no limit
}

const endless = 1 << 30

// shapeOf converts a parsed expression. exact is false if it has an assertion that generated text may violate.
func shapeOf(re *syntax.Regexp) (p *piece, exact bool) {
	begins, ends := anchors(re)
	inner, exact := pieceOf(re, true, true)
	p = &piece{op: syntax.OpConcat}
	if !begins {
		p.subs = append(p.subs, loose())
	}
	p.subs = append(p.subs, inner)
	if !ends {
		p.subs = append(p.subs, loose())
	}
	p.measure()
	return p, exact
}

// loose stands for the text around an expression without anchors.
func loose() *piece {
	any := &piece{op: syntax.OpCharClass, runes: []rune{' ', '~'}}
	any.measure()
	return &piece{op: syntax.OpRepeat, subs: []*piece{any}, least: 0, most: endless, low: 0, high: endless}
}

// anchors reports whether all alternatives of the expression are anchored at the beginning and at the end of the text.
func anchors(re *syntax.Regexp) (begins, ends bool) {
	switch re.Op {
	case syntax.OpBeginText:
		return true, false
	case syntax.OpEndText:
		return false, true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			b, e := anchors(sub)
			begins, ends = begins || b, ends || e
		}
	case syntax.OpCapture:
		return anchors(re.Sub[0])
	case syntax.OpAlternate:
		begins, ends = true, true
		for _, sub := range re.Sub {
			b, e := anchors(sub)
			begins, ends = begins && b, ends && e
		}
	}
	return begins, ends
}

// pieceOf converts a node. first and last tell whether it is at the beginning and the end of the expression, where anchors match.
func pieceOf(re *syntax.Regexp, first, last bool) (*piece, bool) {
	p, exact := &piece{op: re.Op}, true
	switch re.Op {
	case syntax.OpLiteral:
		p.runes, p.fold = re.Rune, re.Flags&syntax.FoldCase != 0
	case syntax.OpCharClass:
		p.runes = re.Rune
	case syntax.OpAnyChar:
		p.op, p.runes = syntax.OpCharClass, []rune{0, unicode.MaxRune}
	case syntax.OpAnyCharNotNL:
		p.op, p.runes = syntax.OpCharClass, []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		sub, ok := pieceOf(re.Sub[0], false, false)
		p.op, p.subs, exact = syntax.OpRepeat, []*piece{sub}, ok
		p.least, p.most = map[syntax.Op]int{syntax.OpPlus: 1}[re.Op], endless
		switch {
		case re.Op == syntax.OpQuest:
			p.most = 1
		case re.Op == syntax.OpRepeat:
			if p.least, p.most = re.Min, re.Max; re.Max < 0 {
				p.most = endless
			}
		}
	case syntax.OpCapture:
		return pieceOf(re.Sub[0], first, last)
	case syntax.OpConcat, syntax.OpAlternate:
		for i, sub := range re.Sub {
			whole := re.Op == syntax.OpAlternate
			child, ok := pieceOf(sub, first && (whole || i == 0), last && (whole || i == len(re.Sub)-1))
			p.subs = append(p.subs, child)
			exact = exact && ok
		}
		if re.Op == syntax.OpAlternate { // if only some alternatives have an anchor, text would be added around them
			b, e := anchors(re)
			for _, sub := range re.Sub {
				sb, se := anchors(sub)
				exact = exact && sb == b && se == e
			}
		}
	case syntax.OpBeginText:
		exact, p.op = first, syntax.OpEmptyMatch
	case syntax.OpEndText:
		exact, p.op = last, syntax.OpEmptyMatch
	case syntax.OpEmptyMatch:
	default: // word boundaries, line anchors, no match
		exact, p.op = false, syntax.OpEmptyMatch
	}
	p.measure()
	return p, exact
}

// measure computes the possible numbers of code points.
func (p *piece) measure() {
	switch p.op {
	case syntax.OpLiteral:
		p.low, p.high = len(p.runes), len(p.runes)
	case syntax.OpCharClass:
		p.low, p.high = 1, 1
		for i := 0; i < len(p.runes); i += 2 {
			p.count += int(p.runes[i+1]-p.runes[i]) + 1
			for c := max(p.runes[i], ' '); c <= min(p.runes[i+1], '~'); c++ {
				p.printable = append(p.printable, c)
			}
		}
	case syntax.OpRepeat:
		p.low, p.high = times(p.subs[0].low, p.least), times(p.subs[0].high, p.most)
	case syntax.OpConcat:
		for _, sub := range p.subs {
			p.low, p.high = min(p.low+sub.low, endless), min(p.high+sub.high, endless)
		}
	case syntax.OpAlternate:
		p.low = endless
		for _, sub := range p.subs {
			p.low, p.high = min(p.low, sub.low), max(p.high, sub.high)
		}
	}
}

func times(a, b int) int {
	if a != 0 && b > endless/a {
		return endless
	}
	return a * b
}

// aim returns a possible length between low and high, mostly a short one.
func (p *piece) aim(r *rand.Rand, low, high int) int {
	low, high = max(low, p.low), min(high, p.high)
	if high <= low {
		return low
	}
	switch r.IntN(8) {
	case 0:
		return low
	case 1:
		if high <= 256 {
			return high
		}
	case 2:
		return low + r.IntN(min(high-low, 64)+1)
	}
	return low + r.IntN(min(high-low, 12)+1)
}

// emit appends text of about want code points.
func (p *piece) emit(r *rand.Rand, buf []rune, want int) []rune {
	switch p.op {
	case syntax.OpLiteral:
		for _, c := range p.runes {
			if p.fold && r.IntN(2) == 0 {
				c = unicode.SimpleFold(c)
			}
			buf = append(buf, c)
		}
	case syntax.OpCharClass:
		buf = append(buf, p.draw(r))
	case syntax.OpConcat:
		buf = p.emitAll(r, buf, want)
	case syntax.OpAlternate:
		buf = p.choose(r, want).emit(r, buf, want)
	case syntax.OpRepeat:
		buf = p.emitRepeated(r, buf, want)
	}
	return buf
}

// emitAll divides want among the parts, each within its range, so that earlier parts get what later parts cannot take.
func (p *piece) emitAll(r *rand.Rand, buf []rune, want int) []rune {
	spare, room := max(0, want-p.low), 0
	for _, sub := range p.subs {
		room = min(room+sub.high-sub.low, endless)
	}
	if room < endless {
		spare = min(spare, room)
	}
	for i, sub := range p.subs {
		own := sub.high - sub.low
		later := 0
		for _, next := range p.subs[i+1:] {
			later = min(later+next.high-next.low, endless)
		}
		least, most := max(0, spare-later), min(own, spare)
		extra := least
		if most > least {
			extra += r.IntN(most - least + 1)
		}
		spare -= extra
		buf = sub.emit(r, buf, sub.low+extra)
	}
	return buf
}

// choose returns a random alternative that can have want code points, or the one that comes closest.
func (p *piece) choose(r *rand.Rand, want int) *piece {
	fitting, nearest, off := 0, p.subs[0], endless
	for _, sub := range p.subs {
		d := max(sub.low-want, want-sub.high, 0)
		if d == 0 {
			if fitting++; r.IntN(fitting) == 0 {
				nearest = sub
			}
		} else if d < off && fitting == 0 {
			nearest, off = sub, d
		}
	}
	return nearest
}

func (p *piece) emitRepeated(r *rand.Rand, buf []rune, want int) []rune {
	sub := p.subs[0]
	least, most := p.least, p.most
	if sub.high > 0 && sub.high < endless {
		least = max(least, (want+sub.high-1)/sub.high)
	} else if want > 0 {
		least = max(least, 1)
	}
	if sub.low > 0 {
		most = min(most, want/sub.low)
	} else {
		most = min(most, want+p.least)
	}
	n := min(least, p.most)
	if most > least {
		n += r.IntN(most - least + 1)
	}
	for i := range n {
		left := n - i
		share := want / left
		if left > 1 && sub.high > sub.low && want > left*sub.low {
			share = sub.low + r.IntN(want-left*sub.low+1)
			share = max(share, want-times(sub.high, left-1))
		}
		share = min(max(share, sub.low), sub.high)
		buf = sub.emit(r, buf, share)
		want = max(0, want-share)
	}
	return buf
}

// draw returns a random rune of a class, seven times of eight printable ASCII if possible.
func (p *piece) draw(r *rand.Rand) rune {
	if n := len(p.printable); n > 0 && (n == p.count || r.IntN(8) > 0) {
		return p.printable[r.IntN(n)]
	}
	for range 8 {
		at := 0
		if p.count > 0 {
			at = r.IntN(p.count)
			if r.IntN(2) == 0 { // the low planes, which contain most scripts
				at = r.IntN(min(p.count, 0x3000))
			}
		}
		for i := 0; i < len(p.runes); i += 2 {
			if n := int(p.runes[i+1]-p.runes[i]) + 1; at < n {
				if c := p.runes[i] + rune(at); c < 0xD800 || c > 0xDFFF {
					return c
				}
				break
			} else {
				at -= n
			}
		}
	}
	if len(p.runes) > 0 {
		return p.runes[0]
	}
	return '?'
}
