package script

import (
	"bytes"
	"slices"
)

// Start says where a script runs.
type Start uint8

const (
	// StartInvalid is no start.
	StartInvalid Start = iota
	Shared             // in the session that is up: the handshake is done, other scripts may be in flight
	Fresh              // on a process of its own; the script's first step is the first line the server sees
)

// Script is the input of an MCP campaign: what one client says, in order.
//
// Lines may have placeholders, which are replaced when they are sent: "@id" with its quotes becomes a fresh integer id, "@id:K" the id
// that step K was sent with, "@id:K:s" the same as a string, and @{K:/pointer} what the JSON pointer names in the result of step K.
// docs/mcp.md lists all of them.
type Script struct {
	Start Start  // the zero value is not valid
	Check string // name of the systematic check that made it and whose detector compares its answers; "": none
	Steps []Step
}

// Step is one line of a script.
type Step struct {
	// Line is what goes on the wire, byte for byte and without the newline, except for placeholders: see [Script].
	Line      []byte
	NoWait    bool   // the next step is sent before this one is answered
	NoNewline bool   // no newline is written after it
	Close     bool   // standard input is closed after it; only in a Fresh script
	Head      string // over HTTP, how the head of its request differs from that of every other, a change a line: see [conn.HTTP]
	Times     int    // how often it is sent, each time with an id of its own; 0: once

	// Asked says that the line is not sent in its turn, but when the server sends a request of this method: each such step answers one,
	// in their order. An empty Line leaves it without an answer. What no step answers, [session.Client] does.
	Asked string
}

// Size returns how many bytes the script's lines have, repetitions included.
func (s *Script) Size() (n int) {
	for i := range s.Steps {
		n += len(s.Steps[i].Line) * max(s.Steps[i].Times, 1)
	}
	return n
}

// Same reports whether two scripts send the same, labels left out.
func Same(a, b *Script) bool {
	return a.Start == b.Start && slices.EqualFunc(a.Steps, b.Steps, func(x, y Step) bool {
		return x.flags() == y.flags() && x.Head == y.Head && x.Asked == y.Asked && x.Times == y.Times && bytes.Equal(x.Line, y.Line)
	})
}
