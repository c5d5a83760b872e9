package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/view"
)

// The least size at which there is more than a few figures.
const (
	leastWidth  = 40
	leastHeight = 12
)

// picture returns the lines of the screen: never more than it has, and none longer.
func (m *screen) picture() []string {
	if m.w <= 0 || m.h <= 0 {
		return nil
	}
	if m.w < leastWidth || m.h < leastHeight {
		return m.small()
	}
	lines := []string{m.title()}
	switch {
	case m.help:
		lines = append(lines, m.helpText(m.h-2)...)
	case m.open != "":
		lines = append(lines, m.openFinding(m.h-2)...)
	default:
		lines = append(lines, m.overview(m.h-2)...)
	}
	return append(lines, m.foot())
}

// status is what the campaign does.
func (m *screen) status() string {
	if m.stopping && m.s.Running {
		return "stopping"
	}
	return safe(m.s.Status)
}

func (m *screen) title() string {
	status := " " + m.status() + " "
	room := max(0, m.w-ansi.StringWidth(status)-1)
	line := bold.paint(fit("teasel "+safe(m.s.Teasel)+"  "+safe(m.s.Kind)+": "+safe(m.s.Target), room)) + " "
	return line + reversed.paint(fit(status, m.w-room-1))
}

func (m *screen) foot() string {
	text := fmt.Sprintf(" q stop   p pause   tab panel   %s move   enter open   / filter   ? help", m.marks.keys)
	switch {
	case m.typing:
		text = " filter the findings by: " + safe(m.filter) + "_   enter keep   esc clear"
	case m.open != "":
		text = fmt.Sprintf(" esc back   %s pgup pgdn home end scroll   q stop   p pause", m.marks.keys)
	case m.paused():
		text = strings.Replace(text, "p pause", "p go on", 1)
	}
	return faint.paint(fit(text, m.w))
}

// small is what a terminal of a few columns or lines has room for, and why it is no more.
func (m *screen) small() []string {
	f := &m.s.Figures
	lines := []string{safe(m.s.Kind) + " " + m.status(), noun.Count(len(m.s.Findings), "finding", ""), fmt.Sprintf("%s %.0f/s", count(f.Executions), f.Rate), seconds(f.Elapsed),
		fmt.Sprintf("corpus %d", f.Corpus), fmt.Sprintf("features %d", f.Features)}
	why := strings.Split(ansi.Wrap(fmt.Sprintf("The screen needs %d columns and %d lines.", leastWidth, leastHeight), m.w, ""), "\n")
	lines = append(lines[:min(len(lines), max(2, m.h-len(why)))], why...)
	lines = lines[:min(len(lines), m.h)]
	for i := range lines {
		lines[i] = fit(lines[i], m.w)
	}
	return lines
}

// figure is a label with its value.
type figure struct{ label, value string }

// figures are in the order of the columns, four in each.
func (m *screen) figures() []figure {
	s, f := &m.s, &m.s.Figures
	ago := func(at float64) string {
		if at == 0 {
			return "none yet"
		}
		return seconds(max(0, f.Elapsed-at)) + " ago"
	}
	left := "no limit"
	switch {
	case s.Duration > 0:
		left = seconds(max(0, s.Duration-f.Elapsed))
	case s.Runs > 0 && f.Rate > 0 && f.Executions < s.Runs:
		left = "about " + seconds(float64(s.Runs-f.Executions)/f.Rate)
	case s.Runs == 0 && f.SeedsLeft > 0:
		left = "seeds: " + seconds(f.SeedsLeft)
	}
	stability := "not measured"
	if f.Stability > 0 {
		stability = fmt.Sprintf("%.1f %%", 100*f.Stability)
	}
	features := count(uint64(f.Features))
	if f.Elapsed > 60 {
		features += fmt.Sprintf(", +%d/min", f.Fresh)
	}
	messages := ""
	if f.Messages > 0 && f.Elapsed > 0 {
		messages = ", " + count(uint64(float64(f.Messages)/f.Elapsed+.5)) + " messages"
	}
	corpus := figure{"corpus", count(uint64(f.Corpus))}
	if f.SeedsRun < f.Seeds {
		corpus = figure{"seeds run", fmt.Sprintf("%d of %d", f.SeedsRun, f.Seeds)}
	}
	return []figure{{"run time", seconds(f.Elapsed)}, {"time left", left}, {"last new", ago(f.LastKept)}, {"last find", ago(f.LastFound)},
		{"executions", count(f.Executions)}, {"speed", count(uint64(f.Rate+.5)) + "/s" + messages}, corpus, {"features", features},
		{"stability", stability}, {"workers", fmt.Sprint(f.Workers)}, {"memory", fmt.Sprintf("%d MB", f.Memory>>20)}, {"unconfirmed", fmt.Sprint(f.Pending)}}
}

// header returns the figures, and the findings by severity.
func (m *screen) header() (lines []string) {
	all, perRow := m.figures(), 3
	if m.w < 72 {
		perRow = 2
	}
	rows := (len(all) + perRow - 1) / perRow
	width := m.w / perRow
	for r := range rows {
		line := ""
		for c := range perRow {
			if i := c*rows + r; i < len(all) {
				line += " " + faint.paint(fit(all[i].label, 12)) + fit(all[i].value, max(0, width-13))
			}
		}
		lines = append(lines, fitStyled(line, m.w))
	}
	n := map[string]int{}
	for _, f := range m.s.Findings {
		if !f.Unconfirmed {
			n[f.Severity]++
		}
	}
	line := " " + faint.paint(fit("findings", 12))
	for _, s := range view.Severities() {
		st := severityStyles[s]
		if n[s] == 0 {
			st = faint
		}
		line += st.paint(fmt.Sprintf("%d %s", n[s], s)) + "  "
	}
	return append(lines, fitStyled(line, m.w))
}

