package teasel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Severity says how bad a broken rule is.
type Severity uint8

const (
	SeverityInvalid Severity = iota
	Info                     // true, but not worth acting on; never fails a run
	Low
	Medium
	High
	Critical
)

var severityNames = [...]string{"invalid", "info", "low", "medium", "high", "critical"}

func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return "severity?"
}

// ParseSeverity reads what String writes.
func ParseSeverity(s string) (Severity, error) {
	for i, n := range severityNames {
		if n == s && i > 0 {
			return Severity(i), nil
		}
	}
	return SeverityInvalid, fmt.Errorf("severity %q: expected info, low, medium, high or critical", s)
}

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the severity's name.
func (s *Severity) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSeverity(string(text))
	return err
}

// Rule is what a detector looks for.
type Rule struct {
	ID       string   // kind/name, for example mcp/server-crash
	Severity Severity // of its findings, unless the user says otherwise
	Title    string   // a few words
	Help     string   // what is wrong, why it matters, what to do; plain text, may have several paragraphs
	Source   string   // where the rule is written down: a specification's section; "": our own

	// Where it holds, of a protocol that has versions and transports, and the word of the specification.
	Since, Until string // versions, both included; "": from the first on, to the last
	Transport    string // "": over each
	Level        string // MUST or SHOULD; "": the specification has no such word for it
}

// Finding is a broken rule, with what is needed to reproduce it. A [Detector] must set Rule and Severity, and should set Subject
// and Message. It may set Group, Fault, Place, Signal, Alone, Uncertain, Static, and Detail or Describe. The engine overwrites the others:
// Input, Original, Complexity, Stable, Tries, Occurrences, Worker, Execution and those that follow. When a finding is reproduced, Severity, Subject,
// Message and Detail become those that the detector has given then.
type Finding struct {
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	Subject     string   `json:"subject"`             // what of the target it concerns, for example "tools/call divide"
	Group       string   `json:"group,omitempty"`     // distinguishes findings of one rule and subject, for example by status
	Fault       string   `json:"fault,omitempty"`     // where it goes wrong, for example the top of the stack; see ID
	Place       string   `json:"place,omitempty"`     // names the place in the target where it goes wrong; findings of other rules at the same place are the same fault, and are recorded only if they are more severe; "": unknown
	Message     string   `json:"message"`             // one sentence
	Detail      string   `json:"detail,omitempty"`    // lines such as a stack, or the messages that were exchanged
	Signal      int      `json:"signal,omitempty"`    // that ended the target; 0: none
	Alone       bool     `json:"alone,omitempty"`     // what the target had run before has no part in it: it is not tried together with that
	Uncertain   bool     `json:"uncertain,omitempty"` // Group, and Subject where Signal is 0, may differ from one run of the same input to the next; see Matches
	Static      bool     `json:"static,omitempty"`    // it was read from what the target says of itself and depends on no input: it counts as reproduced without another execution
	Input       []byte   `json:"-"`                   // the encoded simplest input that reproduces it
	Original    []byte   `json:"-"`                   // the encoded input that it was first seen with
	History     [][]byte `json:"-"`                   // of one that is unconfirmed, the encoded inputs that the target had run, oldest first, Original the last; nil: that is not known, or has no part in it
	Complexity  float64  `json:"-"`                   // of Input, as the mutator measures it; 0: unknown, as when it comes from disk
	Stable      int      `json:"stable"`
	Tries       int      `json:"tries"` // it was reproduced Stable times out of Tries; 0 of an unconfirmed finding: there was no time to try
	Occurrences uint64   `json:"occurrences"`
	Worker      int      `json:"worker"`
	Execution   uint64   `json:"execution"` // of that worker, when it was first seen

	Stage   string        `json:"stage,omitempty"`   // that made Original, or what else it came from, such as "seeds"; "": unknown
	Parent  string        `json:"parent,omitempty"`  // key of the testcase that Original was made from; "": of none
	Change  string        `json:"change,omitempty"`  // by which Original differs from that, in a few words
	Found   time.Duration `json:"found,omitempty"`   // when it was first reported, after the start of the campaign
	Minimal bool          `json:"minimal,omitempty"` // minimising Input has come to its end

	// Unsaved says why a [Reporter] could not keep the finding as it is; "": all have kept it. The hub sets it.
	Unsaved string `json:"-"`

	// Describe sets Detail, and may add to Message; nil: both are as they are to be. Nearly all that a detector finds is known already, and
	// nobody reads it, so that a detector need not write the detail of each. The worker calls it at most once, while the observation is valid.
	Describe func(*Finding) `json:"-"`
}

