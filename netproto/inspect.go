package netproto

import (
	"context"
	"errors"
	"strings"

	"github.com/teaselfuzz/teasel/netproto/conn"
)

// Server is what is known of a server before it is fuzzed.
type Server struct {
	Address  string // as the user gave it
	Command  []string
	Model    string // its title, or short name; "": none
	Counts   bool   // it says what a dialogue reaches in it
	Keep     bool   // dialogues share a connection
	Own      bool   // each worker can have one of its own
	Warnings []string
}

// String says in a line what is fuzzed.
func (s Server) String() string {
	who := "the server at " + s.Address
	if len(s.Command) > 0 {
		who = s.Command[0] + " at " + s.Address
	}
	what := "without coverage"
	if s.Counts {
		what = "with coverage"
	}
	speaks := "messages are bytes"
	if s.Model != "" {
		speaks = "it speaks " + s.Model
	}
	how := "a new connection for each dialogue"
	if s.Keep {
		how = "one connection for all dialogues"
	}
	return strings.Join([]string{who, what, speaks, how}, ", ")
}

// Inspect starts the server once, connects to it, and says what it is.
func (t Target) Inspect(ctx context.Context) (Server, error) {
	s := Server{Address: t.Address, Command: t.Command, Keep: t.Keep}
	e, err := t.open(ctx)
	if err != nil {
		return s, err
	}
	s.Counts = e.coverage != nil
	s.Own = len(t.Command) == 0 || t.ownAddress()
	if m := t.Model; m != nil {
		s.Model = m.ID
		if m.Title != "" {
			s.Model = m.Title
		}
	}
	if len(t.Command) > 0 && !s.Own {
		s.Warnings = append(s.Warnings, "the command names its port: only one worker can fuzz it (write {port} for the port to have more)")
	}
	if e.once {
		s.Warnings = append(s.Warnings, "the server ends with status 0 when a client closes its connection: it is started anew for each, which takes time, and its end is no finding")
	}
	if len(t.Command) == 0 {
		s.Warnings = append(s.Warnings, "without a command the server can be neither watched nor started again: coverage, hangs and leaks are not seen, and findings are confirmed on the server as it is")
		if !e.address.Loopback() {
			s.Warnings = append(s.Warnings, "messages leave this machine: be sure that "+t.Address+" is yours to fuzz")
		}
	}
	return s, errors.Join(e.Close(), ctx.Err())
}

func (t Target) ownAddress() bool {
	a, err := conn.ParseAddress(t.Address)
	return err == nil && a.Own()
}
