package server

import (
	"context"
	"errors"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Bounds of what is asked before a campaign to learn what a server knows, and of what is kept of it.
const (
	maxLookedAt = 24
	learnLimit  = 3 * time.Second // for all of it
)

// Learn calls those of the chosen tools that only read, once each with plain arguments, and reads some resources. What
// their answers show under the name of an argument, such as the keys of what there is, goes into the session's Learned:
// with a key that the server has, a call gets further than with one that it has not. A server that refuses, falls silent or
// dies meanwhile teaches less, which is no error: what is wrong with it is the campaign's business.
func (v *Visit) Learn(ctx context.Context, choice *session.Choice) error {
	var shown observe.Note
	deadline := time.Now().Add(learnLimit)
	preparing, stop := context.WithDeadline(ctx, deadline)
	defer stop()
	for i, line := range lookingLines(preparing, v.Session, choice) {
		answer, _, err := v.server.call(ctx, line, min(v.command.timeout(), completionLimit, time.Until(deadline)))
		if errors.Is(err, errSilent) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			break
		}
		if answer.Result != nil && !answer.IsRefusal() {
			shown.AddCaptures(i, answer.Result)
		}
	}
	v.Session.Learned = shown.ByName(session.ArgumentNames(v.Session, choice))
	return ctx.Err()
}

// lookingLines are the requests that are made to see what there is. None names a tool that must not be called: an argument
// may do so, and many a server that finds a name calls it. When the context ends, the tools that were not prepared by then
// are left out.
func lookingLines(ctx context.Context, sess *session.Session, choice *session.Choice) (lines [][]byte) {
	blocked := script.NewBlocklist(sess, choice.Blocks, nil)
	add := func(line []byte) {
		if len(lines) < maxLookedAt && blocked.Mentions(nil, line) == "" {
			lines = append(lines, line)
		}
	}
	for i := range choice.Tools {
		if len(lines) == maxLookedAt || ctx.Err() != nil {
			break
		}
		if traits := session.TraitsOf(&choice.Tools[i]); traits.Reads && !traits.Slow {
			add(new(session.Catalog).Prepare(&choice.Tools[i]).Call())
		}
	}
	for i := range sess.Resources {
		add(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", sess.Resources[i].URI)))
	}
	return lines
}
