package main

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// value is one JSON value exactly as it stood on the wire, without white space around it; nil means absent.
// Nothing is decoded before somebody asks, so an id keeps its text and the depth of a message costs no stack.
type value []byte

// member is one name and value of an object.
type member struct {
	name string
	val  value
}

var errSyntax = errors.New("not a JSON text")

// parse checks that data is one JSON text by RFC 8259 and UTF-8, of any depth, and returns it without the white space around it.
func parse(data []byte) (value, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: not UTF-8", errSyntax)
	}
	c := checker{data: data}
	start := c.space(0)
	end, ok := c.text(start)
	if !ok || c.space(end) != len(data) {
		return nil, fmt.Errorf("%w: at byte %d", errSyntax, c.far)
	}
	return value(data[start:end]), nil
}

// checker walks over a JSON text with a stack of its own: Go's would overflow at some hundred megabytes of brackets.
type checker struct {
	data []byte
	open []byte // the brackets that wait to be closed
	far  int    // how far it came, for the message
}

func (c *checker) space(i int) int {
	for i < len(c.data) && (c.data[i] == ' ' || c.data[i] == '\t' || c.data[i] == '\n' || c.data[i] == '\r') {
		i++
	}
	c.far = i
	return i
}

func (c *checker) at(i int) byte {
	if i < len(c.data) {
		return c.data[i]
	}
	return 0
}

// text checks one value that starts at i and returns where it ends.
func (c *checker) text(i int) (int, bool) {
	for {
		ok := true
		switch b := c.at(i); b {
		case '{', '[':
			c.open = append(c.open, b)
			if i = c.space(i + 1); c.at(i) == b+2 { // '}' is '{'+2 and ']' is '['+2
				break
			}
			if b == '{' {
				if i, ok = c.name(i); !ok {
					return i, false
				}
			}
			continue
		default:
			if i, ok = c.scalar(i); !ok {
				return i, false
			}
		}
		var more bool
		if i, more, ok = c.after(i); !ok || !more {
			return i, ok
		}
	}
}

// after goes on behind a value: it closes brackets, and says whether another value has to follow.
func (c *checker) after(i int) (next int, more, ok bool) {
	for len(c.open) > 0 {
		i = c.space(i)
		top := c.open[len(c.open)-1]
		switch c.at(i) {
		case top + 2:
			c.open = c.open[:len(c.open)-1]
			i++
		case ',':
			i = c.space(i + 1)
			if top == '{' {
				i, ok = c.name(i)
				return i, ok, ok
			}
			return i, true, true
		default:
			return i, false, false
		}
	}
	return i, false, true
}

// name checks a member's name and colon.
func (c *checker) name(i int) (int, bool) {
	i, ok := c.str(i)
	if !ok {
		return i, false
	}
	if i = c.space(i); c.at(i) != ':' {
		return i, false
	}
	return c.space(i + 1), true
}

func (c *checker) scalar(i int) (int, bool) {
	switch b := c.at(i); {
	case b == '"':
		return c.str(i)
	case b == 't':
		return c.word(i, "true")
	case b == 'f':
		return c.word(i, "false")
	case b == 'n':
		return c.word(i, "null")
	case b == '-' || b >= '0' && b <= '9':
		return c.number(i)
	}
	return i, false
}

func (c *checker) word(i int, word string) (int, bool) {
	end := i + len(word)
	return end, end <= len(c.data) && string(c.data[i:end]) == word
}

func (c *checker) digits(i int) (int, bool) {
	start := i
	for b := c.at(i); b >= '0' && b <= '9'; b = c.at(i) {
		i++
	}
	c.far = i
	return i, i > start
}

func (c *checker) number(i int) (int, bool) {
	if c.at(i) == '-' {
		i++
	}
	ok := true
	if c.at(i) == '0' {
		i++
	} else if i, ok = c.digits(i); !ok {
		return i, false
	}
	if c.at(i) == '.' {
		if i, ok = c.digits(i + 1); !ok {
			return i, false
		}
	}
	if b := c.at(i); b == 'e' || b == 'E' {
		if i++; c.at(i) == '+' || c.at(i) == '-' {
			i++
		}
		i, ok = c.digits(i)
	}
	return i, ok
}

func (c *checker) str(i int) (int, bool) {
	if c.at(i) != '"' {
		return i, false
	}
	for i++; i < len(c.data); i++ {
		switch b := c.data[i]; {
		case b == '"':
			return i + 1, true
		case b < 0x20:
			c.far = i
			return i, false
		case b == '\\':
			n, ok := c.escape(i + 1)
			if !ok {
				c.far = i
				return i, false
			}
			i = n
		}
	}
	c.far = i
	return i, false
}

// escape checks what follows a backslash and returns its last byte.
func (c *checker) escape(i int) (int, bool) {
	switch c.at(i) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i, true
	case 'u':
		for k := 1; k <= 4; k++ {
			if _, ok := hex(c.at(i + k)); !ok {
				return i, false
			}
		}
		return i + 4, true
	}
	return i, false
}

func hex(b byte) (rune, bool) {
	switch {
	case b >= '0' && b <= '9':
		return rune(b - '0'), true
	case b >= 'a' && b <= 'f':
		return rune(b-'a') + 10, true
	case b >= 'A' && b <= 'F':
		return rune(b-'A') + 10, true
	}
	return 0, false
}

// skip returns the end of the value at i of a text that parse has checked.
func skip(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