// ID names the finding: 16 hexadecimal digits of rule and fault where the fault is known, so that it is one finding
// whatever brings it about, and of rule, subject and group otherwise.
func (f *Finding) ID() string {
	name := f.Rule + "\x00" + f.Subject + "\x00" + f.Group
	if f.Fault != "" {
		name = f.Rule + "\x00" + f.Fault
	}
	h := sha256.Sum256([]byte(name))
	return hex.EncodeToString(h[:8])
}

// Matches reports whether g, found with an input of f, is the same finding: it has the same ID or, where Group is uncertain, the same rule,
// subject and signal. A hang is named by where the target was when its time was over: if both are uncertain and without a signal, the
// same rule will do.
func (f *Finding) Matches(g *Finding) bool { return f.resembles(g) || f.ID() == g.ID() }

// resembles reports whether g may be f although its ID differs.
func (f *Finding) resembles(g *Finding) bool {
	if !f.Uncertain && !g.Uncertain || f.Rule != g.Rule || f.Signal != g.Signal {
		return false
	}
	return f.Subject == g.Subject || f.Uncertain && g.Uncertain && f.Signal == 0
}

// Compare orders findings: the worst first, then by rule, subject and group, and by ID where all of these are equal.
func (f *Finding) Compare(g *Finding) int {
	return cmp.Or(-cmp.Compare(f.Severity, g.Severity), cmp.Compare(f.Rule, g.Rule), cmp.Compare(f.Subject, g.Subject),
		cmp.Compare(f.Group, g.Group), cmp.Compare(f.ID(), g.ID()))
}

// Improves reports whether f is worth reporting in place of g, the same finding: it is better confirmed, or as well and simpler.
func (f *Finding) Improves(g *Finding) bool {
	switch {
	case f.Confirmed() != g.Confirmed():
		return f.Confirmed()
	case f.Stable*g.Tries != g.Stable*f.Tries:
		return f.Stable*g.Tries > g.Stable*f.Tries
	case f.Complexity > 0 && g.Complexity > 0 && f.Complexity != g.Complexity:
		return f.Complexity < g.Complexity
	case f.Minimal != g.Minimal && bytes.Equal(f.Input, g.Input):
		return f.Minimal
	}
	return len(f.Input) < len(g.Input)
}

// covers reports whether g need not be recorded after f: both go wrong at the same place, so that they are one fault, and
// f is as severe and as well confirmed.
func (f *Finding) covers(g *Finding) bool {
	return f.Place != "" && f.Place == g.Place && f.Severity >= g.Severity && (f.Confirmed() || !g.Confirmed())
}

// Confirmed reports whether every try reproduced the finding.
func (f *Finding) Confirmed() bool { return f.Tries > 0 && f.Stable == f.Tries }

// A Detector judges an observation. It belongs to one worker, is called for observations of a crash or a hang and for those that
// carry evidence, and retains nothing of obs. The same input must be judged the same on a fresh target, or its findings are
// never confirmed. A finding whose severity is not set ends the campaign with an error.
type Detector interface {
	Detect(obs *Observation) []Finding
}

// DetectorFunc is a function as a [Detector].
type DetectorFunc func(*Observation) []Finding

// Detect calls f.
func (f DetectorFunc) Detect(o *Observation) []Finding { return f(o) }

// Crashes is the [Detector] that finds crashes and hangs, told apart by [Observation.Detail].
func Crashes(o *Observation) []Finding {
	switch o.Exit {
	case ExitCrash:
		return []Finding{{Rule: "crash", Severity: Critical, Subject: "target", Group: o.Detail, Message: o.Detail}}
	case ExitHang:
		return []Finding{{Rule: "hang", Severity: High, Subject: "target", Group: o.Detail, Message: o.Detail}}
	}
	return nil
}

// detect returns what the detectors find. An error says that one of them has returned what is no finding.
func detect(ds []Detector, o *Observation) (fs []Finding, err error) {
	if o.Exit <= ExitRejected && o.Evidence == nil {
		return nil, nil
	}
	for _, d := range ds {
		fs = append(fs, d.Detect(o)...)
	}
	for i := range fs {
		if err := fs[i].check(); err != nil {
			return nil, fmt.Errorf("detecting: %w", err)
		}
	}
	return fs, nil
}

// check returns an error for a finding that could not be counted, or not be read once it was written.
func (f *Finding) check() error {
	if f.Severity < Info || f.Severity > Critical {
		return fmt.Errorf("finding of rule %q has severity %d, expected %d (%v) to %d (%v): its detector must set Finding.Severity",
			f.Rule, f.Severity, Info, Info, Critical, Critical)
	}
	return nil
}

// describe fills in the detail of a finding while its evidence is valid.
func (f *Finding) describe() {
	if describe := f.Describe; describe != nil {
		f.Describe = nil
		describe(f)
	}
}
