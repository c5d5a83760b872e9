package model

import (
	"errors"
	"fmt"
	"strings"
)

// A Problem is one thing that is wrong with a model's file.
type Problem struct {
	File      string
	Line, Col int    // 0: unknown
	Field     string // where in the model, such as messages.connect.flags
	Offset    int    // byte of a seed; -1: it is not about a seed
	Reason    string
	Hint      string // what to do about it; "": the reason says it all
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Col)
	}
	b.WriteString(": ")
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	if p.Offset >= 0 {
		fmt.Fprintf(&b, "byte %d: ", p.Offset)
	}
	b.WriteString(p.Reason)
	return b.String()
}

// Problems returns the problems that an error of [Load] or [Parse] consists of; nil if it is another error.
func Problems(err error) []*Problem {
	if p, ok := errors.AsType[*Problem](err); ok && p == err {
		return []*Problem{p}
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var all []*Problem
	for _, e := range joined.Unwrap() {
		all = append(all, Problems(e)...)
	}
	return all
}

// A ParseError says where bytes stopped being a message.
type ParseError struct {
	Message string // the message that they were read as
	Field   string // path of the field
	Offset  int    // in bytes
	Reason  string
}

func (e *ParseError) Error() string {
	at := e.Message
	if e.Field != "" {
		at += "." + e.Field
	}
	return fmt.Sprintf("%s: byte %d: %s", at, e.Offset, e.Reason)
}
