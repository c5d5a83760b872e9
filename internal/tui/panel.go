package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/teaselfuzz/teasel/view"
)

// panel is a list below a tab.
type panel struct {
	title string
	head  []string
	row   func(i int) (cells []string, st style)
	rows  int
	right []bool // columns of numbers, by index; nil: none
	empty string // what is shown if there is no row
}

func (p panel) len() int { return p.rows }

// panels returns how many there are: findings, stages, workers, those of the kind, and the log.
func (m *screen) panels() int { return 4 + len(m.s.Panels) }

func (m *screen) panel(i int) panel {
	s := &m.s
	switch kinds := i - 3; {
	case i == 0:
		title, empty := fmt.Sprint("findings ", len(s.Findings)), "nothing found yet"
		if m.filter != "" || m.typing {
			title = fmt.Sprintf("findings %d of %d with /%s", len(m.findings), len(s.Findings), safe(m.filter))
			if len(s.Findings) > 0 {
				empty = "no finding has this text; esc shows all"
			}
		}
		return panel{title: title, head: []string{"severity", "rule", "about", "seen", "message"}, rows: len(m.findings), right: []bool{false, false, false, true},
			row: func(i int) ([]string, style) {
				f := &m.findings[i]
				severity := f.Severity
				switch {
				case f.Unconfirmed:
					severity = "(" + f.Severity + ")"
				case f.Known != "":
					severity = "known"
				}
				return []string{severity, f.Rule, f.Subject, fmt.Sprint(f.Occurrences), f.Message}, severityStyles[f.Severity]
			}, empty: empty}
	case i == 1:
		return panel{title: "stages", head: []string{"stage", "execs", "kept", "per 1M", "time"}, rows: len(s.Stages), right: []bool{false, true, true, true, true},
			row: func(i int) ([]string, style) {
				g := &s.Stages[i]
				made, kept, per, took := count(g.Executions), count(g.Kept), "", ""
				if !view.HasExecutions(g) {
					made, kept = "", ""
				}
				if g.Executions > 0 {
					per = fmt.Sprintf("%.0f", 1e6*float64(g.Kept)/float64(g.Executions))
				}
				if g.Time > 0 {
					took = seconds(g.Time.Seconds())
				}
				return []string{g.Name, made, kept, per, took}, normal
			}, empty: "no stage has reported yet"}
	case i == 2:
		return panel{title: fmt.Sprint("workers ", s.Figures.Workers), head: []string{"worker", "executions", "share"}, rows: len(s.Workers), right: []bool{true, true, true},
			row: func(i int) ([]string, style) {
				w := s.Workers[i]
				return []string{fmt.Sprint(w.Number), count(w.Executions), fmt.Sprintf("%.0f %%", 100*float64(w.Executions)/float64(max(1, s.Figures.Executions)))}, normal
			}, empty: "no worker has reported yet"}
	case kinds < len(s.Panels):
		p := s.Panels[kinds]
		title, _, _ := strings.Cut(strings.ToLower(safe(p.Title)), " ") // the tabs have little room
		return panel{title: title, head: p.Head, rows: len(p.Rows), row: func(i int) ([]string, style) { return p.Rows[i], normal }, empty: "nothing yet"}
	}
	return panel{title: "log", rows: len(s.Log), right: []bool{true}, row: func(i int) ([]string, style) {
		l := s.Log[len(s.Log)-1-i] // the newest first
		return []string{seconds(l.Elapsed), l.Kind, l.Text}, normal
	}, empty: "nothing yet"}
}

// draw returns the lines of a panel, of which the selected one is marked if it has the focus.
func (m *screen) draw(p panel, at, w, h int, focus bool) []string {
	var lines []string
	if p.rows == 0 {
		return pad([]string{faint.paint(fit("  "+p.empty, w))}, w, h)
	}
	room := h
	if len(p.head) > 0 {
		room--
	}
	if room < 1 {
		return pad(nil, w, h)
	}
	at = max(0, min(at, p.rows-1))
	from := max(0, min(at-room/2, p.rows-room))
	to := min(p.rows, from+room)
	rows, styles := make([][]string, 0, to-from), make([]style, 0, to-from)
	for i := from; i < to; i++ {
		cells, st := p.row(i)
		clean := make([]string, len(cells))
		for j := range cells {
			clean[j] = safe(cells[j])
		}
		rows, styles = append(rows, clean), append(styles, st)
	}
	all := rows
	if len(p.head) > 0 {
		head := make([]string, len(p.head))
		for j := range p.head {
			head[j] = safe(p.head[j])
		}
		all = append([][]string{head}, rows...)
	}
	widths := columns(all, w-1)
	for i, cells := range all {
		k := i - (len(all) - len(rows)) // -1: the heads
		line := " " + compose(cells, widths, p.right)
		switch {
		case k < 0:
			line = bold.paint(fit(line, w))
		case focus && from+k == at:
			line = reversed.paint(fit(line, w))
		default:
			line = styles[k].paint(fit(line, w))
		}
		lines = append(lines, line)
	}
	return pad(lines, w, h)
}

// columns returns the widths of the columns of a table, which take no more than w cells: what is too wide is taken from the widest.
func columns(rows [][]string, w int) []int {
	var widths []int
	for _, cells := range rows {
		for j, c := range cells {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], ansi.StringWidth(c))
		}
	}
	sum := 2 * (len(widths) - 1)
	for _, n := range widths {
		sum += n
	}
	for sum > w {
		widest := 0
		for j := range widths {
			if widths[j] > widths[widest] {
				widest = j
			}
		}
		if widths[widest] <= 4 {
			break
		}
		by := max(1, min(sum-w, widths[widest]/8))
		widths[widest] -= by
		sum -= by
	}
	return widths
}

func compose(cells []string, widths []int, right []bool) string {
	parts := make([]string, len(cells))
	for j, c := range cells {
		if j < len(right) && right[j] {
			parts[j] = fitRight(c, widths[j])
		} else {
			parts[j] = fit(c, widths[j])
		}
	}
	return strings.Join(parts, "  ")
}

// pad returns exactly h lines of w cells.
func pad(lines []string, w, h int) []string {
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", max(0, w)))
	}
	return lines[:max(0, h)]
}
