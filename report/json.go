package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// jsonRun is the object that [JSON] writes. Its field names are fixed; new ones may come.
type jsonRun struct {
	Teasel              string               `json:"teasel"`
	Kind                string               `json:"kind"`
	Target              string               `json:"target"`
	Seed                uint64               `json:"seed"`
	Seconds             float64              `json:"seconds"`
	Executions          uint64               `json:"executions"`
	ExecutionsPerSecond float64              `json:"executions_per_second"`
	Messages            uint64               `json:"messages,omitzero"` // that a server was sent in them, of the kind net
	MessagesPerSecond   float64              `json:"messages_per_second,omitzero"`
	Features            int                  `json:"features"`
	FeaturesLastMinute  int                  `json:"features_last_minute,omitzero"` // of them
	Corpus              int                  `json:"corpus"`
	Coverage            jsonCoverage         `json:"coverage,omitzero"`
	Stages              []jsonStage          `json:"stages,omitzero"`
	Tables              map[string]jsonTable `json:"tables,omitzero"`      // of figures, such as requests and messages
	KnownShare          float64              `json:"known_share,omitzero"` // of the time, for confirming, trimming, minimising, and inputs that crash or hang
	Findings            []jsonFinding        `json:"findings"`
	Unconfirmed         []jsonFinding        `json:"unconfirmed"`            // seen, and there was no time to reproduce them
	Outcome             string               `json:"outcome"`                // found, unconfirmed, not reproduced, untested or nothing
	Untested            string               `json:"untested,omitzero"`      // why what the run was for was not tested
	NotReproduced       int                  `json:"not_reproduced"`         // findings that were seen, tried and not reproduced
	Unreproduced        []jsonFinding        `json:"unreproduced,omitempty"` // those of them that are listed
	Stopped             string               `json:"stopped"`
	Library             string               `json:"library,omitzero"`  // what the target is built on
	Triaged             *jsonTriaged         `json:"triaged,omitempty"` // of teasel triage
	Known               []jsonKnown          `json:"known,omitzero"`    // of a run with a baseline or accepted findings
	Gone                []jsonGone           `json:"gone,omitzero"`
	Skipped             []Skip               `json:"skipped"`
	Blocked             []string             `json:"blocked"`
}

type jsonCoverage struct {
	Coverage
	Stability float64 `json:"stability,omitzero"`
}

type jsonFinding struct {
	ID          string `json:"id"`
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Subject     string `json:"subject"`
	Message     string `json:"message"`
	Occurrences uint64 `json:"occurrences"`
	Stable      bool   `json:"stable"`
	Reproducer  string `json:"reproducer"`
	Unsaved     string `json:"unsaved,omitempty"` // why it has no file
	Tries       int    `json:"tries,omitempty"`   // of one that was not reproduced: none of them has
	Test        string `json:"test,omitempty"`    // that it is of

	Stage        string  `json:"stage,omitempty"`
	Parent       string  `json:"parent,omitempty"`
	Change       string  `json:"change,omitempty"`
	Found        float64 `json:"found,omitempty"` // seconds after the start of the campaign
	Execution    uint64  `json:"execution"`
	Size         int     `json:"size"`          // of the input, in bytes
	OriginalSize int     `json:"original_size"` // of the one that it was first seen with
	Minimal      bool    `json:"minimal"`       // minimising has come to its end

	Library string `json:"library,omitempty"` // that the finding is of; "": the target's own

	Input json.RawMessage `json:"input,omitempty"` // of a finding without a file, as it stands in one

	Inputs []string `json:"inputs,omitempty"` // of teasel triage: the files that show it
}

// jsonKnown is a known finding.
type jsonKnown struct {
	jsonFinding
	State  string `json:"state"` // baseline or accepted
	Reason string `json:"reason,omitempty"`
}

