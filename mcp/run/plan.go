package run

import (
	"bytes"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// planned is what is known of a step before it is sent.
type planned struct {
	message  jsonrpc.Message // of the line with its placeholders
	topic    script.Topic
	regular  bool // a request or a notification such as every client sends
	plain    bool // it has no placeholder but one fresh id, as its id
	optional bool // it is irregular, and the server is free to answer it, by its id
}

// maxSharedLine is how many bytes a line may have of a script that shares the server with others.
const maxSharedLine = 64 << 10

// prepare looks at the steps of the script before anything is sent.
func (k *talk) prepare(c *script.Names, w *script.Withheld) {
	alone := k.in.Start != script.Shared || k.in.Check != "" || len(k.in.Steps) == 0
	var begun []byte
	for i := range k.in.Steps {
		s := &k.in.Steps[i]
		p := planned{message: k.read(i)}
		p.plain, p.regular = script.PlanLine(s, &p.message)
		p.regular = p.regular && len(begun) == 0
		if p.topic = c.Topic(&p.message, p.regular); len(s.Line) > maxSharedLine {
			p.topic = script.Topic{Method: script.TopicLarge}
		}
		p.optional = !p.regular && len(begun) == 0 && script.MayAnswer(s, &p.message)
		k.plan = append(k.plan, p)
		alone = alone || !k.e.shares(&p) || s.Head != "" || s.Times > 1 || len(s.Line) > maxSharedLine
		if name := c.Withholds(begun, s.Line, &p.message); name != "" {
			w.Add(name)
			k.state = skipped
		}
		k.refers = k.refers || script.HasReference(s.Line) || script.HasReference([]byte(s.Head))
		if s.NoNewline {
			begun = append(begun, s.Line...)
		} else {
			begun = begun[:0]
		}
	}
	k.alone = alone
}

// shares reports whether a line may be in flight beside others: whatever the server says to it can be told by an id.
func (e *executor) shares(p *planned) bool {
	r := e.record(p.topic)
	switch {
	case r.asks, p.message.Method == "initialize":
		return false
	case p.message.Method == jsonrpc.CancelMethod: // of a request of the script; a number may be anybody's
		id, _ := p.message.Params.Get("requestId").Str()
		return p.regular && script.HasReference([]byte(id))
	}
	// What has killed a server is not sent beside others, which would be candidates too.
	return p.regular || p.optional && r.spent == 0 && (r.answers != nameless || e.target.URL != "")
}

// read reads the line of a step. The tree of a long one takes so much memory that equal ones share it.
func (k *talk) read(step int) jsonrpc.Message {
	line := k.in.Steps[step].Line
	for i := range k.in.Steps[:step] {
		if len(line) > maxSharedLine && bytes.Equal(line, k.in.Steps[i].Line) {
			return k.plan[i].message
		}
	}
	return jsonrpc.ParseIn(k.mem.reader, line)
}
