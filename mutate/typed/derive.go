package typed

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parser finds a derivation of a text by a grammar. It remembers where each symbol can end, so that it takes time polynomial in the
// length of the text for all grammars. Grammars with left recursion are rejected before.
type parser struct {
	text string
	memo map[spot][]int
}

type spot struct {
	s  *symbol
	at int
}

// ends returns the positions, sorted, at which a text of s that begins at a position can end.
func (p *parser) ends(s *symbol, at int) []int {
	switch s.op {
	case literal:
		if strings.HasPrefix(p.text[at:], s.text) {
			return []int{at + len(s.text)}
		}
		return nil
	case class:
		c, size := utf8.DecodeRuneInString(p.text[at:])
		if size > 0 && (c != utf8.RuneError || size > 1) && s.has(c) {
			return []int{at + size}
		}
		return nil
	}
	k := spot{s, at}
	if out, ok := p.memo[k]; ok {
		return out
	}
	if p.memo == nil {
		p.memo = map[spot][]int{}
	}
	out := p.compound(s, at)
	slices.Sort(out)
	out = slices.Compact(out)
	p.memo[k] = out
	return out
}

func (p *parser) compound(s *symbol, at int) (out []int) {
	switch s.op {
	case alternative:
		for _, part := range s.parts {
			out = append(out, p.ends(part, at)...)
		}
	case repetition:
		front := []int{at}
		if s.least == 0 {
			out = append(out, at)
		}
		for n := 1; n <= s.most && len(front) > 0; n++ {
			next := p.after(s.parts[0], front)
			if n >= s.least {
				next = slices.DeleteFunc(next, func(e int) bool { return slices.Contains(out, e) }) // no progress
				out = append(out, next...)
			}
			front = next
		}
	default:
		out = []int{at}
		for _, part := range s.parts {
			out = p.after(part, out)
		}
	}
	return out
}

// after returns the positions at which s can end if it begins at any of the given positions.
func (p *parser) after(s *symbol, starts []int) (out []int) {
	for _, at := range starts {
		out = append(out, p.ends(s, at)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// derive returns a derivation of a text, nil if there is none. If there are several, it always returns the same.
func derive(g *Grammar, text string) *derivation {
	p := parser{text: text}
	if !slices.Contains(p.ends(g.start, 0), len(text)) {
		return nil
	}
	return p.build(g.start, 0, len(text))
}

// build returns the derivation of the text between two positions, which must exist.
func (p *parser) build(s *symbol, at, end int) *derivation {
	d := &derivation{of: s}
	switch s.op {
	case literal, class:
		d.text = p.text[at:end]
	case alternative:
		for _, part := range s.parts {
			if slices.Contains(p.ends(part, at), end) {
				d.parts = []*derivation{p.build(part, at, end)}
				break
			}
		}
	case repetition:
		d.parts = p.repeat(s, at, end, 0)
	default:
		d.parts = p.chain(s.parts, at, end)
	}
	return d
}

// chain returns the derivations of consecutive parts, nil if they cannot fill the text between the positions.
func (p *parser) chain(parts []*symbol, at, end int) []*derivation {
	if len(parts) == 0 {
		if at == end {
			return []*derivation{}
		}
		return nil
	}
	for _, e := range p.ends(parts[0], at) {
		if e > end || !slices.Contains(p.reach(parts[1:], e), end) {
			continue
		}
		if rest := p.chain(parts[1:], e, end); rest != nil {
			return append([]*derivation{p.build(parts[0], at, e)}, rest...)
		}
	}
	return nil
}

func (p *parser) reach(parts []*symbol, at int) []int {
	out := []int{at}
	for _, part := range parts {
		out = p.after(part, out)
	}
	return out
}

// repeat returns the derivations of the rest of a repetition, n parts of which lie before at.
func (p *parser) repeat(s *symbol, at, end, n int) []*derivation {
	if at == end && n >= s.least {
		return []*derivation{}
	}
	if n >= s.most {
		return nil
	}
	ends := p.ends(s.parts[0], at)
	for i := len(ends) - 1; i >= 0; i-- { // the longest first
		e := ends[i]
		if e > end || e == at && n >= s.least {
			continue
		}
		if rest := p.repeat(s, e, end, n+1); rest != nil {
			return append([]*derivation{p.build(s.parts[0], at, e)}, rest...)
		}
	}
	return nil
}
