package mcp

import (
	"bytes"
	"cmp"
)

// planLine judges a line with its placeholders.
func planLine(s *Step, m *Message) (plain, regular bool, odd string) {
	at := bytes.Count(s.Line, []byte{'@'})
	plain = at == 0 || at == 1 && m.named()
	switch {
	case s.NoNewline, s.Close, bytes.IndexByte(s.Line, '\n') >= 0:
		return plain, false, ""
	case m.Twice, m.Class != ClassNotification && !(m.Class == ClassRequest && m.named()):
		return plain, false, oddity(m)
	}
	odd = cmp.Or(oddEnvelope(m), hardToRead(s.Line, m.Root))
	return plain, odd == "", odd
}
