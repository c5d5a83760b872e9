package mcpserver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// shownGone is how many of the last lines that a server was sent a finding shows.
const shownGone = 16

// goneFinding returns the finding that an error of a campaign is: a server that teasel has not started serves nobody any more.
func goneFinding(err error) (f teasel.Finding, ok bool) {
	var gone *server.GoneError
	if !errors.As(err, &gone) {
		return f, false
	}
	f = teasel.Finding{Rule: judge.RuleGone, Severity: teasel.Critical, Subject: "(server)"}
	in, after := script.NewShared("", script.SendText(session.PingLine)), ""
	if len(gone.Script.Steps) > 0 {
		in = gone.Script
		if after = " after this request"; len(in.Steps) > 1 {
			after = fmt.Sprintf(" after one of these %d requests", len(in.Steps))
		}
		for _, s := range in.Steps[max(0, len(in.Steps)-shownGone):] {
			head := ""
			if s.Head != "" {
				head = "[" + plain.Line(strings.ReplaceAll(s.Head, "\n", ", ")) + "] "
			}
			f.Detail += strings.TrimRight("> "+head+plain.Line(string(s.Line)), " ") + "\n"
		}
	}
	f.Message = fmt.Sprintf("The server serves nobody any more%s: it %s. teasel has not started it, and cannot try again.", after, gone.Why)
	if f.Input, err = (script.Codec{}).Encode(in); err != nil {
		return f, false
	}
	f.Original = f.Input
	return f, true
}
