package mutate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseJSON reads one JSON value. It takes what strict decoders refuse but peers send: duplicate names, lone surrogates
// and invalid UTF-8. Values may be nested 10,000 deep. An error names the byte at which the text stopped being JSON.
func oldParseJSON(data []byte) (*JSON, error) {
	p := oldParser{
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
type oldParser struct {
	text string
	dec  *jsontext.Decoder
}

func (p *oldParser) explain(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("parsing JSON: %w at byte %d", syntax.Err, syntax.ByteOffset)
	case err == io.EOF:
		return fmt.Errorf("parsing JSON: no value at byte %d", len(p.text))
	}
	return fmt.Errorf("parsing JSON: %w at byte %d", err, p.dec.InputOffset())
}

func (p *oldParser) value() (*JSON, error) {
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
func (p *oldParser) scalar() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	end := int(p.dec.InputOffset())
	return p.text[end-len(raw) : end], nil
}

func (p *oldParser) array() (*JSON, error) {
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

func (p *oldParser) object() (*JSON, error) {
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
