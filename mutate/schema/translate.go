package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The white space of ECMA-262, which is more than Go's.
const ecmaSpace = `\t\n\v\f\r \x{A0}\x{FEFF}\x{2028}\x{2029}\p{Zs}`

// translator rewrites an ECMA-262 expression in Go's syntax.
type translator struct {
	in     string
	out    strings.Builder
	class  bool
	atom   int // index in out of the last atom, -1 if there is none
	times  int // product of the nested repetition counts in the last atom
	groups []group
	copied int // bytes that were written for counts above Go's limit
}

// group is an open group.
type group struct {
	atom  int // index in out of its beginning
	times int // maximum of times of its atoms so far
}

func translate(ecma string) (string, error) {
	t := &translator{in: ecma, atom: -1, times: 1}
	for t.in != "" {
		if err := t.step(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

func (t *translator) take(n int, out string) {
	t.in = t.in[n:]
	t.out.WriteString(out)
}

func (t *translator) step() error {
	c := t.in[0]
	if !t.class && c != '{' && c != '*' && c != '+' && c != '?' && c != ')' {
		t.atom, t.times = t.out.Len(), 1
	}
	switch {
	case c == '\\':
		return t.escape()
	case t.class:
		return t.inClass(c)
	case c == '[' && strings.HasPrefix(t.in, "[^]"):
		t.take(3, `(?s:.)`)
	case c == '[' && strings.HasPrefix(t.in, "[]"):
		t.take(2, `[^\x00-\x{10FFFF}]`)
	case c == '[':
		t.class = true
		n := 1
		if strings.HasPrefix(t.in, "[^") {
			n = 2
		}
		t.take(n, t.in[:n])
	case c == '.':
		t.take(1, `[^\n\r\x{2028}\x{2029}]`)
	case c == '(':
		return t.open()
	case c == ')':
		if n := len(t.groups); n > 0 {
			t.atom, t.times = t.groups[n-1].atom, t.groups[n-1].times
			t.groups = t.groups[:n-1]
			t.note()
		}
		t.take(1, ")")
	case c == '{':
		return t.repeat()
	default:
		_, size := utf8.DecodeRuneInString(t.in)
		t.take(size, t.in[:size])
	}
	return nil
}

func (t *translator) inClass(c byte) error {
	switch c {
	case ']':
		t.class = false
		t.take(1, "]")
	case '[':
		t.take(1, `\[`)
	default:
		_, size := utf8.DecodeRuneInString(t.in)
		t.take(size, t.in[:size])
	}
	return nil
}

func (t *translator) open() error {
	for _, unsupported := range []struct{ prefix, what string }{
		{"(?=", "a lookahead that does not follow a leading ^"}, {"(?!", "a lookahead that does not follow a leading ^"},
		{"(?<=", "a lookbehind"}, {"(?<!", "a lookbehind"},
	} {
		if strings.HasPrefix(t.in, unsupported.prefix) {
			return errors.New(unsupported.what + " is not supported")
		}
	}
	t.groups = append(t.groups, group{t.out.Len(), 1})
	n := 1
	if strings.HasPrefix(t.in, "(?") {
		if end := strings.IndexAny(t.in, ":>)"); end > 0 {
			n = end + 1
		}
	}
	out := t.in[:n]
	if strings.HasPrefix(out, "(?<") && strings.HasSuffix(out, ">") {
		out = "(" // the name is not used, and copies of the group must not share it
	}
	t.take(n, out)
	return nil
}

// note updates times of the group around the last atom.
func (t *translator) note() {
	if n := len(t.groups); n > 0 {
		t.groups[n-1].times = max(t.groups[n-1].times, t.times)
	}
}

// Limits, for one expression, of the product of nested counts, and of the text that is written for counts above Go's limit.
const (
	maxTimes  = 1 << 14
	maxCopied = 64 << 10
)

// repeat writes a count above Go's limit, which is a product of 1,000 with nested counts, as several consecutive counts.
func (t *translator) repeat() error {
	limit := max(1000/t.times, 1)
	end := strings.IndexByte(t.in, '}')
	if end < 0 {
		t.take(1, `\{`)
		return nil
	}
	low, high, ranged := strings.Cut(t.in[1:end], ",")
	from, err := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	switch {
	case err != nil || ranged && high != "" && err2 != nil:
		t.take(1, `\{`)
		return nil
	case !ranged:
		to = from
	case high == "":
		to = from
	}
	if from <= limit && to <= limit {
		t.times *= max(to, 1)
		t.note()
		t.take(end+1, t.in[:end+1])
		return nil
	}
	tooMany := t.atom < 0 || from > to || to > maxTimes/t.times
	if !tooMany { // each copy has a count of its own
		t.copied += (t.out.Len() - t.atom + len("{1000,1000}?")) * (to/limit + 2)
	}
	if tooMany || t.copied > maxCopied {
		return fmt.Errorf("the count %s is out of range", t.in[:end+1])
	}
	t.times *= to
	t.note()
	text := t.out.String()
	atom, before := text[t.atom:], text[:t.atom]
	lazy := ""
	if strings.HasPrefix(t.in[end+1:], "?") {
		lazy = "?"
	}
	t.out.Reset()
	t.out.WriteString(before + "(?:")
	for done := 0; done < to; done += limit {
		a, b := min(max(from-done, 0), limit), min(to-done, limit)
		fmt.Fprintf(&t.out, "%s{%d,%d}%s", atom, a, b, lazy)
	}
	if ranged && high == "" {
		t.out.WriteString(atom + "*" + lazy)
	}
	t.out.WriteString(")")
	t.in = t.in[end+1+len(lazy):]
	return nil
}

// escape translates an escape, after its backslash.
func (t *translator) escape() error {
	if len(t.in) < 2 {
		return errors.New("it ends in a backslash")
	}
	rest := t.in[2:]
	switch c := t.in[1]; {
	case c == 'u':
		return t.unicodeEscape(rest)
	case c == 'c' && rest != "" && isLetter(rest[0]):
		t.take(3, fmt.Sprintf(`\x%02X`, rest[0]&31))
	case c == 'x' && len(rest) >= 2 && rest[0] != '{':
		t.take(4, t.in[:4])
	case c == '0':
		t.take(2, `\x00`)
	case c >= '1' && c <= '9' && !t.class, c == 'k' && strings.HasPrefix(rest, "<"):
		return errors.New("a backreference is not supported")
	case c == 's' && t.class:
		t.take(2, ecmaSpace)
	case c == 's':
		t.take(2, "["+ecmaSpace+"]")
	case c == 'S' && !t.class:
		t.take(2, "[^"+ecmaSpace+"]")
	case c == 'b' && t.class:
		t.take(2, `\x08`)
	case c == 'p' || c == 'P':
		return t.property(rest)
	case strings.IndexByte("dDwWSbBtnvfr", c) >= 0:
		t.take(2, t.in[:2])
	case isLetter(c) || c >= '1' && c <= '9':
		t.take(2, string(c)) // an identity escape of ECMA-262
	default:
		_, size := utf8.DecodeRuneInString(t.in[1:])
		out := regexp.QuoteMeta(t.in[1 : 1+size])
		if c == '-' && t.class {
			out = `\-`
		}
		t.take(1+size, out)
	}
	return nil
}

func isLetter(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }

func (t *translator) unicodeEscape(rest string) error {
	if strings.HasPrefix(rest, "{") {
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return errors.New(`\u{ is not closed`)
		}
		t.take(2+end+1, `\x`+rest[:end+1])
		return nil
	}
	if len(rest) < 4 {
		return errors.New(`\u wants four digits`)
	}
	unit, err := strconv.ParseUint(rest[:4], 16, 32)
	if err != nil {
		return errors.New(`\u wants four digits`)
	}
	n := 6
	if unit >= 0xD800 && unit < 0xDC00 && len(rest) >= 10 && rest[4:6] == `\u` {
		low, err := strconv.ParseUint(rest[6:10], 16, 32)
		if err == nil && low >= 0xDC00 && low < 0xE000 {
			unit, n = 0x10000+(unit-0xD800)<<10+(low-0xDC00), 12
		}
	}
	t.take(n, fmt.Sprintf(`\x{%X}`, unit))
	return nil
}

// longProperties are the long names in ECMA-262 of Unicode properties that have short names in Go.
var longProperties = map[string]string{"Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Mark": "M",
	"Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Punctuation": "P", "punct": "P", "Symbol": "S", "Separator": "Z",
	"Space_Separator": "Zs", "Other": "C", "Alphabetic": "L", "Lowercase": "Ll", "Uppercase": "Lu"}

func (t *translator) property(rest string) error {
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest, "{") || end < 0 {
		return errors.New(`\p wants a name in braces`)
	}
	name := rest[1:end]
	if _, value, ok := strings.Cut(name, "="); ok {
		name = value
	}
	if short, ok := longProperties[name]; ok {
		name = short
	}
	t.take(2+end+1, t.in[:2]+"{"+name+"}")
	return nil
}
