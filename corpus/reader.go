package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// reader reads a JSON text as far as it is valid, and collects what is wrong with it, with its place. Its methods return false when
// the text cannot be read any further.
type reader struct {
	file     string
	data     []byte
	dec      *json.Decoder
	problems []*Problem
}

func newReader(file string, data []byte) *reader {
	return &reader{file: file, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
}

func (r *reader) problem(offset int64, format string, args ...any) *Problem {
	p := &Problem{File: r.file, Line: line(r.data, offset), Offset: offset, Text: fmt.Sprintf(format, args...)}
	r.problems = append(r.problems, p)
	return p
}

// at returns where the next token begins.
func (r *reader) at() int64 {
	at := r.dec.InputOffset()
	for at < int64(len(r.data)) && bytes.IndexByte([]byte(" \t\r\n:,"), r.data[at]) >= 0 {
		at++
	}
	return at
}

// broken notes why the text is not valid JSON, or that the decoder met the wrong kind of token.
func (r *reader) broken(want string) bool {
	var whole json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(r.data, &whole); {
	case len(bytes.TrimSpace(r.data)) == 0:
		r.problem(0, "the file is empty: expected %s", want)
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(r.data)):
		r.problem(int64(len(r.data)), "the file is cut off: expected %s", want)
	case errors.As(err, &syntax):
		r.problem(syntax.Offset-1, "%v: expected %s", err, want)
	default:
		r.problem(r.at(), "expected %s", want)
	}
	return false
}

func (r *reader) delim(want json.Delim, what string) bool {
	at := r.at()
	t, err := r.dec.Token()
	if err != nil {
		return r.broken(what)
	}
	if t != want {
		r.problem(at, "expected %s", what)
		return false
	}
	return true
}

// object calls field with the name of every field of an object; field has to read the value.
func (r *reader) object(what string, field func(name string) bool) bool {
	if !r.delim('{', what) {
		return false
	}
	for r.dec.More() {
		t, err := r.dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return r.broken("a field of " + what)
		}
		if !field(name) {
			return false
		}
	}
	return r.delim('}', "the end of "+what)
}

// array calls element for every element of an array; element has to read it.
func (r *reader) array(what string, element func() bool) bool {
	if !r.delim('[', what) {
		return false
	}
	for r.dec.More() {
		if !element() {
			return false
		}
	}
	return r.delim(']', "the end of "+what)
}

// value reads a value into v; a value of another type is a problem, and is skipped.
func (r *reader) value(v any, want string) bool {
	at := r.at()
	err := r.dec.Decode(v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &syntax) || r.dec.InputOffset() <= at:
		return r.broken(want)
	case errors.As(err, &kind) && kind.Field != "":
		r.problem(at, "expected %s, found %s in %q", want, kind.Value, kind.Field)
	case errors.As(err, &kind):
		r.problem(at, "expected %s, found %s", want, kind.Value)
	default:
		r.problem(at, "expected %s: %v", want, err)
	}
	return true
}

// skip skips a value.
func (r *reader) skip() bool {
	var raw json.RawMessage
	return r.value(&raw, "a value")
}

// end notes what comes after the text.
func (r *reader) end() {
	if at := r.at(); at < int64(len(r.data)) {
		r.problem(at, "expected nothing after the object")
	}
}
