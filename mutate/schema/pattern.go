package schema

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is a regular expression of ECMA-262, translated to Go's syntax. Lookbehind, backreferences and lookahead in the middle are not
// supported. Lookaheads that directly follow a leading ^ are conditions on the whole string and become expressions of their own.
type pattern struct {
	source string
	re     *regexp.Regexp
	tree   *piece
	exact  bool // every text that the tree generates matches
	ahead  []lookahead
}

type lookahead struct {
	re      *regexp.Regexp
	tree    *piece
	negated bool
}

var _ jsonschema.Regexp = (*pattern)(nil)

// String returns the expression as written in the schema.
func (p *pattern) String() string { return p.source }

// MatchString reports whether the expression matches somewhere in s.
func (p *pattern) MatchString(s string) bool {
	for i := range p.ahead {
		if p.ahead[i].re.MatchString(s) == p.ahead[i].negated {
			return false
		}
	}
	return p.re.MatchString(s)
}

func newPattern(source string) (*pattern, error) {
	p := &pattern{source: source}
	rest := source
	for after, ok := strings.CutPrefix(rest, "^"); ok && (strings.HasPrefix(after, "(?=") || strings.HasPrefix(after, "(?!")); {
		end := groupEnd(after)
		if end == 0 || hasAlternatives(after[end:]) {
			break
		}
		re, tree, _, err := compileExpression("^(?:" + after[3:end-1] + ")")
		if err != nil {
			return nil, fmt.Errorf("the pattern %q cannot be sampled: %w", source, err)
		}
		p.ahead = append(p.ahead, lookahead{re, tree, after[2] == '!'})
		after = after[end:]
		rest = "^" + after
	}
	var err error
	if p.re, p.tree, p.exact, err = compileExpression(rest); err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be sampled: %w", source, err)
	}
	p.exact = p.exact && len(p.ahead) == 0
	return p, nil
}

func compileExpression(ecma string) (*regexp.Regexp, *piece, bool, error) {
	text, err := translate(ecma)
	if err != nil {
		return nil, nil, false, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, nil, false, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, nil, false, err
	}
	shape, exact := shapeOf(tree)
	return re, shape, exact, nil
}

// outside returns the index of the first byte of text that is outside of character classes and escapes and for which wanted, which gets the
// number of open groups, returns true; -1 if there is none.
func outside(text string, wanted func(c byte, depth int) bool) int {
	depth, class := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			i++
			continue
		case class:
			class = c != ']'
			continue
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if wanted(c, depth) {
			return i
		}
	}
	return -1
}

// groupEnd returns the index after the parenthesis that closes the one at the beginning of text, 0 if there is none.
func groupEnd(text string) int {
	return outside(text, func(c byte, depth int) bool { return c == ')' && depth == 0 }) + 1
}

// hasAlternatives reports whether there is a | outside of all groups.
func hasAlternatives(text string) bool {
	return outside(text, func(c byte, depth int) bool { return c == '|' && depth == 0 }) >= 0
}

// sample draws a string that matches and has between low and high code points. It returns false if it did not find one.
func (p *pattern) sample(r *rand.Rand, low, high int) (string, bool) {
	for try := range 64 {
		want := p.tree.aim(r, low, high)
		buf := p.tree.emit(r, make([]rune, 0, want+8), want)
		if try > 8 {
			buf = p.plant(r, buf)
		}
		s := string(buf)
		if n := len(buf); n < low || n > high {
			continue
		}
		if p.exact || p.MatchString(s) {
			return s, true
		}
	}
	return "", false
}

// plant writes texts that satisfy the lookaheads to random positions of a sample.
func (p *pattern) plant(r *rand.Rand, buf []rune) []rune {
	for i := range p.ahead {
		if p.ahead[i].negated || p.ahead[i].re.MatchString(string(buf)) {
			continue
		}
		part := p.ahead[i].tree.emit(r, nil, p.ahead[i].tree.low)
		if len(part) > 0 && len(part) <= len(buf) {
			copy(buf[r.IntN(len(buf)-len(part)+1):], part)
		}
	}
	return buf
}
