package mutate

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseJSON parses one JSON value. It accepts duplicate names, lone surrogates and invalid UTF-8, which strict decoders reject but
// peers send. Values may be nested 10,000 deep. An error tells the byte at which the text is not valid. It may be called concurrently.
func ParseJSON(data []byte) (*JSON, error) { return new(JSONParser).Parse(data) }

// JSONParser parses texts into memory that it reuses. For few texts, or to keep the trees, use [ParseJSON]. The zero value is ready to
// use. It is for one goroutine at a time.
type JSONParser struct {
	text    string // a copy of the input, of which the texts of the tree are substrings
	at      int
	depth   int
	err     error // of the current text
	nodes   slab[JSON]
	items   slab[*JSON]
	members slab[Member]
	made    int // nodes since the last Reset
	// Stacks of the items and members of the arrays and objects that are still open.
	openItems   []*JSON
	openMembers []Member
}

// Parse is [ParseJSON], but the nodes of the tree are valid only until the next Reset; its strings stay valid. The tree may be changed,
// and parts of it may be moved into other trees, which must not contain them after Reset.
func (p *JSONParser) Parse(data []byte) (*JSON, error) {
	p.text, p.at, p.depth, p.err = string(data), 0, 0, nil
	p.openItems, p.openMembers = p.openItems[:0], p.openMembers[:0]
	v := p.value()
	if v != nil {
		if p.space(); p.at < len(p.text) {
			p.fail(p.at, errors.New("text after the value"))
		}
	}
	p.text = ""
	if p.err != nil {
		return nil, p.err
	}
	return v, nil
}

// Copy returns a copy of a tree that is valid until the next Reset; nil if v is nil.
func (p *JSONParser) Copy(v *JSON) *JSON {
	if v == nil {
		return nil
	}
	w := &p.nodes.cut(1, 8)[0]
	w.Kind, w.Text, w.read = v.Kind, v.Text, v.read
	if n := len(v.Items); n > 0 {
		w.Items = p.items.cut(n, 0)
		for i, item := range v.Items {
			w.Items[i] = p.Copy(item)
		}
	}
	if n := len(v.Members); n > 0 {
		w.Members = p.members.cut(n, 8)
		for i, m := range v.Members {
			w.Members[i] = Member{Name: m.Name, Value: p.Copy(m.Value), read: m.read}
		}
	}
	return w
}

// Nodes returns how many nodes the texts had that were parsed since the last Reset: a tree can take fifty times as much memory as its text.
func (p *JSONParser) Nodes() int { return p.made }

// Reset invalidates all trees made since the last Reset and reuses their memory.
func (p *JSONParser) Reset() {
	p.made = 0
	p.nodes.reset()
	p.items.reset()
	p.members.reset()
	if cap(p.openItems) > maxSlab || cap(p.openMembers) > maxSlab {
		p.openItems, p.openMembers = nil, nil
	}
}

// maxJSONDepth is the maximum nesting depth of a text.
const maxJSONDepth = 10000

// fail sets the error. It returns nil, for the caller to return.
func (p *JSONParser) fail(at int, err error) *JSON {
	p.err = fmt.Errorf("parsing JSON: %w at byte %d", err, at)
	return nil
}

