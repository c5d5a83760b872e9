package netproto

import (
	"context"
	"errors"
	"strings"

	"github.com/teaselfuzz/teasel/netproto/conn"
)

// Server is what is known of a server before it is fuzzed.
type Server struct {
	Address string // as the user gave it
	Command []string
	Model   string // its title, or short name; "": none
	Counts  bool   // it says what a dialogue reaches in it
	Keep    bool   // dialogues share a connection
	Own     bool   // each worker can have one of its own, if need be with Target.Namespace
	// Namespace is set if each worker's is in a network namespace of its own.
	Namespace bool
	Warnings  []string
	Ready     *Ready // it goes on to run, and belongs to the caller
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
	parts := []string{who, what, speaks, how}
	if s.Namespace {
		parts = append(parts, "a network namespace for each worker's server")
	}
	return strings.Join(parts, ", ")
}

// Inspect starts the server once, connects to it, and says what it is. Where Namespace is set and cannot be had, the server is started
// without one, and a warning says why.
func (t Target) Inspect(ctx context.Context) (Server, error) {
	return t.inspect(ctx, conn.NamespaceAllowed)
}

func (t Target) inspect(ctx context.Context, allowed func() error) (Server, error) {
	s := Server{Address: t.Address, Command: t.Command, Keep: t.Keep}
	alone, fixed, err := t.alone(allowed)
	if err != nil {
		return s, err
	}
	s.Own = alone == ""
	s.Namespace = t.Namespace && fixed && s.Own
	t.Namespace = s.Namespace
	e, err := t.open(ctx)
	if err != nil {
		return s, err
	}
	s.Counts = e.coverage != nil
	if m := t.Model; m != nil {
		s.Model = m.ID
		if m.Title != "" {
			s.Model = m.Title
		}
	}
	if !s.Own {
		s.Warnings = append(s.Warnings, alone)
	}
	if e.server != nil && e.server.Daemon() {
		s.Warnings = append(s.Warnings, "the server goes into the background and is followed there, which makes a start slower; a flag such as -F, -f, -n or --nodaemon may keep it in the foreground")
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
	s.Ready = new(Ready)
	s.Ready.e.Store(e)
	if err := ctx.Err(); err != nil {
		return s, errors.Join(err, s.Ready.Close())
	}
	return s, nil
}

// alone says why only one worker can fuzz the server, and what changes that; "": each can have one of its own, or it is not ours
// to start. fixed says that it is ours and that its address has no placeholder. allowed says whether network namespaces can be made.
func (t Target) alone(allowed func() error) (why string, fixed bool, err error) {
	a, err := conn.ParseAddress(t.Address)
	switch {
	case err != nil:
		return "", false, err
	case len(t.Command) == 0 || a.Own():
		return "", false, nil
	case a.Network == conn.Unix:
		return "the command names its socket: only one worker can fuzz it (write {socket} for the path to have more)", true, nil
	case !a.Loopback():
		return "the command names its port, and " + a.Host + " is not on the loopback interface: only one worker can fuzz it (write {port} for the port, or let it listen on 127.0.0.1, to have more)", true, nil
	}
	refusal := allowed()
	if refusal == nil {
		return "", true, nil
	}
	text, way := refusal.Error(), "write {port} for the port"
	var in *StartError
	if errors.As(refusal, &in) {
		text = in.Reason
		if in.Hint != "" {
			way += "; or " + in.Hint
		}
	}
	return "the command names its port, and " + text + ": only one worker can fuzz it (to have more, " + way + ")", true, nil
}
