package mutate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseJSON reads one JSON value. It takes what strict decoders refuse but peers send: duplicate names, lone surrogates
// and invalid UTF-8. Values may be nested 10,000 deep. An error names the byte at which the text stopped being JSON.
func ParseJSON(data []byte) (*JSON, error) {
	p := parser{
		text: string(data),
		dec: jsontext.NewDecoder(bytes.NewBuffer(data),
			jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	v, err := p.value()
	if err != nil {
		return nil, p.explain(err)
	}
	if rest := strings.TrimLeft(p.text[p.dec.InputOffset():], " \t\r\n"); rest != "" {
		return nil, fmt.Errorf("parsing JSON: text after the value at byte %d", len(data)-len(rest))
	}
	return v, nil
}

// parser cuts texts out of one copy of the input, so that a tree costs few allocations beside its nodes.
type parser struct {
	text string
	dec  *jsontext.Decoder
}

func (p *parser) explain(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("parsing JSON: %w at byte %d", syntax.Err, syntax.ByteOffset)
	case err == io.EOF:
		return fmt.Errorf("parsing JSON: no value at byte %d", len(p.text))
	}
	return fmt.Errorf("parsing JSON: %w at byte %d", err, p.dec.InputOffset())
}

func (p *parser) value() (*JSON, error) {
	switch p.dec.PeekKind() {
	case '[':
		return p.array()
	case '{':
		return p.object()
	}
	token, err := p.scalar()
	if err != nil {
		return nil, err
	}
	switch token[0] {
	case 'n':
		return NewNull(), nil
	case 't', 'f':
		return &JSON{Kind: Bool, Text: token}, nil
	case '"':
		v := &JSON{Kind: String}
		v.Text, v.read = decodeString(token)
		return v, nil
	}
	return NewNumber(token), nil
}

// scalar reads a value that has no parts and returns it as it stands.
func (p *parser) scalar() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	end := int(p.dec.InputOffset())
	return p.text[end-len(raw) : end], nil
}

func (p *parser) array() (*JSON, error) {
	v := &JSON{Kind: Array}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	for p.dec.PeekKind() != ']' {
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
	}
	_, err := p.dec.ReadToken()
	return v, err
}

func (p *parser) object() (*JSON, error) {
	v := &JSON{Kind: Object}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	for p.dec.PeekKind() != '}' {
		token, err := p.scalar()
		if err != nil {
			return nil, err
		}
		var m Member
		m.Name, m.read = decodeString(token)
		if m.Value, err = p.value(); err != nil {
			return nil, err
		}
		v.Members = append(v.Members, m)
	}
	_, err := p.dec.ReadToken()
	return v, err
}

// decodeString returns the characters of a string token, and the token if we would spell it otherwise.
func decodeString(token string) (string, verbatim) {
	inner := token[1 : len(token)-1]
	if strings.IndexByte(inner, '\\') < 0 && nextSurrogate(inner) < 0 {
		return inner, verbatim{}
	}
	text := unescape(inner)
	if string(appendString(nil, text)) == token {
		return text, verbatim{}
	}
	return text, verbatim{token: token, text: text}
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes the inside of a valid string token. A lone surrogate becomes its three bytes of WTF-8.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			b.WriteByte(unescaped[c])
			continue
		}
		r := hex4(s[:4])
		s = s[4:]
		if utf16.IsSurrogate(r) && strings.HasPrefix(s, `\u`) {
			if pair := utf16.DecodeRune(r, hex4(s[2:6])); pair != utf8.RuneError {
				b.WriteRune(pair)
				s = s[6:]
				continue
			}
		}
		if utf16.IsSurrogate(r) {
			b.Write([]byte{0xed, 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
			continue
		}
		b.WriteRune(r)
	}
}

func hex4(s string) rune {
	n, err := strconv.ParseUint(s, 16, 16)
	if err != nil {
		panic("mutate: internal error: escape of a checked string is broken: " + s)
	}
	return rune(n)
}

// nextSurrogate returns where the first WTF-8 surrogate of s begins, -1 if there is none.
func nextSurrogate(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], 0xed)
		if i < 0 {
			return -1
		}
		i += from
		if isSurrogate(s[i:]) {
			return i
		}
		from = i + 1
	}
}

// isSurrogate reports whether s begins with a WTF-8 surrogate.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf
}

// surrogateAt decodes the WTF-8 surrogate at the beginning of s.
func surrogateAt(s string) rune {
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// joinSurrogates writes pairs of WTF-8 surrogates as the character that a reader of the escaped pair would see.
func joinSurrogates(s string) string {
	i := nextSurrogate(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		if isSurrogate(s[3:]) {
			if r := utf16.DecodeRune(surrogateAt(s), surrogateAt(s[3:])); r != utf8.RuneError {
				b.WriteRune(r)
				s = s[6:]
				i = nextSurrogate(s)
				continue
			}
		}
		b.WriteString(s[:3])
		s = s[3:]
		i = nextSurrogate(s)
	}
	b.WriteString(s)
	return b.String()
}
