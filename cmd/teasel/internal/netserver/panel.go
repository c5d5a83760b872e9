package netserver

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/model"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// panel shows which messages, states and transitions of a model were reached.
type panel struct{ model *model.Model }

var _ view.Paneler = (*panel)(nil)

// panels returns the panels of a campaign; without the model, the rest of the campaign can still be shown.
func panels(m *corpus.Meta, _ string) view.Paneler {
	var nt Target
	if err := campaign.ReadTarget(m.Target, &nt); err != nil || nt.Model == "" {
		return nil
	}
	target, err := nt.server()
	if err != nil || len(target.Model.States) == 0 {
		return nil
	}
	return &panel{target.Model}
}

// Panels implements [view.Paneler].
func (p *panel) Panels(entries []teasel.Entry) []view.Panel {
	reached := make([]teasel.FeatureSet, len(entries))
	for i := range entries {
		reached[i] = entries[i].Features
	}
	out := view.Panel{Title: "States", Head: []string{"state", "message", "leads to", "testcases"}}
	for _, s := range netproto.States(p.model, reached) {
		name := s.Name
		out.Nodes = append(out.Nodes, view.Node{Name: name, Times: s.Times})
		out.Rows = append(out.Rows, []string{name, "", "", view.Times(s.Times)})
		for _, step := range s.Steps {
			to, message := step.To, step.Message
			out.Edges = append(out.Edges, view.Edge{From: name, To: to, Label: message, Times: step.Times, Undeclared: !step.Declared})
			if step.To == s.Name {
				to = "(stays)"
			}
			if !step.Declared {
				to += ", not in the model"
			}
			out.Rows = append(out.Rows, []string{"", message, to, view.Times(step.Times)})
		}
	}
	sent := view.Panel{Title: "Messages sent, in testcases", Key: "messages", Names: 1, Head: []string{"message", "testcases", "new features"}}
	for _, m := range netproto.Messages(p.model, entries) {
		sent.Rows = append(sent.Rows, []string{m.Name, view.Times(m.Times), fmt.Sprint(m.First)})
	}
	return []view.Panel{sent, out}
}

// coverage counts edges of the server, and states and transitions of the model if that can still be read.
func coverage(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	var reached []teasel.FeatureSet
	for i := range entries {
		reached = append(reached, entries[i].Features)
	}
	c.Edges.Reached = netproto.Edges(reached)
	var nt Target
	if err := campaign.ReadTarget(m.Target, &nt); err != nil || nt.Model == "" {
		return c
	}
	target, err := nt.server()
	if err != nil {
		return c
	}
	for _, s := range netproto.States(target.Model, reached) {
		count(&c.States, s.Times > 0)
		for _, step := range s.Steps {
			if step.Declared {
				count(&c.Transitions, step.Times > 0)
			}
		}
	}
	return c
}

// count counts one thing, which was reached or not.
func count(r *report.Reach, reached bool) {
	r.Total++
	if reached {
		r.Reached++
	}
}
