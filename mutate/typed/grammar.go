package typed

import (
	"math"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Grammar describes a set of texts. It is made by [NewGrammar] or [Pattern] and is immutable, so that it may be used concurrently. Mutants
// of a text match the grammar too: a mutation replaces a part of the derivation by another derivation of the same symbol, as in
// Nautilus (NDSS 2019).
type Grammar struct{ start *symbol }

// operator is the kind of a symbol of a grammar.
type operator uint8

const (
	operatorInvalid operator = iota
	literal                  // a fixed text
	class                    // one rune in ranges
	sequence                 // all parts, one after another
	alternative              // one of the parts
	repetition               // the part, from least to most times
	reference                // the part, which has a name
)

type symbol struct {
	op          operator
	text        string
	ranges      []rune // pairs of the first and the last rune
	parts       []*symbol
	least, most int
	short       int // length of the shortest text, in bytes; math.MaxInt32: there is none
}

// derivation is a node of a derivation tree.
type derivation struct {
	of    *symbol
	text  string // of literals and classes
	parts []*derivation
}

func (d *derivation) render(b []byte) []byte {
	b = append(b, d.text...)
	for _, p := range d.parts {
		b = p.render(b)
	}
	return b
}

// all appends the derivation and all derivations below it, in order.
func (d *derivation) all(out []*derivation) []*derivation {
	out = append(out, d)
	for _, p := range d.parts {
		out = p.all(out)
	}
	return out
}

// measure computes the lengths of the shortest texts, by iteration to a fixed point.
func measure(symbols []*symbol) {
	for _, s := range symbols {
		s.short = math.MaxInt32
	}
	for changed := true; changed; {
		changed = false
		for _, s := range symbols {
			if n := s.shortest(); n < s.short {
				s.short, changed = n, true
			}
		}
	}
}

func (s *symbol) shortest() int {
	n := 0
	switch s.op {
	case literal:
		n = len(s.text)
	case class:
		n = len(string(s.ranges[0]))
	case alternative:
		n = math.MaxInt32
		for _, p := range s.parts {
			n = min(n, p.short)
		}
	case repetition:
		if s.least > 0 {
			n = s.parts[0].short * s.least
		}
	default:
		for _, p := range s.parts {
			n = min(n+p.short, math.MaxInt32)
		}
	}
	return min(n, math.MaxInt32)
}

// derive makes a random text of a symbol with at most about budget bytes.
func (s *symbol) derive(r *teasel.Rand, budget int) *derivation {
	d := &derivation{of: s}
	switch s.op {
	case literal:
		d.text = s.text
	case class:
		d.text = string(s.draw(r))
	case alternative:
		d.parts = []*derivation{s.pick(r, budget).derive(r, budget)}
	case repetition:
		count := s.least
		if room := budget - s.short; room > 0 && s.most > s.least {
			each := max(s.parts[0].short, 1)
			count += r.IntN(1 + min(s.most-s.least, room/each, 8))
		}
		for range count {
			d.parts = append(d.parts, s.parts[0].derive(r, budget/max(count, 1)))
		}
	default:
		spare := max(budget-s.short, 0)
		for _, p := range s.parts {
			share := spare
			if len(s.parts) > 1 && spare > 0 {
				share = r.IntN(spare + 1)
				spare -= share
			}
			d.parts = append(d.parts, p.derive(r, p.short+share))
		}
	}
	return d
}

// pick returns a random alternative that fits into the budget, or the shortest if none does.
func (s *symbol) pick(r *teasel.Rand, budget int) *symbol {
	start := r.IntN(len(s.parts))
	best := s.parts[start]
	for i := range s.parts {
		p := s.parts[(start+i)%len(s.parts)]
		if p.short <= budget {
			return p
		}
		if p.short < best.short {
			best = p
		}
	}
	return best
}

// draw returns a random rune of a class, mostly a printable one, since many classes contain a million others.
func (s *symbol) draw(r *teasel.Rand) rune {
	for range 4 {
		if c := rune(' ' + r.IntN(95)); s.has(c) {
			return c
		}
	}
	i := 2 * r.IntN(len(s.ranges)/2)
	c := s.ranges[i] + r.Int32N(s.ranges[i+1]-s.ranges[i]+1)
	if c >= 0xd800 && c <= 0xdfff { // surrogates are not valid in UTF-8
		return s.ranges[0]
	}
	return c
}

func (s *symbol) has(c rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if c >= s.ranges[i] && c <= s.ranges[i+1] {
			return true
		}
	}
	return false
}

