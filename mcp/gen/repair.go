package gen

import (
	"bytes"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// repairEnvelope puts right what is wrong with the envelopes of a script. Lines that are no plain messages are worth keeping for
// what a server made of them, but what is bred from them would mostly be refused for the same reason, one at a time:
// a line that may get no answer cannot be sent together with others.
func (e *editor) repairEnvelope() {
	for i := 0; i < len(e.in.Steps); i++ {
		s := &e.in.Steps[i]
		if s.Asked != "" {
			continue
		}
		if s.NoNewline && i+1 < len(e.in.Steps) {
			e.joinLines(i)
			s = &e.in.Steps[i]
		}
		if s.Times > 1 && e.r.IntN(4) > 0 {
			s.Times = 0
		}
		if beginsWell(s.Line) && e.isWellFormed(i) {
			continue
		}
		root := e.message(i)
		if root == nil || e.method(i) == "" {
			e.setLine(i, e.call())
			continue
		}
		e.repairRoot(i, root)
	}
}

// joinLines makes one step of two halves of a line.
func (e *editor) joinLines(i int) {
	rest := bytes.Clone(e.in.Steps[i+1].Line)
	s := &e.in.Steps[i]
	s.NoWait, s.NoNewline, s.Close = e.in.Steps[i+1].NoWait, e.in.Steps[i+1].NoNewline, e.in.Steps[i+1].Close
	s.Line = append(s.Line, rest...)
	e.remove(i + 1)
}

// beginsWell reports whether a line begins as a request or a notification of ours.
func beginsWell(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":"@id","method":"`)) || bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":"notifications/`))
}

// isWellFormed reports whether there is nothing to repair.
func (e *editor) isWellFormed(i int) bool {
	root := e.message(i)
	if root == nil {
		return false
	}
	msg := jsonrpc.FromTree(root)
	return msg.Why == "" && !msg.Twice && jsonrpc.UnusualEnvelope(&msg) == ""
}

func (e *editor) repairRoot(i int, root *mutate.JSON) {
	method := e.method(i)
	members := []mutate.Member{jsonrpc.Member("jsonrpc", mutate.NewString("2.0"))}
	if !strings.HasPrefix(method, "notifications/") {
		members = append(members, jsonrpc.Member("id", mutate.NewString("@id")))
	}
	members = append(members, jsonrpc.Member("method", mutate.NewString(method)))
	if params := root.Get("params"); params != nil && params.Kind == mutate.Object {
		params.Members = slices.DeleteFunc(params.Members, func(m mutate.Member) bool { return m.Name == "_meta" })
		params.Members = firstOfEach(params.Members)
		members = append(members, jsonrpc.Member("params", params))
	}
	root.Members = members
	e.touch(i)
}

// firstOfEach keeps the first member of each name, if there are not very many.
func firstOfEach(members []mutate.Member) []mutate.Member {
	if len(members) > 64 {
		return members
	}
	kept := members[:0]
	for _, m := range members {
		if !slices.ContainsFunc(kept, func(o mutate.Member) bool { return o.Name == m.Name }) {
			kept = append(kept, m)
		}
	}
	return kept
}
