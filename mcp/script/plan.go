package script

import (
	"bytes"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// PlanLine says of a line with its placeholders whether it is plain, which is that it has none but one fresh id, as its id, and whether
// it is regular: a request or a notification such as every client sends.
func PlanLine(s *Step, m *jsonrpc.Message) (plain, regular bool) {
	at := bytes.Count(s.Line, []byte{'@'})
	plain = at == 0 || at == 1 && m.HasFreshID()
	switch {
	case s.NoNewline, s.Close, s.Head != "", s.Asked != "", bytes.IndexByte(s.Line, '\n') >= 0:
		return plain, false
	case m.Method == session.ListenMethod: // an answer need never come
		return plain, false
	case m.Twice, m.Class != jsonrpc.ClassNotification && !(m.Class == jsonrpc.ClassRequest && m.HasFreshID()):
		return plain, false
	}
	return plain, jsonrpc.UnusualEnvelope(m) == "" && jsonrpc.HardToRead(s.Line, m.Root) == ""
}

// MayAnswer reports whether a line is a request that no client sends and that a server can answer by its id all the same, which it
// need not. Nothing else comes of it that is not told by that id.
func MayAnswer(s *Step, m *jsonrpc.Message) bool {
	if s.NoNewline || s.Close || s.Head != "" || s.Asked != "" || bytes.IndexByte(s.Line, '\n') >= 0 || m.Method == session.ListenMethod {
		return false
	}
	return m.Class == jsonrpc.ClassRequest && m.HasFreshID() && !m.Twice && jsonrpc.UnusualEnvelope(m) != jsonrpc.UnusualMeta
}

// Names is what of a server is known by name.
type Names struct {
	Blocked Blocklist
	methods map[string]string // those there are, each by itself
	names   map[string]string // of tools and prompts
}

// NewNames returns what is known of the server of a session. blocked and excluded say of a tool that it must not be called, as those of a
// target do.
func NewNames(s *session.Session, blocked, excluded func(tool string) bool) *Names {
	c := &Names{Blocked: NewBlocklist(s, blocked, excluded), methods: make(map[string]string), names: make(map[string]string)}
	for _, list := range [][]string{session.Methods, session.Notifications} {
		for _, m := range list {
			c.methods[m] = m
		}
	}
	for i := range s.Tools {
		c.names[s.Tools[i].Name] = s.Tools[i].Name
	}
	for i := range s.Prompts {
		c.names[s.Prompts[i].Name] = s.Prompts[i].Name
	}
	return c
}

// Withholds returns the tool because of which a line must not be sent; "": it may be. before is what stands before it on the
// same line.
func (c *Names) Withholds(before, line []byte, m *jsonrpc.Message) string {
	if name := c.Blocked.Mentions(before, line); name != "" {
		return name
	}
	return c.Blocked.Calls(m)
}

// Topic is what a line is about in the eyes of those who keep count: one of a bounded number.
type Topic struct {
	Method, Name string
	Meta, Token  mutate.Kind // of params._meta and of its progressToken
}

// TopicLarge is what large lines are about, whatever they say.
const TopicLarge = "large"

// Topic returns what a line is about.
func (c *Names) Topic(m *jsonrpc.Message, regular bool) (t Topic) {
	if !regular {
		return Topic{Method: "irregular", Name: jsonrpc.Unusual(m)}
	}
	known, ok := c.methods[m.Method]
	if !ok {
		return Topic{Method: "unknown"}
	}
	t.Method = known
	if known == "tools/call" || known == "prompts/get" {
		name, _ := m.Params.Get("name").Str()
		t.Name = c.names[name]
	}
	if meta := m.Params.Get("_meta"); meta != nil {
		t.Meta = meta.Kind
		if token := meta.Get("progressToken"); token != nil {
			t.Token = token.Kind
		}
	}
	return t
}