// jsonGone is a known finding that the run has not found; of an accepted one there may be only the id and the reason.
type jsonGone struct {
	ID       string `json:"id"`
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Message  string `json:"message,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// JSON writes one JSON object on one line.
func JSON(w io.Writer, r *Run) error {
	st := &r.Summary.Stats
	o := jsonRun{Teasel: r.version(), Kind: r.Kind, Target: r.Target, Seed: r.Seed, Seconds: round(st.Elapsed.Seconds(), 3),
		Executions: st.Executions, ExecutionsPerSecond: round(r.rate(), 1), Features: st.Features, Corpus: st.Corpus, Coverage: r.jsonCoverage(),
		Findings: []jsonFinding{}, Skipped: append([]Skip{}, r.skipped()...), Blocked: append([]string{}, r.blocked()...)}
	o.Messages, o.MessagesPerSecond = st.Messages, round(r.perSecond(st.Messages), 1)
	s := r.history()
	o.FeaturesLastMinute, o.Stages, o.Tables = s.Figures.Fresh, jsonStages(st.Stages), tables(&s)
	o.KnownShare = round(st.KnownShare(), 4)
	outcome := r.Outcome()
	o.Outcome, o.NotReproduced = outcome.String(), len(outcome.Unreproduced)
	o.Library = r.Library
	for _, f := range r.newFindings() {
		o.Findings = append(o.Findings, r.jsonFinding(&f, r.reproducer(&f)))
	}
	o.Unconfirmed, o.Stopped, o.Untested = []jsonFinding{}, r.Summary.Stopped, r.Untested
	for _, f := range r.Pending() {
		u := r.jsonFinding(&f, r.reproducer(&f))
		if u.Tries = f.Tries; u.Tries > 0 {
			o.Unreproduced = append(o.Unreproduced, u)
			continue
		}
		o.Unconfirmed = append(o.Unconfirmed, u)
	}
	o.Triaged = r.triaged()
	if r.Baseline != nil {
		o.Known, o.Gone = r.jsonKnown()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(o)
	if err == nil {
		_, err = w.Write(plain.JSON(b.Bytes())) // to a terminal, perhaps
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (r *Run) jsonCoverage() jsonCoverage {
	return jsonCoverage{r.Coverage, round(r.Summary.Stability, 4)}
}

func (r *Run) jsonFinding(f *teasel.Finding, file string) jsonFinding {
	library := ""
	if r.OfLibrary != nil && r.OfLibrary(*f) {
		library = r.Library
	}
	var input json.RawMessage
	if f.Unsaved != "" {
		input = corpus.InputText(f.Input)
	}
	return jsonFinding{Unsaved: f.Unsaved, Input: input, Library: library, ID: f.ID(), Rule: f.Rule, Severity: f.Severity.String(), Subject: f.Subject,
		Message: f.Message, Occurrences: f.Occurrences, Stable: f.Confirmed(), Reproducer: file, Test: r.test(f),
		Stage: f.Stage, Parent: f.Parent, Change: f.Change, Found: round(f.Found.Seconds(), 3), Execution: f.Execution,
		Size: len(f.Input), OriginalSize: len(f.Original), Minimal: f.Minimal, Inputs: r.inputs(f)}
}

func (r *Run) jsonKnown() ([]jsonKnown, []jsonGone) {
	known, gone := []jsonKnown{}, []jsonGone{}
	for _, f := range r.known() {
		k := jsonKnown{jsonFinding: r.jsonFinding(&f.Finding, f.file), State: "baseline"}
		if f.accepted != nil {
			k.State, k.Reason = "accepted", f.accepted.Reason
		}
		known = append(known, k)
	}
	for _, g := range r.gone() {
		severity := ""
		if g.Rule != "" {
			severity = g.Severity.String()
		}
		gone = append(gone, jsonGone{g.ID, g.Rule, severity, g.Subject, g.Message, g.Reason})
	}
	return known, gone
}

func (r *Run) version() string {
	if r.Version == "" {
		return "dev"
	}
	return r.Version
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
