// Package view is the one model of a campaign's state and of its figures over time: what dashboard, report and metrics show, and what
// nothing else computes. A [Recorder] makes it from the events of a campaign that runs, [Load] from the directory of one that has ended.
package view

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Version is the version of the format of a [State] in JSON. Fields may be added without a new one.
const Version = 1

// State is a campaign at one moment. It is a value: what its slices hold is never changed. All texts are safe to print: what would
// control a terminal or change the direction of text is escaped. Times are in seconds on the campaign's clock.
type State struct {
	Version  int     `json:"version"`
	Run      string  `json:"run,omitempty"` // names the process that records it; "": the campaign was loaded
	Teasel   string  `json:"teasel,omitempty"`
	Kind     string  `json:"kind"`
	Target   string  `json:"target"`
	Dir      string  `json:"dir,omitempty"`
	Seed     uint64  `json:"seed"`
	Status   string  `json:"status"`             // running, paused, or why it has ended
	Running  bool    `json:"running"`            //
	Pausable bool    `json:"pausable,omitempty"` // it can be paused
	Duration float64 `json:"duration,omitempty"` // that it is to run; 0: no limit
	Runs     uint64  `json:"runs,omitempty"`     // executions after which it ends; 0: no limit

	Figures  Figures             `json:"figures"`
	Series   []Point             `json:"series"`
	Stages   []teasel.StageStats `json:"stages"`
	Workers  []Worker            `json:"workers"`
	Findings []Finding           `json:"findings"`
	Rules    map[string]Rule     `json:"rules,omitempty"` // those of the findings, by id
	Log      []Line              `json:"log"`
	Panels   []Panel             `json:"panels"`
	Skipped  []Skip              `json:"skipped,omitempty"`
	Blocked  []string            `json:"blocked,omitempty"`

	Revision uint64            `json:"revision"`
	Whole    bool              `json:"whole"`            // all of it; otherwise what has changed, see [State.Since]
	Thinned  bool              `json:"thinned"`          // Series is all of the series, and does not go on from an earlier one
	Counts   map[string]uint64 `json:"counts,omitempty"` // of a state that is not whole: occurrences that have changed, by the finding's id

	thinned uint64 // revision of the series' first point
	panels  uint64 // revision of the panels
}

// Figures are the figures of a campaign at one moment.
type Figures struct {
	Elapsed    float64 `json:"elapsed"`
	Executions uint64  `json:"executions"`
	Messages   uint64  `json:"messages,omitempty"` // that a server was sent in them
	Rate       float64 `json:"rate"`               // executions a second, of late while it runs and over the whole time afterwards
	Corpus     int     `json:"corpus"`
	Evicted    int     `json:"evicted"`
	Features   int     `json:"features"`
	Fresh      int     `json:"fresh"`     // features that have come in the last minute
	Stability  float64 `json:"stability"` // from 0 to 1; 0: nothing was calibrated
	Workers    int     `json:"workers"`
	Memory     uint64  `json:"memory"` // bytes
	LastKept   float64 `json:"last_kept"`
	LastFound  float64 `json:"last_found"`
	Pending    int     `json:"pending,omitempty"`    // findings that were seen and are not confirmed
	Seeds      int     `json:"seeds,omitempty"`      // that were given to this run
	SeedsRun   int     `json:"seeds_run,omitempty"`  // of them
	SeedsLeft  float64 `json:"seeds_left,omitempty"` // seconds until all have run, estimated; 0: it is not known
}

// Point is a point of the series.
type Point struct {
	Elapsed    float64
	Executions uint64
	Corpus     int
	Features   int
	Findings   int
	Memory     uint64

	revision uint64
}

// Worker is a worker of a campaign.
type Worker struct {
	Number     int    `json:"number"`
	Executions uint64 `json:"executions"`
}

// Line is an entry of the log: a finding, or a note to the user.
type Line struct {
	Elapsed float64 `json:"elapsed"`
	Kind    string  `json:"kind"` // found, unconfirmed or note
	ID      string  `json:"id,omitempty"`
	Text    string  `json:"text"`

	revision uint64
}

