package jsonrpc

import (
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// Parse reads a line as far as it can be read. It refuses nothing: a line that is no message is one of
// [ClassInvalid], and Why says what is wrong with it. Of members that stand twice the first is taken.
func Parse(raw []byte) Message { return ParseIn(new(mutate.JSONParser), raw) }

// ParseIn is [Parse] in the memory of a parser.
func ParseIn(p *mutate.JSONParser, raw []byte) Message {
	root, err := p.Parse(raw)
	if err != nil {
		return Message{Class: ClassInvalid, Why: "not JSON: " + strings.TrimPrefix(err.Error(), "parsing JSON: ")}
	}
	return FromTree(root)
}

// FromTree is [Parse] of what was parsed already.
func FromTree(root *mutate.JSON) Message {
	m := Message{Root: root}
	switch root.Kind {
	case mutate.Object:
	case mutate.Array:
		m.Class = ClassBatch
		return m
	default:
		m.Class, m.Why = ClassInvalid, "a "+root.Kind.String()+" is no message"
		return m
	}
	var id, method *mutate.JSON
	for i := range root.Members {
		member := &root.Members[i]
		slot := m.slot(member.Name, &id, &method)
		switch {
		case slot == nil:
		case *slot != nil:
			m.Twice = true
		case member.Value == nil:
			*slot = mutate.NewNull()
		default:
			*slot = member.Value
		}
	}
	m.Twice = m.Twice || HasTwice(root) || HasTwice(m.Params)
	if id != nil {
		m.ID = JSONText(id)
	}
	m.Class, m.Why = m.classify(id, method)
	return m
}

// slot returns where a member of the envelope goes; nil: it is none.
func (m *Message) slot(name string, id, method **mutate.JSON) **mutate.JSON {
	switch name {
	case "id":
		return id
	case "method":
		return method
	case "params":
		return &m.Params
	case "result":
		return &m.Result
	case "error":
		return &m.Error
	}
	return nil
}

func (m *Message) classify(id, method *mutate.JSON) (Class, string) {
	answer := m.Result != nil || m.Error != nil
	switch {
	case method != nil:
		var ok bool
		if m.Method, ok = method.Str(); !ok {
			return ClassInvalid, "the method is a " + method.Kind.String()
		}
		if id == nil {
			return ClassNotification, ""
		}
		if !IsID(id) {
			return ClassInvalid, "the id is a " + idKind(id)
		}
		return ClassRequest, ""
	case answer && id != nil:
		return ClassResponse, ""
	case answer:
		return ClassInvalid, "a response without an id"
	}
	return ClassInvalid, "neither method nor result nor error"
}

// IsID reports whether the protocol allows the value as an id.
func IsID(v *mutate.JSON) bool {
	return v.Kind == mutate.String || v.Kind == mutate.Number && IsInteger(v.Text)
}

// IsInteger reports whether the number is written as one: 1.0 and 1e3 have the value of integers, but are written as
// clients do not write ids.
func IsInteger(number string) bool { return !strings.ContainsAny(number, ".eE") }

func idKind(v *mutate.JSON) string {
	if v.Kind == mutate.Number {
		return "fraction"
	}
	return v.Kind.String()
}

// JSONText returns the text of a value, as it was read.
func JSONText(v *mutate.JSON) string {
	switch v.Kind {
	case mutate.Number, mutate.Bool:
		return v.Text
	}
	return v.String()
}

// HasTwice reports whether a member name of the object stands there twice.
func HasTwice(v *mutate.JSON) bool { return v.HasDuplicateNames() }

// IsRefusal reports whether an answer says that the input was not to its liking, which is a server's right.
func (m *Message) IsRefusal() bool {
	if m.Error != nil {
		code, ok := m.Error.Get("code").Int()
		return ok && code >= -32700 && code <= -32600
	}
	failed := m.Result.Get("isError")
	return failed != nil && failed.Kind == mutate.Bool && failed.Text == "true"
}

// HasFreshID reports whether a line with its placeholders shows which answer is its own: its id is a fresh one.
func (m *Message) HasFreshID() bool { return m.ID == `"@id"` }

// Class says what a line is in JSON-RPC.
type Class uint8

const (
	ClassInvalid      Class = iota // not JSON, or JSON that is none of the others
	ClassRequest                   // has a method and an id that is a string or an integer
	ClassNotification              // has a method and no id
	ClassResponse                  // has an id and a result or an error, and no method
	ClassBatch                     // an array
)

// Message is a line of either side, read leniently: what is wrong with it is kept, not refused.
type Message struct {
	Class  Class
	Why    string       // of ClassInvalid: what is wrong; "": nothing
	Root   *mutate.JSON // nil when it is not JSON
	ID     string       // the JSON text of the id as it stands on the wire; "": none
	Method string
	Params *mutate.JSON
	Result *mutate.JSON
	Error  *mutate.JSON
	Twice  bool // an object of the envelope (root or params) has a member name twice
}

// IsNoise reports whether a line is no message at all. An object or an array that is none is judged as a message.
func (m *Message) IsNoise() bool {
	return m.Class == ClassInvalid && (m.Root == nil || m.Root.Kind != mutate.Object)
}
