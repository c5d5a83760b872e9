package observe

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Exit says how a script ended, and in a sentence if that was not well.
func Exit(t *script.Transcript) (teasel.Exit, string) {
	what := ""
	switch {
	case t.Busy:
		what = "; it is using the processor"
	case t.Idle:
		what = "; it is idle"
	}
	switch {
	case t.Flood:
		return teasel.ExitCrash, "the server wrote too much and was cut off"
	case t.Unresponsive:
		return teasel.ExitHang, "the server answers nothing any more" + what
	case t.Refuses != "":
		return teasel.ExitCrash, "the server refuses everything, and a new client: it " + t.Refuses
	case t.End.Closed && !t.End.EOF:
		return teasel.ExitCrash, "the server closed its standard output and went on running"
	case t.End.Kind == script.EndSignalled:
		return teasel.ExitCrash, "the server died of a signal: " + t.End.Signal
	case t.End.Kind == script.EndExited && !t.End.EOF:
		return teasel.ExitCrash, fmt.Sprintf("the server exited with status %d", t.End.Code)
	case t.Hung && t.End.Kind == script.EndInvalid:
		return teasel.ExitHang, "a request got no answer" + what
	}
	for i := len(t.Received) - 1; i >= 0; i-- {
		switch r := &t.Received[i]; {
		case r.Message.Class != jsonrpc.ClassResponse, r.Sent >= 0 && t.Sent[r.Sent].Withdrawn:
		case r.Message.IsRefusal():
			return teasel.ExitRejected, ""
		default:
			return teasel.ExitOK, ""
		}
	}
	return teasel.ExitOK, ""
}
