package run

import (
	"cmp"
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/wear"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// A server may end after so many requests, whatever they are: it counts them, or runs out of something. Whichever request comes then is not
// to blame, and each would be a finding of its own where nothing says in which function the server ended. Whether that is so is tried once
// for each way to end: a plain request is sent to a fresh server again and again.

// wearShare: of the lines that wear a server out, one part of so many may be missing, since not each counts for it.
const wearShare = 8

// ending is how a server ends, where nothing says in which function.
type ending struct {
	kind          script.EndKind
	code          int
	signal        string
	deaf, refuses bool
}

// endingOf returns how the server of a transcript has ended.
func endingOf(t *script.Transcript) ending {
	return ending{t.End.Kind, t.End.Code, t.End.Signal, t.Unresponsive, t.Refuses != ""}
}

// wears returns after how many requests a server that has ended as the transcript says, after so many lines, ends whatever they are; 0: that
// is not what it has ended of.
func (e *executor) wears(ctx context.Context, t *script.Transcript, lines int) (requests int, err error) {
	how := endingOf(t)
	if len(e.target.Args) == 0 || lines < wear.Least || how.kind == script.EndInvalid || t.End.EOF || observe.FindFault(t.End.Stderr).Kind != observe.FaultNone {
		return 0, nil
	}
	try := func(times int) (wear.Amount, error) { return e.wearOut(ctx, how, times) }
	if e.wearing {
		try = nil
	}
	after, err := e.worn.After(ctx, how, lines, try)
	if lines < after.Messages-after.Messages/wearShare {
		return 0, err
	}
	return after.Messages, err
}

// wearOut sends a plain request to fresh servers so many times, and returns after how many the server ends in such a way. The script that
// does it is handed out by Late.
func (e *executor) wearOut(ctx context.Context, how ending, times int) (wear.Amount, error) {
	live := e.live
	e.live, e.wearing = nil, true
	defer func() { e.live, e.wearing = live, false }()
	for _, line := range e.plainLines() {
		in := script.Script{Start: script.Shared, Steps: []script.Step{{Line: line, Times: times}}}
		k := new(talk)
		k.take(e, &in, &teasel.Observation{})
		if err := e.runAlone(ctx, k, true); err != nil {
			return wear.Amount{}, err
		}
		if s := e.live; s != nil {
			if err := e.discard(s, nil); err != nil {
				return wear.Amount{}, err
			}
		}
		n := int(k.runs)
		for i := range k.t.Sent {
			if k.t.Sent[i].Answer >= 0 {
				n++
			}
		}
		if n >= wear.Least && endingOf(&k.t) == how {
			in.Steps[0].Times = n + e.target.window() + wear.Least // of those in flight, answers may be lost
			k.t.Worn = n
			k.detach()
			e.finish(k)
			return wear.Amount{Messages: n}, nil
		}
		k.halt()
	}
	return wear.Amount{}, nil
}

// plainLines returns requests that every server answers: a ping, and a call of a tool that only reads.
func (e *executor) plainLines() [][]byte {
	lines := [][]byte{[]byte(cmp.Or(e.session.Ping, session.PingLine))}
	if e.session.Stateless {
		return lines
	}
	for i := range e.session.Tools {
		t := &e.session.Tools[i]
		blocked := e.target.Blocked != nil && e.target.Blocked(t.Name) || e.target.Excluded != nil && e.target.Excluded(t.Name)
		if traits := session.TraitsOf(t); traits.Reads && !traits.Slow && !blocked {
			return append(lines, new(session.Catalog).Prepare(t).Call())
		}
	}
	return lines
}
