package server

import (
	"context"
	"errors"
)

// Ask starts the server, asks it some lines one after the other, and returns its answers: nil for a line to which none has come. Its error is a
// [*StartError], or that of the context.
func (c *Command) Ask(ctx context.Context, lines [][]byte) (answers [][]byte, err error) {
	s, err := c.Start()
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	if _, err := c.Initialize(ctx, s); err != nil {
		s.Close()
		return nil, err
	}
	for _, line := range lines {
		answer, _, err := s.call(ctx, line, c.timeout())
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && answer.Root != nil:
			answers = append(answers, answer.Root.Append(nil))
		case err == nil || errors.Is(err, errSilent) || errors.Is(err, errStatus):
			answers = append(answers, nil)
		default: // it answers no more
			return append(answers, make([][]byte, len(lines)-len(answers))...), nil
		}
	}
	return answers, nil
}
