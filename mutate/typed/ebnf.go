package typed

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
	"text/scanner"
	"unicode"
)

// NewGrammar parses a grammar in the notation of the Go specification; the first production is the start symbol. White space between
// tokens of a text must be part of the grammar.
//
//	Sum    = Number { ( "+" | "-" ) Number } .
//	Number = "1" … "9" { "0" … "9" } .
//
// A production must not be left recursive. The error tells the position and what was expected.
func NewGrammar(productions string) (*Grammar, error) {
	r := reader{names: map[string]*symbol{}}
	r.s.Init(strings.NewReader(productions))
	r.s.Mode = scanner.ScanIdents | scanner.ScanStrings | scanner.ScanRawStrings | scanner.ScanComments | scanner.SkipComments
	r.s.Error = func(_ *scanner.Scanner, msg string) { r.fail("%s", msg) }
	r.next()
	for r.err == nil && r.tok != scanner.EOF {
		r.production()
	}
	if r.err != nil {
		return nil, fmt.Errorf("reading a grammar: %w", r.err)
	}
	return r.finish()
}

// reader parses productions by recursive descent.
type reader struct {
	s       scanner.Scanner
	tok     rune
	names   map[string]*symbol
	order   []string // names in the order of their first use
	start   *symbol
	symbols []*symbol
	err     error
}

func (r *reader) next() { r.tok = r.s.Scan() }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%v: %w", r.s.Pos(), fmt.Errorf(format, args...))
	}
}

func (r *reader) expect(c rune) {
	if r.tok != c {
		r.fail("expected %q, got %q", c, r.s.TokenText())
	}
	r.next()
}

func (r *reader) add(s *symbol) *symbol {
	r.symbols = append(r.symbols, s)
	return s
}

func (r *reader) named(name string) *symbol {
	s := r.names[name]
	if s == nil {
		s = r.add(&symbol{op: reference})
		r.names[name] = s
		r.order = append(r.order, name)
	}
	return s
}

func (r *reader) production() {
	name := r.s.TokenText()
	r.expect(scanner.Ident)
	s := r.named(name)
	if len(s.parts) > 0 {
		r.fail("%s has two productions", name)
	}
	if r.start == nil {
		r.start = s
	}
	r.expect('=')
	s.parts = []*symbol{r.expression()}
	r.expect('.')
}

func (r *reader) expression() *symbol {
	alt := []*symbol{r.terms()}
	for r.err == nil && r.tok == '|' {
		r.next()
		alt = append(alt, r.terms())
	}
	if len(alt) == 1 {
		return alt[0]
	}
	return r.add(&symbol{op: alternative, parts: alt})
}

