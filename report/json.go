package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// jsonRun is the object that [JSON] writes. Its field names are fixed; new ones may come.
type jsonRun struct {
	Teasel              string        `json:"teasel"`
	Kind                string        `json:"kind"`
	Target              string        `json:"target"`
	Seed                uint64        `json:"seed"`
	Seconds             float64       `json:"seconds"`
	Executions          uint64        `json:"executions"`
	ExecutionsPerSecond float64       `json:"executions_per_second"`
	Features            int           `json:"features"`
	Corpus              int           `json:"corpus"`
	Findings            []jsonFinding `json:"findings"`
	Unconfirmed         []jsonFinding `json:"unconfirmed"` // seen, and there was no time to reproduce them
	Stopped             string        `json:"stopped"`
	Skipped             []Skip        `json:"skipped"`
	Blocked             []string      `json:"blocked"`
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
}

// JSON writes one JSON object on one line.
func JSON(w io.Writer, r *Run) error {
	st := &r.Summary.Stats
	o := jsonRun{Teasel: r.version(), Kind: r.Kind, Target: r.Target, Seed: r.Seed, Seconds: round(st.Elapsed.Seconds(), 3),
		Executions: st.Executions, ExecutionsPerSecond: round(r.rate(), 1), Features: st.Features, Corpus: st.Corpus,
		Findings: []jsonFinding{}, Skipped: append([]Skip{}, r.skipped()...), Blocked: append([]string{}, r.blocked()...)}
	fs := r.findings()
	for i := range fs {
		f := &fs[i]
		o.Findings = append(o.Findings, jsonFinding{ID: f.ID(), Rule: f.Rule, Severity: f.Severity.String(), Subject: f.Subject,
			Message: f.Message, Occurrences: f.Occurrences, Stable: f.Confirmed(), Reproducer: r.reproducer(f)})
	}
	o.Unconfirmed, o.Stopped = []jsonFinding{}, r.Summary.Stopped
	pending := r.Pending()
	for i := range pending {
		f := &pending[i]
		o.Unconfirmed = append(o.Unconfirmed, jsonFinding{ID: f.ID(), Rule: f.Rule, Severity: f.Severity.String(), Subject: f.Subject,
			Message: f.Message, Occurrences: f.Occurrences, Reproducer: r.unconfirmed(f)})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
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
