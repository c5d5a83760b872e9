package mcp

import (
	"context"
	"errors"
	"time"
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
func (v *Visit) Learn(ctx context.Context, choice *Choice) error {
	var shown Note
	deadline := time.Now().Add(learnLimit)
	preparing, stop := context.WithDeadline(ctx, deadline)
	defer stop()
	for i, line := range lookingLines(preparing, v.Session, choice) {
		answer, _, err := v.server.call(ctx, line, min(v.target.timeout(), completionLimit, time.Until(deadline)))
		if errors.Is(err, errSilent) && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			break
		}
		if answer.Result != nil && !answer.isRefusal() {
			shown.captures(i, answer.Result)
		}
	}
	v.Session.Learned = shown.byName(argumentNames(v.Session, choice))
	return ctx.Err()
}

// lookingLines are the requests that are made to see what there is. None names a tool that must not be called: an argument
// may do so, and many a server that finds a name calls it. When the context ends, the tools that were not prepared by then
// are left out.
func lookingLines(ctx context.Context, session *Session, choice *Choice) (lines [][]byte) {
	blocked := newBlocklist(session, choice.Blocks, nil)
	add := func(line []byte) {
		if len(lines) < maxLookedAt && blocked.mentions(nil, line) == "" {
			lines = append(lines, line)
		}
	}
	for i := range choice.Tools {
		if len(lines) == maxLookedAt || ctx.Err() != nil {
			break
		}
		if traits := TraitsOf(&choice.Tools[i]); traits.Reads && !traits.Slow {
			add(new(repertoire).prepare(&choice.Tools[i]).call())
		}
	}
	for i := range session.Resources {
		add(requestLine("resources/read", object("uri", session.Resources[i].URI)))
	}
	return lines
}
