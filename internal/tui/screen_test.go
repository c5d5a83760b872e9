package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/view"
)

var update = flag.Bool("update", false, "write the golden pictures")

// panels are those of a kind.
type panels []view.Panel

func (p panels) Panels([]teasel.Entry) []view.Panel { return p }

// sample is the state of a campaign after two minutes, in which every text of the target is text.
func sample(text string) view.State {
	rule := teasel.Rule{ID: "net/crash" + text, Title: "The server died" + text, Help: "It has to live." + text, Source: "RFC 0000" + text}
	rec := view.NewRecorder(view.State{Teasel: "0.1.0", Kind: "net", Target: "redis-server" + text, Duration: 900}, []teasel.Entry{{Key: "k"}}, view.Options{
		Rules: []teasel.Rule{rule},
		Commands: func(*teasel.Finding) []view.Command {
			return []view.Command{{Title: "reproduce it", Text: "teasel repro x.json" + text}}
		},
		Panels: panels{{Title: "States" + text, Head: []string{"state" + text, "testcases"}, Rows: [][]string{{"open" + text, "7"}, {"closed", "never"}}}},
	})
	report := func(e teasel.Event) { _ = rec.Report(e) }
	for i := range 120 {
		n := uint64(i + 1)
		report(teasel.Event{Kind: teasel.EventProgress, Workers: []teasel.WorkerState{{Number: 0, Executions: 900 * n}, {Number: 1, Executions: 1100 * n}},
			Stats: teasel.Stats{Elapsed: time.Duration(n) * time.Second, Executions: 2000 * n, Corpus: 3 * i, Features: 1000 * i / (20 + i), Workers: 2, Memory: 50 << 20,
				LastKept: 117 * time.Second, LastFound: 60 * time.Second, Stability: .987, Pending: 1,
				Stages: []teasel.StageStats{{Name: "havoc" + text, Executions: 1500 * n, Kept: n}, {Name: "confirm", Executions: 10, Time: 3 * time.Second}}}})
	}
	for i, s := range []teasel.Severity{teasel.Low, teasel.Critical, teasel.Info} {
		f := teasel.Finding{Rule: rule.ID, Severity: s, Subject: fmt.Sprint("SET ", i, text), Message: "it died of signal 11 日本語" + text, Detail: "> SET x" + text + "\n#0 handler server.c:17" + text,
			Input: []byte("SET x y\n" + text), Original: []byte("SET xxxxxxx y\n"), Stable: 3, Tries: 3, Occurrences: uint64(i + 1), Found: time.Duration(i+1) * 20 * time.Second}
		report(teasel.Event{Kind: teasel.EventFound, Finding: f})
	}
	report(teasel.Event{Kind: teasel.EventNote, Text: "the server is slow" + text})
	s := rec.Snapshot()
	for i := range s.Log {
		s.Log[i].Elapsed = float64(120 + i)
	}
	return s
}

// fixed is a campaign that does not change.
type fixed view.State

func (s fixed) Snapshot() view.State { return view.State(s) }

// keys records what the keys have asked for.
type keys struct{ said []string }

func (k *keys) Pause(on bool) { k.said = append(k.said, fmt.Sprint("pause ", on)) }
func (k *keys) Stop()         { k.said = append(k.said, "stop") }

func shown(s view.State, w, h int, press ...string) (*screen, *keys) {
	k := &keys{}
	m := newScreen(fixed(s), k, false, time.Hour)
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.picture()
	for _, name := range press {
		m.Update(key(name))
		m.picture()
	}
	return m, k
}

