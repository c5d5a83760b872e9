package view

import (
	"fmt"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Panel is what a kind of target adds: a table and, of a target with states, a graph.
type Panel struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
	Key   string     `json:"key,omitempty"`   // names a table of figures for programs, such as requests; "": it is no such table
	Names int        `json:"names,omitempty"` // of a table of figures: how many of the first columns name what the others count
	Files []string   `json:"files,omitempty"` // of each row, the source file that it is about; see [Liner]
	Nodes []Node     `json:"nodes,omitempty"`
	Edges []Edge     `json:"edges,omitempty"`
}

// Node is a state of a target; Times is how many testcases reach it.
type Node struct {
	Name  string `json:"name"`
	Times int    `json:"times"`
}

// Edge is a step from one state to another.
type Edge struct {
	From       string `json:"from"`
	To         string `json:"to"`
	Label      string `json:"label"`
	Times      int    `json:"times"`
	Undeclared bool   `json:"undeclared,omitempty"` // the model does not have it
}

// A Paneler makes the panels of a kind of target from the testcases that a campaign keeps. It may be called at once by several.
type Paneler interface {
	Panels(entries []teasel.Entry) []Panel
}

// A Liner is a [Paneler] that knows which lines of source files the testcases reach; false: none of this file.
type Liner interface {
	Paneler
	Lines(entries []teasel.Entry, file string) (Lines, bool)
}

// Times is how often something was reached, for a panel.
func Times(n int) string {
	if n == 0 {
		return "never"
	}
	return fmt.Sprint(n)
}

// Figure returns the number that a cell of a table of figures has, which [Times] may have written; false: it has none.
func Figure(cell string) (float64, bool) {
	if cell == Times(0) {
		return 0, true
	}
	v, err := strconv.ParseFloat(cell, 64)
	return v, err == nil
}

// plainPanels returns panels whose texts are safe to print.
func plainPanels(panels []Panel) (all []Panel) {
	for _, p := range panels {
		q := Panel{Title: plain.Line(p.Title), Head: plainLines(p.Head), Key: p.Key, Names: p.Names}
		q.Files = p.Files // which are not printed
		for _, row := range p.Rows {
			q.Rows = append(q.Rows, plainLines(row))
		}
		for _, n := range p.Nodes {
			q.Nodes = append(q.Nodes, Node{plain.Line(n.Name), n.Times})
		}
		for _, e := range p.Edges {
			q.Edges = append(q.Edges, Edge{plain.Line(e.From), plain.Line(e.To), plain.Line(e.Label), e.Times, e.Undeclared})
		}
		all = append(all, q)
	}
	return all
}
