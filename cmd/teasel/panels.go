package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/model"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// netPanel shows which states and transitions of a model were reached.
type netPanel struct{ model *model.Model }

var _ view.Paneler = (*netPanel)(nil)

// netPanels returns the panels of a campaign; without the model, the rest of the campaign can still be shown.
func netPanels(m *corpus.Meta) view.Paneler {
	var nt netTarget
	if err := campaign.ReadTarget(m.Target, &nt); err != nil || nt.Model == "" {
		return nil
	}
	target, err := nt.target()
	if err != nil || len(target.Model.States) == 0 {
		return nil
	}
	return &netPanel{target.Model}
}

// Panels implements [view.Paneler].
func (p *netPanel) Panels(entries []teasel.Entry) []view.Panel {
	reached := make([]teasel.FeatureSet, len(entries))
	for i := range entries {
		reached[i] = entries[i].Features
	}
	out := view.Panel{Title: "States", Head: []string{"state", "message", "leads to", "testcases"}}
	for _, s := range netproto.States(p.model, reached) {
		name := s.Name
		out.Nodes = append(out.Nodes, view.Node{Name: name, Times: s.Times})
		out.Rows = append(out.Rows, []string{name, "", "", reachText(s.Times)})
		for _, step := range s.Steps {
			to, message := step.To, step.Message
			out.Edges = append(out.Edges, view.Edge{From: name, To: to, Label: message, Times: step.Times, Undeclared: !step.Declared})
			if step.To == s.Name {
				to = "(stays)"
			}
			if !step.Declared {
				to += ", not in the model"
			}
			out.Rows = append(out.Rows, []string{"", message, to, reachText(step.Times)})
		}
	}
	return []view.Panel{out}
}

func reachText(times int) string {
	if times == 0 {
		return "never"
	}
	return fmt.Sprint(times)
}

// outcomes are the columns of mcpPanel.
var outcomes = [...]struct {
	head    string
	outcome script.Outcome
}{{"result", script.OutcomeResult}, {"result that says it failed", script.OutcomeFailed}, {"error", script.OutcomeError}, {"no answer", script.OutcomeNone}}

// mcpPanel shows to what the requests for each subject came.
type mcpPanel struct {
	subjects []string
	at       map[teasel.Feature]outcomeAt
}

// outcomeAt is a cell of the table: a subject and an outcome.
type outcomeAt struct{ subject, outcome int }

var _ view.Paneler = (*mcpPanel)(nil)

func mcpPanels(m *corpus.Meta) view.Paneler {
	p := &mcpPanel{subjects: m.Subjects, at: map[teasel.Feature]outcomeAt{}}
	for i, s := range m.Subjects {
		for j := range outcomes {
			for _, f := range observe.OutcomeFeatures(s, outcomes[j].outcome) {
				p.at[f] = outcomeAt{i, j}
			}
		}
	}
	return p
}

// Panels implements [view.Paneler].
func (p *mcpPanel) Panels(entries []teasel.Entry) []view.Panel {
	times := map[outcomeAt]int{}
	for i := range entries {
		seen := map[outcomeAt]bool{}
		for f := range entries[i].Features.All() {
			if c, ok := p.at[f]; ok && !seen[c] {
				seen[c] = true
				times[c]++
			}
		}
	}
	out := view.Panel{Title: "Requests and what they came to, in testcases", Head: []string{"request"}}
	for j := range outcomes {
		out.Head = append(out.Head, outcomes[j].head)
	}
	for i, s := range p.subjects {
		row := []string{s}
		for j := range outcomes {
			row = append(row, reachText(times[outcomeAt{i, j}]))
		}
		out.Rows = append(out.Rows, row)
	}
	return []view.Panel{out}
}

// panelerOf returns what makes the panels of a campaign; nil: there are none.
func panelerOf(m *corpus.Meta) view.Paneler {
	k, err := kindOf(m.Kind, "a campaign")
	if err != nil || k.panels == nil {
		return nil
	}
	return k.panels(m)
}

// panelsOf returns the panels of a campaign with these testcases.
func panelsOf(m *corpus.Meta, entries []teasel.Entry) []view.Panel {
	p := panelerOf(m)
	if p == nil {
		return nil
	}
	return p.Panels(entries)
}

// writePanels prints panels as tables.
func writePanels(w io.Writer, panels []view.Panel) error {
	for _, p := range panels {
		fmt.Fprintf(w, "\n%s\n", report.Line(p.Title))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{p.Head}, p.Rows...) {
			cells := make([]string, len(row))
			for i := range row {
				cells[i] = report.Line(row[i])
			}
			fmt.Fprintf(t, "  %s\n", strings.Join(cells, "\t"))
		}
		if err := t.Flush(); err != nil {
			return exit.Failure(err)
		}
	}
	return nil
}
