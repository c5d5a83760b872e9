package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/native"
	"github.com/teaselfuzz/teasel/netproto"
)

// InterruptedOr returns [TargetFailure] of err, unless ctx is done: whatever fails after an interrupt fails because of it.
func InterruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &Error{Status: StatusInterrupted}
	}
	return TargetFailure(err)
}

// TargetFailure returns an error for a target that could not be started, with what it has written, and [Failure] of err for any other error.
func TargetFailure(err error) error {
	var server *server.StartError
	var program *native.StartError
	var peer *netproto.StartError
	var command *netproto.CommandError
	var mutator *native.MutatorError
	var test *fuzztest.StartError
	switch {
	case errors.As(err, &server):
		return notStarted(server, server.Stderr, server.Hint)
	case errors.As(err, &peer):
		return notStarted(peer, peer.Stderr, peer.Hint)
	case errors.As(err, &command):
		return &Error{Status: StatusTarget, Err: withOutput(command, "its output: ", command.Output), Hint: command.Hint}
	case errors.As(err, &program):
		return notStarted(program, program.Stderr, program.Hint)
	case errors.As(err, &test):
		return notStarted(test, test.Output, test.Hint)
	case errors.As(err, &mutator):
		text := mutator.Error()
		for i, f := range mutator.Stack {
			text += fmt.Sprintf("\n  #%d %s", i, f)
		}
		return &Error{Status: StatusTarget, Err: errors.New(text), Hint: "the harness has to be mended: what fails is its mutator, not the code under test"}
	}
	return Failure(err)
}

// notStarted returns the error for a target that did not start.
func notStarted(err error, stderr, hint string) error {
	return &Error{Status: StatusTarget, Err: withOutput(err, "its standard error: ", stderr), Hint: hint}
}

// withOutput returns an error with the output of a program below its text.
func withOutput(err error, what, output string) error {
	text := err.Error()
	for _, line := range strings.Split(output, "\n") {
		if line != "" {
			text += "\n  " + what + plain.Text(line)
		}
	}
	return errors.New(text)
}
