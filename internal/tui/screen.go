package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/teaselfuzz/teasel/view"
)

// screen is the state of the screen. Its picture depends on nothing else.
type screen struct {
	src   Source
	ctl   Control
	every time.Duration
	marks marks

	s        view.State
	w, h     int
	findings []view.Finding // those that the filter lets through, worst first
	tab      int            // the panel that has the focus
	at       []int          // the selected row, by panel
	rows     int            // of the focused panel that the last picture had room for
	open     string         // id of the finding that is shown in full; "": none
	detail   detail
	top      int // first line of it
	help     bool
	typing   bool // the filter
	filter   string
	stopping bool
	resume   bool    // after it was suspended
	suspend  tea.Cmd // stops the process, until it is continued
}

var _ tea.Model = (*screen)(nil)

// tick is when to look at the campaign again.
type tick struct{}

func newScreen(src Source, ctl Control, ascii bool, every time.Duration) *screen {
	m := unicodeMarks
	if ascii {
		m = asciiMarks
	}
	return &screen{src: src, ctl: ctl, every: every, marks: m}
}

func (m *screen) wait() tea.Cmd { return tea.Tick(m.every, func(time.Time) tea.Msg { return tick{} }) }

// Init implements [tea.Model].
func (m *screen) Init() tea.Cmd {
	m.look()
	return m.wait()
}

// look takes over the newest state.
func (m *screen) look() {
	m.s = m.src.Snapshot()
	var selected string
	if len(m.at) > 0 && m.at[0] < len(m.findings) {
		selected = m.findings[m.at[0]].ID
	}
	m.findings = m.findings[:0:0]
	for _, f := range m.s.Findings {
		if m.filter == "" || strings.Contains(strings.ToLower(f.Severity+" "+f.Rule+" "+f.Subject+" "+f.Message+" "+f.ID), strings.ToLower(m.filter)) {
			m.findings = append(m.findings, f)
		}
	}
	order := view.Severities()
	slices.SortStableFunc(m.findings, func(a, b view.Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	for len(m.at) < m.panels() {
		m.at = append(m.at, 0)
	}
	m.tab = min(m.tab, m.panels()-1)
	if i := slices.IndexFunc(m.findings, func(f view.Finding) bool { return f.ID == selected }); i >= 0 {
		m.at[0] = i // new ones do not move the selection
	}
}

// Update implements [tea.Model].
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		m.look()
		return m, m.wait()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ResumeMsg:
		if m.resume {
			m.ctl.Pause(false)
		}
		m.look()
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// press does what a key says.
func (m *screen) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c", name == "q" && !m.typing:
		m.stopping = true
		m.ctl.Stop()
	case name == "ctrl+z":
		m.resume = m.s.Running && !m.paused() // the time until the campaign goes on is no run time
		m.ctl.Pause(true)
		return m.suspend
	case m.typing:
		m.edit(name, k.Text)
	case name == "p", name == "space":
		m.ctl.Pause(!m.paused())
		m.look()
	case name == "?":
		m.help = !m.help
	case name == "esc":
		if m.open == "" && !m.help {
			m.edit("esc", "")
		}
		m.open, m.help = "", false
	case name == "/":
		m.typing, m.open, m.help, m.tab = true, "", false, 0
	case name == "tab", name == "right":
		m.tab, m.open = (m.tab+1)%m.panels(), ""
	case name == "shift+tab", name == "left":
		m.tab, m.open = (m.tab+m.panels()-1)%m.panels(), ""
	case name == "enter":
		m.openSelected()
	default:
		m.move(name)
	}
	return nil
}

func (m *screen) paused() bool { return m.s.Status == "paused" }

// edit changes the filter of the findings.
func (m *screen) edit(name, text string) {
	switch name {
	case "enter", "tab":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	default:
		m.filter += text
	}
	m.at[0] = 0
	m.look()
}

func (m *screen) openSelected() {
	switch {
	case m.open != "":
		m.open = ""
	case m.tab == 0 && len(m.findings) > 0:
		m.open, m.top = m.findings[min(m.at[0], len(m.findings)-1)].ID, 0
	}
}

// move moves in what is shown: the text of a finding, or the rows of the focused panel.
func (m *screen) move(name string) {
	at, last, page := &m.at[m.tab], m.panel(m.tab).len()-1, max(1, m.rows-1)
	if m.open != "" {
		at, last = &m.top, len(m.detail.lines)-m.rows
	}
	by := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "home": -1 << 30, "end": 1 << 30, "g": -1 << 30, "G": 1 << 30}[name]
	*at = max(0, min(*at+by, last))
}

// View implements [tea.Model].
func (m *screen) View() tea.View {
	v := tea.NewView(strings.Join(m.picture(), "\n"))
	v.AltScreen, v.WindowTitle = true, "teasel "+m.s.Kind
	return v
}
