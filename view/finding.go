package view

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Finding is a finding as it is shown.
type Finding struct {
	ID          string    `json:"id"`
	Rule        string    `json:"rule"`
	Severity    string    `json:"severity"`
	Subject     string    `json:"subject"`
	Message     string    `json:"message"`
	Detail      string    `json:"detail,omitempty"`
	Test        string    `json:"test,omitempty"`  // that it is of
	Found       float64   `json:"found,omitempty"` // when it was first reported; 0: not known
	Stable      int       `json:"stable"`
	Tries       int       `json:"tries"`
	Occurrences uint64    `json:"occurrences"`
	Worker      int       `json:"worker"`
	Execution   uint64    `json:"execution"`
	Unconfirmed bool      `json:"unconfirmed,omitempty"`
	Known       string    `json:"known,omitempty"` // why it does not count; "": it does
	Input       []byte    `json:"input"`
	Original    []byte    `json:"original,omitempty"`
	InputSize   int       `json:"input_size"` // of all of it: Input may be the beginning
	OriginSize  int       `json:"original_size,omitempty"`
	Commands    []Command `json:"commands,omitempty"`

	revision uint64 // when it changed
	counted  uint64 // revision when its occurrences changed
}

// Severities returns the names of the severities, from worst to mildest.
func Severities() (names []string) {
	for s := teasel.Critical; s >= teasel.Info; s-- {
		names = append(names, s.String())
	}
	return names
}

// SetCommands sets the commands of a finding that a state has.
func (s *State) SetCommands(id string, commands []Command) {
	for i := range s.Findings {
		if s.Findings[i].ID == id {
			s.Findings[i].Commands = plainCommands(commands)
		}
	}
}

func plainCommands(commands []Command) (all []Command) {
	for _, c := range commands {
		all = append(all, Command{plain.Line(c.Title), plain.Text(c.Text)})
	}
	return all
}

// Command is a command to be copied.
type Command struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// mostShown is how many bytes of an input and of a detail are part of a state; the finding's file has all.
const mostShown = 256 << 10

// NewFinding returns a finding as it is shown.
func NewFinding(f *teasel.Finding, commands ...Command) Finding {
	return Finding{ID: f.ID(), Rule: plain.Line(f.Rule), Severity: f.Severity.String(), Subject: plain.Line(f.Subject), Message: plain.Line(f.Message),
		Detail: plain.Text(f.Detail[:min(len(f.Detail), mostShown)]), Found: f.Found.Seconds(), Stable: f.Stable, Tries: f.Tries, Occurrences: f.Occurrences,
		Worker: f.Worker, Execution: f.Execution, Input: f.Input[:min(len(f.Input), mostShown)], Original: f.Original[:min(len(f.Original), mostShown)],
		InputSize: len(f.Input), OriginSize: len(f.Original), Commands: plainCommands(commands)}
}