// Skip says why something of the target is not fuzzed.
type Skip struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
}

// Rule is what a finding has broken.
type Rule struct {
	Title  string `json:"title"`
	Help   string `json:"help,omitempty"`
	Source string `json:"source,omitempty"`
}

// SetStats takes over the figures and stages of a campaign that has ended. Its series is set before.
func (s *State) SetStats(st *teasel.Stats) {
	s.Figures = newFigures(st)
	if st.Elapsed > 0 {
		s.Figures.Rate = float64(st.Executions) / st.Elapsed.Seconds()
	}
	s.Figures.Fresh = fresh(s.Series, &s.Figures)
	s.Stages = plainStages(st.Stages)
}

// Prepare makes the texts of a state that was filled in by hand safe to print; findings are made safe by [NewFinding].
func (s *State) Prepare() {
	s.Version = Version
	for _, text := range []*string{&s.Teasel, &s.Kind, &s.Target, &s.Dir, &s.Status} {
		*text = plain.Line(*text)
	}
	s.Skipped, s.Blocked = slices.Clone(s.Skipped), plainLines(s.Blocked)
	for i, k := range s.Skipped {
		s.Skipped[i] = Skip{plain.Line(k.Subject), plain.Line(k.Reason)}
	}
	s.Panels = plainPanels(s.Panels)
}

func plainLines(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, plain.Line(t))
	}
	return all
}

// AddRule explains a rule that a finding has broken.
func (s *State) AddRule(r teasel.Rule) {
	if s.Rules == nil {
		s.Rules = map[string]Rule{}
	}
	s.Rules[plain.Line(r.ID)] = Rule{plain.Line(r.Title), plain.Text(r.Help), plain.Line(r.Source)}
}

func newFigures(s *teasel.Stats) Figures {
	return Figures{Elapsed: s.Elapsed.Seconds(), Executions: s.Executions, Messages: s.Messages, Corpus: s.Corpus, Evicted: s.Evicted, Features: s.Features,
		Stability: s.Stability, Workers: s.Workers, Memory: s.Memory, LastKept: s.LastKept.Seconds(), LastFound: s.LastFound.Seconds(),
		Pending: s.Pending, Seeds: s.Seeds, SeedsRun: s.SeedsRun}
}

// HasExecutions reports whether a stage counts executions: what takes time in those of others, as inputs that crash do, has none of its own.
func HasExecutions(g *teasel.StageStats) bool { return g.Executions > 0 || g.Kept > 0 || g.Time == 0 }

// plainStages returns stages whose names are safe to print: another process may have named them.
func plainStages(stages []teasel.StageStats) []teasel.StageStats {
	stages = slices.Clone(stages)
	for i := range stages {
		stages[i].Name = plain.Line(stages[i].Name)
	}
	return stages
}

func newPoint(s *teasel.Stats) Point {
	return Point{Elapsed: s.Elapsed.Seconds(), Executions: s.Executions, Corpus: s.Corpus, Features: s.Features, Findings: s.Findings, Memory: s.Memory}
}

// endings say why a campaign has ended.
var endings = map[string]string{
	"duration":    "ended: its duration is over",
	"runs":        "ended: all of its executions were made",
	"values":      "ended: all values of its inputs' types have been tried",
	"seeds":       "ended: all inputs have run",
	"findings":    "stopped early: as many findings as --stop-after asks for",
	"memory":      "stopped early: teasel held more memory than --max-memory allows",
	"fleet":       "stopped early: the fleet was told to stop",
	"unreached":   "not fuzzed: no fuzz target covers the changed code",
	"gone":        "stopped early: the target takes no input any more, and is not teasel's to start again",
	"interrupted": "interrupted",
	"failed":      "failed: the error says why",
	"":            "stopped, or killed",
}

// Ending says why a campaign has ended, given the word that [teasel.Summary] has for it.
func Ending(stopped string) string {
	if text, ok := endings[stopped]; ok {
		return text
	}
	return "ended: " + plain.Line(stopped)
}

// Ended sets why a campaign has ended, as [teasel.Summary] has it.
func (s *State) Ended(stopped string) { s.Status, s.Running = Ending(stopped), false }