func (r *reader) terms() *symbol {
	var parts []*symbol
	for r.err == nil {
		t := r.term()
		if t == nil {
			break
		}
		parts = append(parts, t)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return r.add(&symbol{op: sequence, parts: parts})
}

func (r *reader) term() *symbol {
	switch r.tok {
	case scanner.Ident:
		s := r.named(r.s.TokenText())
		r.next()
		return s
	case scanner.String, scanner.RawString:
		return r.token()
	case '(', '[', '{':
		open := r.tok
		r.next()
		inner := r.expression()
		switch open {
		case '(':
			r.expect(')')
			return inner
		case '[':
			r.expect(']')
			return r.add(&symbol{op: repetition, parts: []*symbol{inner}, most: 1})
		}
		r.expect('}')
		return r.add(&symbol{op: repetition, parts: []*symbol{inner}, most: math.MaxInt})
	}
	return nil
}

// token parses a literal text, or a range of runes.
func (r *reader) token() *symbol {
	first := r.unquote()
	if r.tok != '…' {
		return r.add(&symbol{op: literal, text: first})
	}
	r.next()
	if r.tok != scanner.String && r.tok != scanner.RawString {
		r.fail("a range has no end")
		return nil
	}
	a, b := []rune(first), []rune(r.unquote())
	if len(a) != 1 || len(b) != 1 || a[0] > b[0] {
		r.fail("a range goes from one character to a later one")
		return nil
	}
	return r.add(&symbol{op: class, ranges: []rune{a[0], b[0]}})
}

func (r *reader) unquote() string {
	s, err := strconv.Unquote(r.s.TokenText())
	if err != nil {
		r.fail("%s is no string", r.s.TokenText())
	}
	r.next()
	return s
}

func (r *reader) finish() (*Grammar, error) {
	if r.start == nil {
		return nil, errors.New("reading a grammar: it has no production")
	}
	for _, name := range r.order {
		if len(r.names[name].parts) == 0 {
			return nil, fmt.Errorf("reading a grammar: %s has no production", name)
		}
	}
	measure(r.symbols)
	for _, name := range r.order {
		s := r.names[name]
		if s.short == math.MaxInt32 {
			return nil, fmt.Errorf("reading a grammar: %s derives no finite text", name)
		}
		if begins(s, s, map[*symbol]bool{}) {
			return nil, fmt.Errorf("reading a grammar: %s is left recursive: it begins with itself", name)
		}
	}
	return &Grammar{r.start}, nil
}

// begins reports whether a text of s may begin with one of what.
func begins(s, what *symbol, seen map[*symbol]bool) bool {
	if seen[s] {
		return false
	}
	seen[s] = true
	for _, p := range s.parts {
		if p == what || begins(p, what, seen) {
			return true
		}
		if s.op != alternative && p.short > 0 {
			return false
		}
	}
	return false
}

// Pattern returns the grammar of the texts that a regular expression matches entirely. Word boundaries, and anchors in the middle of the
// expression, are not supported and are an error.
func Pattern(expression string) (*Grammar, error) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("reading a pattern: %w", err)
	}
	var symbols []*symbol
	start, err := fromRegexp(re, &symbols)
	if err != nil {
		return nil, fmt.Errorf("reading a pattern: %w", err)
	}
	measure(symbols)
	return &Grammar{start}, nil
}

func fromRegexp(re *syntax.Regexp, all *[]*symbol) (s *symbol, err error) {
	s = &symbol{}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		s.op = sequence
	case syntax.OpLiteral:
		s.op, s.text = literal, string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			s.op, s.text = sequence, ""
			for _, c := range re.Rune {
				s.parts = append(s.parts, folded(c))
			}
			*all = append(*all, s.parts...)
		}
	case syntax.OpCharClass:
		if s.op, s.ranges = class, re.Rune; len(re.Rune) == 0 {
			return nil, errors.New("it matches nothing")
		}
	case syntax.OpAnyChar:
		s.op, s.ranges = class, []rune{0, unicode.MaxRune}
	case syntax.OpAnyCharNotNL:
		s.op, s.ranges = class, []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.OpStar:
		s.op, s.most = repetition, math.MaxInt
	case syntax.OpPlus:
		s.op, s.least, s.most = repetition, 1, math.MaxInt
	case syntax.OpQuest:
		s.op, s.most = repetition, 1
	case syntax.OpRepeat:
		if s.op, s.least, s.most = repetition, re.Min, re.Max; re.Max < 0 {
			s.most = math.MaxInt
		}
	case syntax.OpCapture, syntax.OpConcat:
		s.op = sequence
	case syntax.OpAlternate:
		s.op = alternative
	default:
		return nil, fmt.Errorf("%s is not supported", re)
	}
	for _, sub := range re.Sub {
		p, err := fromRegexp(sub, all)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, p)
	}
	*all = append(*all, s)
	return s, nil
}

func folded(c rune) *symbol {
	s := &symbol{op: class}
	for f := c; ; {
		s.ranges = append(s.ranges, f, f)
		if f = unicode.SimpleFold(f); f == c {
			return s
		}
	}
}
