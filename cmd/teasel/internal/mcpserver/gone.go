package mcpserver

import (
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// shownGone is how many of the last lines that a server was sent a finding shows.
const shownGone = 16

// goneFinding returns the finding that an error of a campaign is: a server that teasel has not started takes no connections any more.
func goneFinding(err error) (f teasel.Finding, ok bool) {
	var start *server.StartError
	if !errors.As(err, &start) || !start.Running || !start.Refused() {
		return f, false
	}
	f = teasel.Finding{Rule: judge.RuleGone, Severity: teasel.Critical, Subject: "(server)", Message: "The server takes no connections any more. It was not started by teasel, which cannot try again."}
	in := script.NewShared("", script.SendText(session.PingLine))
	var gone *server.GoneError
	if errors.As(err, &gone) && len(gone.Script.Steps) > 0 {
		in = gone.Script
		f.Message = fmt.Sprintf("The server takes no connections any more after one of the last %d requests. It was not started by teasel, which cannot try again.", len(in.Steps))
		for _, s := range in.Steps[max(0, len(in.Steps)-shownGone):] {
			f.Detail += "> " + plain.Line(string(s.Line)) + "\n"
		}
	}
	if f.Input, err = (script.Codec{}).Encode(in); err != nil {
		return f, false
	}
	f.Original = f.Input
	return f, true
}
