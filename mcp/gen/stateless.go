package gen

import (
	"slices"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// stamp makes a script one for a server without a handshake, if the session is with such: the handshake goes, and each request says who
// asks, in which version. What a mutation takes out of that is not put in again.
func stamp(s *session.Session, in *script.Script) {
	if !s.Stateless || in.Check == check.Stateless {
		return
	}
	if in.Start == script.Fresh && len(in.Steps) > 2 && isHandshake(in.Steps) {
		in.Steps = slices.Clone(in.Steps[2:])
		renumber(in.Steps, -2)
	}
	for i := range in.Steps {
		if line := in.Steps[i].Line; len(line) <= maxStamped {
			in.Steps[i].Line = session.Stamp(line)
		}
	}
}

// maxStamped is the longest line that is read and written anew for it.
const maxStamped = 1 << 20

func isHandshake(steps []script.Step) bool {
	m := jsonrpc.Parse(steps[0].Line)
	return m.Method == "initialize" && string(steps[1].Line) == session.InitializedLine
}

// renumber has references of steps follow those that they name.
func renumber(steps []script.Step, by int) {
	for i := range steps {
		steps[i].Renumber(func(k int) int { return k + by })
	}
}
