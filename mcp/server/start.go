package server

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// StartError says why a server could not be used at all. Its text is one sentence; Stderr and Hint are for the lines
// below it.
type StartError struct {
	Command []string
	silent  bool // nobody listens at its address
	refused bool // it answered initialize, with an error or a status
	// declined says of one that has refused that it may have its reasons: it did so with a message, or for what the client is or does.
	declined bool
	status   int    // HTTP status of the answer; 0: there is none
	Running  bool   // it was not started by us, and Command is its URL
	What     string // what happened, a sentence's second half: "exited with status 1 before it answered"
	Stderr   string // the last lines that it wrote there, without a newline at the end; "": none
	Hint     string // what may help; "": nothing comes to mind
	Err      error  // nil: it was the server's doing
}

// Error implements error.
func (e *StartError) Error() string {
	doing := "starting server"
	if e.Running {
		doing = "connecting to server"
	}
	return fmt.Sprintf("%s %q: %s", doing, strings.Join(e.Command, " "), e.What)
}

// Declined reports whether the server has answered, and may have its reasons for not serving the client: it said so with a message, or with a
// status that says that it should come later, or with other credentials.
func (e *StartError) Declined() bool { return e.declined }

// Unwrap returns the operating system's reason, if that is what it was.
func (e *StartError) Unwrap() error { return e.Err }

// Refused reports whether nobody listens at the server's address.
func (e *StartError) Refused() bool { return e.silent }

// RefusesHandshake reports whether an error says that a server answered initialize and refused it.
func RefusesHandshake(err error) bool {
	var e *StartError
	return errors.As(err, &e) && e.refused
}

// failed returns what is true of each error: whose server it is.
func (c *Command) failed(what string) *StartError {
	return &StartError{Command: c.name(), Running: len(c.Args) == 0, What: what}
}

// launchError is for a command that could not be run.
func (c *Command) launchError(err error) *StartError {
	e := &StartError{Command: c.Args, What: "the command cannot be run: " + err.Error(), Err: err}
	name := ""
	if len(c.Args) > 0 {
		name = c.Args[0]
	}
	if name == "" {
		e.What, e.Hint = "no command was given", "put the server's command after --, for example: -- npx -y some-server"
	} else if what, hint := proc.StartFailure(name, err); what != "" {
		e.What, e.Hint = what, hint
	}
	return e
}

// endedError is for a server that ended before it was ready.
func (c *Command) endedError(end script.End, during string) *StartError {
	e := c.failed("")
	e.Stderr = lastLines(end.Stderr)
	switch {
	case e.Running:
		e.What = "closed the connection before it had answered " + during
	case end.Closed:
		e.What = "closed its standard output before it had answered " + during
		e.Hint = "an MCP server over stdio writes its answers there; is this one?"
	case end.Kind == script.EndSignalled:
		e.What = fmt.Sprintf("died of a signal (%s) before it had answered %s", end.Signal, during)
	default:
		e.What = fmt.Sprintf("exited with status %d before it had answered %s", end.Code, during)
		e.Hint = "run the command by hand: it may want arguments or environment variables (--env NAME=value)"
		if end.Code == 0 {
			e.Hint = "is it a server over stdio? Some need an argument for that, some speak HTTP only"
		}
	}
	return e
}

// brokenError is for a server that does not take what we write and runs on.
func (c *Command) brokenError(end script.End, during string) *StartError {
	e := c.failed("closed its standard input before it had read " + during)
	e.Stderr, e.Hint = lastLines(end.Stderr), "an MCP server over stdio reads its requests there; is this one?"
	return e
}

// silentError is for a server that runs but does not answer. noise is a line it wrote that is no message.
func (c *Command) silentError(noise, stderr []byte, during string) *StartError {
	e := c.failed(fmt.Sprintf("did not answer %s within %v", during, c.startTimeout()))
	e.Stderr = lastLines(stderr)
	switch {
	case noise != nil:
		e.What = fmt.Sprintf("wrote %s instead of an answer to %s", quoteLine(noise), during)
		e.Hint = "standard output must carry nothing but messages; is this an MCP server over stdio?"
	case e.Running:
		e.Hint = "is this an MCP server? If it is only slow, raise --start-timeout"
	default:
		e.Hint = "if it is slow to start (a first npx or uvx run downloads it), run the command once by hand or raise --start-timeout"
	}
	return e
}

// floodError says that a server wrote without end while it was started.
func (c *Command) floodError(stderr []byte, during string) *StartError {
	e := c.failed("flooded its standard output before it had answered " + during)
	e.Stderr, e.Hint = lastLines(stderr), "standard output must carry nothing but messages; is this an MCP server over stdio?"
	if e.Running {
		e.What, e.Hint = "wrote without end before it had answered "+during, ""
	}
	return e
}

const (
	shownLines = 10
	// shownBytes is how much of a line, or of an answer, an error shows.
	shownBytes = 200
)

// lastLines returns the last few lines of what was written to standard error.
func lastLines(stderr []byte) string {
	ls := bytes.Split(bytes.TrimRight(stderr, " \t\r\n"), []byte("\n"))
	ls = ls[max(0, len(ls)-shownLines):]
	for i, l := range ls {
		if l = bytes.TrimRight(l, "\r"); len(l) > 2*shownBytes {
			l = append(l[:2*shownBytes:2*shownBytes], "..."...)
		}
		ls[i] = l
	}
	return string(bytes.Join(ls, []byte("\n")))
}

func quoteLine(line []byte) string {
	if len(line) > shownBytes {
		return fmt.Sprintf("%q...", line[:shownBytes])
	}
	return fmt.Sprintf("%q", line)
}
