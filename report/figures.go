package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// textRows is how many rows of a table of figures are printed; teasel show prints all.
const textRows = 20

// history returns the campaign over time, with the tables of its kind; what cannot be read is left out: a report is about findings.
func (r *Run) history() view.State {
	if r.History == nil {
		return view.State{}
	}
	s, _ := r.History()
	s.SetStats(&r.Summary.Stats)
	return s
}

// textFigures prints the tables of figures, such as what came of the requests to each tool.
func textFigures(b *bytes.Buffer, s *view.State) {
	for i := range s.Panels {
		p := &s.Panels[i]
		if p.Key == "" || len(p.Rows) == 0 {
			continue
		}
		_ = TextTable(b, p, textRows) // to memory
		if n := len(p.Rows) - textRows; n > 0 {
			fmt.Fprintf(b, "  and %d more: teasel show\n", n)
		}
		b.WriteByte('\n')
	}
}

// TextTable prints a panel with its first rows, so many at most.
func TextTable(w io.Writer, p *view.Panel, most int) error {
	fmt.Fprintf(w, "%s\n", plain.Line(p.Title))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{p.Head}, p.Rows[:min(len(p.Rows), most)]...) {
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = plain.Line(row[i])
		}
		fmt.Fprintf(t, "  %s\n", strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// jsonTable is a table of figures: of each row the names first, as texts, then numbers.
type jsonTable struct {
	Title string   `json:"title"`
	Head  []string `json:"head"`
	Rows  [][]any  `json:"rows"`
}

// tables returns the tables of figures by their keys.
func tables(s *view.State) (all map[string]jsonTable) {
	for i := range s.Panels {
		p := &s.Panels[i]
		if p.Key == "" {
			continue
		}
		t := jsonTable{Title: p.Title, Head: p.Head, Rows: [][]any{}}
		for _, row := range p.Rows {
			cells := make([]any, len(row))
			for j, c := range row {
				cells[j] = c
				if v, ok := view.Figure(c); ok && j >= p.Names {
					cells[j] = v
				}
			}
			t.Rows = append(t.Rows, cells)
		}
		if all == nil {
			all = map[string]jsonTable{}
		}
		all[p.Key] = t
	}
	return all
}

// jsonStage counts what one stage has done.
type jsonStage struct {
	Name       string  `json:"name"`
	Executions uint64  `json:"executions"`
	Kept       uint64  `json:"kept"`
	Seconds    float64 `json:"seconds,omitzero"` // of workers; 0: not measured
}

func jsonStages(stages []teasel.StageStats) (all []jsonStage) {
	for _, g := range stages {
		all = append(all, jsonStage{plain.Line(g.Name), g.Executions, g.Kept, round(g.Time.Seconds(), 3)})
	}
	return all
}
