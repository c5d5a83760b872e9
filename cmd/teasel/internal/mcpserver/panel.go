package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// outcomes are the columns of panel.
var outcomes = [...]struct {
	head    string
	outcome script.Outcome
}{{"result", script.OutcomeResult}, {"result that says it failed", script.OutcomeFailed}, {"error", script.OutcomeError}, {"no answer", script.OutcomeNone}}

// panel shows to what the requests for each subject came.
type panel struct {
	subjects []string // the tools first
	tools    int      // how many they are
	at       map[teasel.Feature]outcomeAt
}

// outcomeAt is a cell of the table: a subject and an outcome.
type outcomeAt struct{ subject, outcome int }

var _ view.Paneler = (*panel)(nil)

func panels(m *corpus.Meta, _ string) view.Paneler {
	p := &panel{tools: len(m.Subjects), subjects: slices.Concat(m.Subjects, methods()), at: map[teasel.Feature]outcomeAt{}}
	for i, s := range p.subjects {
		for j := range outcomes {
			for _, f := range observe.OutcomeFeatures(s, outcomes[j].outcome) {
				p.at[f] = outcomeAt{i, j}
			}
		}
	}
	return p
}

// methods returns the subjects of requests that are not for a tool or prompt that the server has.
func methods() (all []string) {
	for _, m := range session.Methods {
		switch m {
		case "tools/call":
			m += " (unknown tool)"
		case "prompts/get":
			m += " (unknown prompt)"
		}
		all = append(all, m)
	}
	return append(all, "(unknown method)")
}

// Panels implements [view.Paneler].
func (p *panel) Panels(entries []teasel.Entry) []view.Panel {
	times := map[outcomeAt]int{}
	calls, first := make([]int, len(p.subjects)), make([]int, len(p.subjects))
	for i := range entries {
		seen, called := map[outcomeAt]bool{}, map[int]bool{}
		for f := range entries[i].Features.All() {
			c, ok := p.at[f]
			if !ok {
				continue
			}
			if !seen[c] {
				seen[c] = true
				times[c]++
			}
			if !called[c.subject] {
				called[c.subject] = true
				calls[c.subject]++
				first[c.subject] += entries[i].First
			}
		}
	}
	out := view.Panel{Title: "Requests and what they came to, in testcases", Key: "requests", Names: 1, Head: []string{"request", "testcases", "new features"}}
	for j := range outcomes {
		out.Head = append(out.Head, outcomes[j].head)
	}
	for i, s := range p.subjects {
		if i >= p.tools && calls[i] == 0 { // a server need not have every method
			continue
		}
		row := []string{s, view.Times(calls[i]), fmt.Sprint(first[i])}
		for j := range outcomes {
			row = append(row, view.Times(times[outcomeAt{i, j}]))
		}
		out.Rows = append(out.Rows, row)
	}
	return []view.Panel{out}
}

// coverage counts the tools and methods that testcases call.
func coverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	sess := &session.Session{}
	for _, s := range m.Subjects {
		if name, ok := strings.CutPrefix(s, "tools/call "); ok {
			sess.Tools = append(sess.Tools, session.Tool{Name: name})
		}
	}
	tools, methods := map[string]bool{}, map[string]bool{}
	for i := range entries {
		script, err := script.Codec{}.Decode(entries[i].Data)
		if err != nil {
			continue
		}
		for _, step := range script.Steps {
			message := jsonrpc.Parse(step.Line)
			subject := session.Subject(sess, &message)
			if message.Class != jsonrpc.ClassRequest || strings.HasPrefix(subject, "(") {
				continue
			}
			methods[message.Method] = true
			if slices.Contains(m.Subjects, subject) && message.Method == "tools/call" {
				tools[subject] = true
			}
		}
	}
	c.Tools = report.Reach{Reached: len(tools), Total: len(sess.Tools)}
	c.Methods.Reached = len(methods)
	return c
}