// fitStyled is [fit] for text with our own styles in it.
func fitStyled(text string, w int) string {
	text = ansi.Truncate(text, w, "")
	return text + strings.Repeat(" ", max(0, w-ansi.StringWidth(text)))
}

// overview returns the figures, the plots if there is room, and the panels.
func (m *screen) overview(h int) []string {
	lines := m.header()
	const leastPanel = 6
	if room := h - len(lines) - leastPanel; room >= 4 {
		lines = append(lines, m.plots(min(max(room*2/5, 4), 11))...)
	}
	h -= len(lines)
	if m.w < 120 || h < 12 {
		return append(lines, m.tabbed(m.w, h)...)
	}
	left := m.w * 3 / 5
	right := m.w - left - 3
	a := m.tabbed(left, h)
	stages, log := m.panel(1), m.panel(m.panels()-1)
	top := min(stages.len()+2, h/2)
	b := append([]string{m.marks.heading(stages.title, right)}, m.draw(stages, 0, right, top-1, false)...)
	b = append(append(b, m.marks.heading(log.title, right)), m.draw(log, 0, right, h-top-1, false)...)
	return append(lines, sideBySide(a, b, " "+m.marks.bar+" ")...)
}

// sideBySide joins two blocks of the same height.
func sideBySide(a, b []string, bar string) []string {
	lines := make([]string, len(a))
	for i := range a {
		lines[i] = a[i] + bar + b[i]
	}
	return lines
}

// plots returns the plots of coverage and of speed, side by side.
func (m *screen) plots(h int) []string {
	var features []float64
	for _, p := range m.s.Series {
		features = append(features, float64(p.Features))
	}
	left := (m.w - 3) / 2
	right := m.w - 3 - left
	one := func(title string, values []float64, w int) []string {
		return append([]string{m.marks.heading(title, w)}, plot(values, w, h-1, m.marks.braille)...)
	}
	speed, most := speeds(m.s.Series, 2*right)
	return sideBySide(one(fmt.Sprintf("coverage: 0 to %s features", count(uint64(m.s.Figures.Features))), features, left),
		one(fmt.Sprintf("speed: 0 to %s executions/s", count(uint64(most+.5))), speed, right), " "+m.marks.bar+" ")
}

// speeds returns the executions a second in up to n intervals of the same number of points, and the most.
func speeds(points []view.Point, n int) (all []float64, most float64) {
	n = min(n, len(points)-1)
	for i := range n {
		a, b := &points[i*(len(points)-1)/n], &points[(i+1)*(len(points)-1)/n]
		v := 0.0
		if b.Elapsed > a.Elapsed && b.Executions > a.Executions {
			v = float64(b.Executions-a.Executions) / (b.Elapsed - a.Elapsed)
		}
		all, most = append(all, v), max(most, v)
	}
	return all, most
}

// tabbed returns the panel that has the focus, below the titles of all.
func (m *screen) tabbed(w, h int) []string {
	titles := m.marks.rule
	for i := range m.panels() {
		t := m.panel(i).title
		if i == m.tab { // the focus is not shown by colour alone
			t = "[" + t + "]"
			if ansi.StringWidth(titles+t)+2 > w { // and always to be seen
				titles = m.marks.rule
			}
		}
		titles += " " + t + " " + m.marks.rule
	}
	m.rows = h - 2
	lines := []string{fit(titles+strings.Repeat(m.marks.rule, max(0, w-ansi.StringWidth(titles))), w)}
	return append(lines, m.draw(m.panel(m.tab), m.at[m.tab], w, h-1, true)...)
}

// openFinding returns a finding in full.
func (m *screen) openFinding(h int) []string {
	m.rows = h - 1
	for i := range m.s.Findings {
		f := &m.s.Findings[i]
		if f.ID != m.open {
			continue
		}
		m.detail.update(f, m.s.Rules[f.Rule], m.w-2)
		all := m.detail.lines
		m.top = max(0, min(m.top, len(all)-m.rows))
		part := all[m.top:min(len(all), m.top+m.rows)]
		lines := []string{m.marks.heading(fmt.Sprintf("finding %s, lines %d to %d of %d", f.ID, m.top+1, m.top+len(part), len(all)), m.w)}
		for _, l := range part {
			lines = append(lines, " "+fitStyled(l, m.w-1))
		}
		return pad(lines, m.w, h)
	}
	m.open = ""
	return m.overview(h)
}

// helpText explains keys and figures.
func (m *screen) helpText(h int) []string {
	lines := []string{m.marks.heading("help", m.w)}
	for _, l := range [][2]string{
		{"q, Ctrl-C", "stop the campaign and save; twice: leave at once"},
		{"p, space", "pause, or go on; a pause is no run time"},
		{"tab, left, right", "the next panel, or the one before"},
		{"up, down, pgup, pgdn", "move in it; also j and k, home and end"},
		{"enter", "open the selected finding, or close it"},
		{"/", "filter the findings by their text; esc clears"},
		{"esc", "back"},
		{"Ctrl-Z", "suspend, until fg; it is paused meanwhile"},
		{"", ""},
		{"last new", "when an input was kept that reaches a new feature"},
		{"features", "what the corpus reaches: edges, states, answers"},
		{"stability", "share of the features that recur"},
		{"kept", "inputs that a stage has added to the corpus"},
		{"per 1M", "how many of them for a million of its executions"},
		{"unconfirmed", "findings that were seen and are being reproduced"},
	} {
		lines = append(lines, fitStyled("  "+bold.paint(fit(l[0], 22))+l[1], m.w))
	}
	return pad(lines, m.w, h)
}
