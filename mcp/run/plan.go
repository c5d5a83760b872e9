package run

import (
	"bytes"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// planned is what is known of a step before it is sent.
type planned struct {
	message jsonrpc.Message // of the line with its placeholders
	topic   script.Topic
	regular bool // a request or a notification such as every client sends
	plain   bool // it has no placeholder but one fresh id, as its id
}

// Bounds within which a script may share the server with others.
const (
	maxSharedLine = 64 << 10
	maxSharedStep = 16
)

// prepare looks at the steps of the script before anything is sent.
func (k *talk) prepare(c *script.Names, w *script.Withheld) {
	alone := k.in.Start != script.Shared || k.in.Check != "" || len(k.in.Steps) == 0 || len(k.in.Steps) > maxSharedStep
	var begun []byte
	for i := range k.in.Steps {
		s := &k.in.Steps[i]
		p := planned{message: k.read(i)}
		p.plain, p.regular = script.PlanLine(s, &p.message)
		p.regular = p.regular && len(begun) == 0
		if p.topic = c.Topic(&p.message, p.regular); len(s.Line) > maxSharedLine {
			p.topic = script.Topic{Method: script.TopicLarge}
		}
		k.plan = append(k.plan, p)
		alone = alone || !p.regular || k.e.record(p.topic).asks || s.Head != "" || s.Times > 1 || len(s.Line) > maxSharedLine || p.message.Method == "initialize" || p.message.Method == jsonrpc.CancelMethod
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
