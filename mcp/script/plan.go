package script

import (
	"bytes"
	"cmp"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// PlanLine judges a line with its placeholders.
func PlanLine(s *Step, m *jsonrpc.Message) (plain, regular bool, odd string) {
	at := bytes.Count(s.Line, []byte{'@'})
	plain = at == 0 || at == 1 && m.HasFreshID()
	switch {
	case s.NoNewline, s.Close, bytes.IndexByte(s.Line, '\n') >= 0:
		return plain, false, ""
	case m.Twice, m.Class != jsonrpc.ClassNotification && !(m.Class == jsonrpc.ClassRequest && m.HasFreshID()):
		return plain, false, jsonrpc.Unusual(m)
	}
	odd = cmp.Or(jsonrpc.UnusualEnvelope(m), jsonrpc.HardToRead(s.Line, m.Root))
	return plain, odd == "", odd
}