// wrong is fail for an invalid next character.
func (p *JSONParser) wrong(where string) *JSON {
	if p.at == len(p.text) {
		return p.fail(p.at, io.ErrUnexpectedEOF)
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	what := strconv.QuoteRune(r)
	if r == utf8.RuneError && n == 1 {
		what = fmt.Sprintf(`'\x%02x'`, p.text[p.at])
	}
	return p.fail(p.at, fmt.Errorf("invalid character %s %s", what, where))
}

func (p *JSONParser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte there, 0 at the end.
func (p *JSONParser) next() byte {
	p.space()
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// node returns a new node.
func (p *JSONParser) node(k Kind) *JSON {
	p.made++
	v := &p.nodes.cut(1, len(p.text)/12)[0]
	v.Kind = k
	return v
}

// value parses a value. It returns nil, and sets err, if there is none.
func (p *JSONParser) value() *JSON {
	switch c := p.next(); c {
	case '"':
		v := p.node(String)
		if !p.str(&v.Text, &v.read) {
			return nil
		}
		return v
	case '{':
		return p.object()
	case '[':
		return p.array()
	case 'n':
		return p.literal(Null, "null")
	case 't':
		return p.literal(Bool, "true")
	case 'f':
		return p.literal(Bool, "false")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	if p.depth == 0 && p.at == len(p.text) {
		return p.fail(p.at, errors.New("no value"))
	}
	return p.wrong("at start of value")
}

func (p *JSONParser) literal(k Kind, text string) *JSON {
	v := p.node(k)
	if strings.HasPrefix(p.text[p.at:], text) {
		if p.at += len(text); k == Bool {
			v.Text = text
		}
		return v
	}
	for i := range len(text) {
		if p.at == len(p.text) || p.text[p.at] != text[i] {
			return p.wrong("in literal " + text + " (expecting " + strconv.QuoteRune(rune(text[i])) + ")")
		}
		p.at++
	}
	return v
}

func (p *JSONParser) number() *JSON {
	v := p.node(Number)
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	ok := true
	if p.at < len(p.text) && p.text[p.at] == '0' {
		p.at++
	} else {
		ok = p.digits(start)
	}
	if ok && p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		ok = p.digits(start)
	}
	if ok && p.at < len(p.text) && p.text[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		ok = p.digits(start)
	}
	if !ok {
		return nil
	}
	v.Text = p.text[start:p.at]
	return v
}

// digits parses one or more digits of the number that begins at start.
func (p *JSONParser) digits(start int) bool {
	from := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	switch {
	case p.at > from:
		return true
	case p.at == len(p.text):
		p.fail(start, io.ErrUnexpectedEOF)
	default:
		p.wrong("in number (expecting digit)")
	}
	return false
}

// enter parses the bracket of an array or object.
func (p *JSONParser) enter() bool {
	if p.depth == maxJSONDepth {
		p.fail(p.at, errors.New("exceeded max depth"))
		return false
	}
	p.depth++
	p.at++
	return true
}

func (p *JSONParser) array() *JSON {
	v := p.node(Array)
	if !p.enter() {
		return nil
	}
	bottom := len(p.openItems)
	for p.next() != ']' {
		item := p.value()
		if item == nil {
			return nil
		}
		if p.openItems == nil {
			p.openItems = make([]*JSON, 0, 8)
		}
		p.openItems = append(p.openItems, item)
		if p.next() != ']' && !p.comma("after array element (expecting ',' or ']')") {
			return nil
		}
	}
	p.at++
	p.depth--
	if n := len(p.openItems) - bottom; n > 0 {
		v.Items = p.items.cut(n, len(p.text)/32)
		copy(v.Items, p.openItems[bottom:])
		p.openItems = p.openItems[:bottom]
	}
	return v
}

func (p *JSONParser) object() *JSON {
	v := p.node(Object)
	if !p.enter() {
		return nil
	}
	bottom := len(p.openMembers)
	for p.next() != '}' {
		var m Member
		if !p.name(&m) {
			return nil
		}
		if m.Value = p.value(); m.Value == nil {
			return nil
		}
		if p.openMembers == nil {
			p.openMembers = make([]Member, 0, 8)
		}
		p.openMembers = append(p.openMembers, m)
		if p.next() != '}' && !p.comma("after object value (expecting ',' or '}')") {
			return nil
		}
	}
	p.at++
	p.depth--
	if n := len(p.openMembers) - bottom; n > 0 {
		v.Members = p.members.cut(n, len(p.text)/16)
		copy(v.Members, p.openMembers[bottom:])
		p.openMembers = p.openMembers[:bottom]
	}
	return v
}

// comma parses a comma, which must be followed by an element.
func (p *JSONParser) comma(where string) bool {
	if p.next() != ',' {
		p.wrong(where)
		return false
	}
	comma := p.at
	p.at++
	if c := p.next(); c == '}' || c == ']' {
		p.at = comma
		p.wrong("at start of value")
		return false
	}
	return true
}

// name parses the name of a member and the colon that follows.
func (p *JSONParser) name(m *Member) bool {
	switch c := p.next(); c {
	case '"':
	case '{', '[', 'n', 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.fail(p.at, errors.New("object member name must be a string"))
		return false
	default:
		p.wrong("at start of value")
		return false
	}
	if !p.str(&m.Name, &m.read) {
		return false
	}
	if p.next() != ':' {
		p.wrong("after object name (expecting ':')")
		return false
	}
	p.at++
	return true
}
