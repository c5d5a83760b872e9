package jsonrpc

import "github.com/teaselfuzz/teasel/mutate"

// IsSoundResponse reports whether a message is a response as every reader takes one: an object as its result, or an error with a code and a
// message, and nothing else.
func (m *Message) IsSoundResponse() bool {
	version, _ := m.Root.Get("jsonrpc").Str()
	if m.Class != ClassResponse || m.Twice || version != "2.0" || len(m.Root.Members) != 3 {
		return false
	}
	if m.Error == nil {
		return m.Result != nil && m.Result.Kind == mutate.Object
	}
	_, coded := m.Error.Get("code").Int()
	_, said := m.Error.Get("message").Str()
	return coded && said
}