func key(name string) tea.KeyPressMsg {
	codes := map[string]rune{"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown}
	if c, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func text(m *screen) string { return ansi.Strip(strings.Join(m.picture(), "\n")) }

// The picture depends on the state, the size and the keys alone.
func TestPictures(t *testing.T) {
	for _, tt := range []struct {
		name string
		w, h int
		keys []string
	}{
		{"80x24", 80, 24, nil}, {"140x40", 140, 40, nil}, {"60x16", 60, 16, nil}, {"20x5", 20, 5, nil}, {"20x24", 20, 24, nil},
		{"finding", 80, 24, []string{"down", "enter"}}, {"help", 80, 24, []string{"?"}},
		{"kind", 80, 24, []string{"tab", "tab", "tab"}}, {"filter", 80, 24, []string{"/", "c", "r", "i", "t"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := shown(sample(""), tt.w, tt.h, tt.keys...)
			var lines []string
			for line := range strings.Lines(text(m)) {
				lines = append(lines, strings.TrimRight(line, " \n"))
			}
			got := strings.Join(lines, "\n") + "\n"
			path := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// No size makes it panic, and no picture is larger than the terminal.
func TestEverySize(t *testing.T) {
	states := []view.State{sample(""), sample(strings.Repeat(" 漢字é", 30)), {Kind: "go", Running: true}}
	for i, s := range states {
		for _, press := range [][]string{nil, {"down", "enter", "end"}, {"?"}, {"tab", "tab", "tab", "tab"}, {"/", "x"}} {
			m, _ := shown(s, 80, 24, press...)
			m.marks = []marks{unicodeMarks, asciiMarks, unicodeMarks}[i]
			for w := 0; w < 200; w += 19 {
				for h := 0; h < 70; h += 7 {
					m.Update(tea.WindowSizeMsg{Width: w, Height: h})
					m.Update(key("down"))
					lines := m.picture()
					if len(lines) > h {
						t.Fatalf("state %d, keys %q, %dx%d: %d lines", i, press, w, h, len(lines))
					}
					for _, l := range lines {
						if n := ansi.StringWidth(l); n > w {
							t.Fatalf("state %d, keys %q, %dx%d: %d cells: %q", i, press, w, h, n, l)
						}
					}
				}
			}
		}
	}
}

// Nothing that a target says controls the terminal, in whatever field.
func TestTextOfTheTarget(t *testing.T) {
	const evil = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202e\u2066\u200f\r\x00\xff"
	ours := regexp.MustCompile("\x1b\\[(0|1|2|7|31|33|36|1;31)m")
	s := sample(evil)
	for _, press := range [][]string{nil, {"tab"}, {"tab", "tab"}, {"tab", "tab", "tab"}, {"tab", "tab", "tab", "tab"}, {"enter"}, {"enter", "end"}, {"?"}, {"/", evil}} {
		for _, size := range [][2]int{{20, 5}, {80, 24}, {200, 200}} {
			m, _ := shown(s, size[0], size[1], press...)
			picture := strings.Join(m.picture(), "\n")
			if i := strings.IndexFunc(ours.ReplaceAllString(picture, ""), func(r rune) bool {
				return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfffd
			}); i >= 0 {
				t.Errorf("keys %q, %v: the picture has %q", press, size, picture[max(0, i-20):])
			}
			if v := m.View(); strings.ContainsAny(v.WindowTitle, "\x1b\x07") {
				t.Errorf("the window's title is %q", v.WindowTitle)
			}
			if size[0] == 200 && !strings.Contains(picture, `\x1b[2J`) && press == nil {
				t.Errorf("what the target said is not shown:\n%s", picture)
			}
		}
	}
}

// Keys do what the help says.
func TestKeys(t *testing.T) {
	paused := sample("")
	paused.Status = "paused"
	for _, tt := range []struct {
		name  string
		state view.State
		press []string
		shows string
		said  string
	}{
		{"stop", sample(""), []string{"q"}, "stopping", "stop"},
		{"twice", sample(""), []string{"ctrl+c", "ctrl+c"}, "stopping", "stop stop"},
		{"pause", sample(""), []string{"p"}, "running", "pause true"},
		{"go on", paused, []string{"p"}, "p go on", "pause false"},
		{"suspend", sample(""), []string{"ctrl+z"}, "running", "pause true"},
		{"worst first", sample(""), []string{"enter"}, "critical  net/crash  SET 1", ""},
		{"down and up", sample(""), []string{"down", "down", "down", "up", "enter"}, "low  net/crash  SET 0", ""},
		{"to the end", sample(""), []string{"end", "enter"}, "info  net/crash  SET 2", ""},
		{"closed again", sample(""), []string{"enter", "esc"}, "[findings 3]", ""},
		{"next panel", sample(""), []string{"tab"}, "[stages]", ""},
		{"round", sample(""), []string{"tab", "tab", "tab", "tab", "tab"}, "[findings 3]", ""},
		{"filter", sample(""), []string{"/", "s", "e", "t", " ", "2", "x", "backspace", "enter"}, "[findings 1 of 3 with /set 2]", ""},
		{"q is a letter", sample(""), []string{"/", "q"}, "0 of 3 with /q", ""},
		{"filter that nothing has", sample(""), []string{"/", "z", "z", "enter"}, "no finding has this text; esc shows all", ""},
		{"filter cleared", sample(""), []string{"/", "2", "enter", "esc"}, "[findings 3]", ""},
		{"help closed", sample(""), []string{"?", "?"}, "[findings 3]", ""},
	} {
		m, k := shown(tt.state, 100, 30, tt.press...)
		if got := text(m); !strings.Contains(got, tt.shows) {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.shows, got)
		}
		if got := strings.Join(k.said, " "); got != tt.said {
			t.Errorf("%s: the campaign was told %q, want %q", tt.name, got, tt.said)
		}
	}
	m, k := shown(sample(""), 80, 24, "ctrl+z")
	m.Update(tea.ResumeMsg{})
	if got := strings.Join(k.said, " "); got != "pause true pause false" {
		t.Errorf("suspended and resumed: %q", got)
	}
	m, k = shown(paused, 80, 24, "ctrl+z")
	m.Update(tea.ResumeMsg{})
	if got := strings.Join(k.said, " "); got != "pause true" {
		t.Errorf("a pause has ended by suspending: %q", got)
	}
}

// Findings that come meanwhile do not move the selection.
func TestSelectionStays(t *testing.T) {
	s := sample("")
	m, _ := shown(s, 80, 24, "down")
	f := teasel.Finding{Rule: "net/hang", Severity: teasel.High, Subject: "new", Stable: 3, Tries: 3}
	s.Findings = append([]view.Finding{view.NewFinding(&f)}, s.Findings...)
	m.src = fixed(s)
	m.Update(tick{})
	m.Update(key("enter"))
	if got := text(m); !strings.Contains(got, "low  net/crash  SET 0") {
		t.Errorf("another finding is open:\n%s", got)
	}
}

func BenchmarkPicture(b *testing.B) {
	m, _ := shown(sample(""), 140, 40)
	for b.Loop() {
		m.look()
		m.View()
	}
}