// minimal makes the shortest text of a symbol.
func (s *symbol) minimal() *derivation {
	d := &derivation{of: s}
	switch s.op {
	case literal:
		d.text = s.text
	case class:
		d.text = string(s.ranges[0])
	case alternative:
		best := s.parts[0]
		for _, p := range s.parts {
			if p.short < best.short {
				best = p
			}
		}
		d.parts = []*derivation{best.minimal()}
	case repetition:
		for range s.least {
			d.parts = append(d.parts, s.parts[0].minimal())
		}
	default:
		for _, p := range s.parts {
			d.parts = append(d.parts, p.minimal())
		}
	}
	return d
}

func (g *Grammar) shortest() string { return string(g.start.minimal().render(nil)) }

func (g *Grammar) generate(r *teasel.Rand, budget int) []byte {
	return g.start.derive(r, budget).render(nil)
}

func (g *Grammar) match(text string) bool {
	p := parser{text: text}
	return slices.Contains(p.ends(g.start, 0), len(text))
}

// mutate returns a text with one part of its derivation changed.
func (g *Grammar) mutate(r *teasel.Rand, text string, budget int) []byte {
	root := derive(g, text)
	if root == nil {
		return g.generate(r, budget)
	}
	all := root.all(nil)
	d := all[r.IntN(len(all))]
	switch op := r.IntN(4); {
	case d.of.op == repetition && op == 0 && len(d.parts) > d.of.least:
		at := r.IntN(len(d.parts))
		d.parts = slices.Delete(d.parts, at, at+1)
	case d.of.op == repetition && op < 3 && len(d.parts) < d.of.most:
		at := len(d.parts) // mostly appended to
		if r.IntN(2) == 0 {
			at = r.IntN(len(d.parts) + 1)
		}
		d.parts = slices.Insert(d.parts, at, d.of.parts[0].derive(r, max(budget/4, d.of.parts[0].short)))
	case op == 1: // another part that was derived from the same symbol
		if other := all[r.IntN(len(all))]; other.of == d.of {
			*d = *other.of.copied(other)
		}
	default:
		*d = *d.of.derive(r, max(budget-len(text), 1<<r.IntN(6)))
	}
	return root.render(nil)
}

func (s *symbol) copied(d *derivation) *derivation {
	c := &derivation{of: d.of, text: d.text}
	for _, p := range d.parts {
		c.parts = append(c.parts, s.copied(p))
	}
	return c
}

// simplifications returns texts with a part of the derivation replaced by the shortest one, replaced by a part of itself for the same
// symbol, or removed.
func (g *Grammar) simplifications(text string) (out []string) {
	root := derive(g, text)
	if root == nil {
		return nil
	}
	try := func(d *derivation, by derivation) {
		old := *d
		*d = by
		if s := string(root.render(nil)); len(s) < len(text) || len(s) == len(text) && strings.Compare(s, text) < 0 {
			out = append(out, s)
		}
		*d = old
	}
	for _, d := range root.all(nil) {
		if d.of.op != literal {
			try(d, *d.of.minimal())
		}
		for _, below := range d.all(nil)[1:] {
			if below.of == d.of && d.of.op == reference {
				try(d, *below)
			}
		}
		if d.of.op != repetition {
			continue
		}
		for k := range pieces(len(d.parts)) {
			from, to, _ := piece(len(d.parts), k)
			if len(d.parts)-(to-from) >= d.of.least {
				try(d, derivation{of: d.of, parts: slices.Concat(d.parts[:from], d.parts[to:])})
			}
		}
	}
	return out
}

func (g *Grammar) simpler(text string) int { return len(g.simplifications(text)) }

func (g *Grammar) simplify(text string, k int) []byte { return []byte(g.simplifications(text)[k]) }
