// Package monitor shows a campaign while it runs: [Lines] for logs and CI, [Screen] for a terminal. Both are reporters
// that neither hold up nor end a campaign: what cannot be written at once is left out.
package monitor

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/teaselfuzz/teasel"
)

// Monitor is a reporter that shows what it is told. Close shows the last of it; it reports no error.
type Monitor interface {
	teasel.Reporter
	io.Closer
}

// Options says what is shown, and how. The zero value is fine.
type Options struct {
	Title  string              // what is fuzzed, for example "mcp: node server.js"
	Plain  bool                // lines, also on a terminal
	Every  time.Duration       // between lines; 0: 10 seconds
	Before []teasel.Finding    // known from an earlier run of the campaign: counted, not shown
	Getenv func(string) string // nil: os.Getenv

	// Known reports whether the finding with an id is no news, so that it is shown as one that does not matter; nil: all matter.
	Known func(id string) bool
}

func (o *Options) known(f *teasel.Finding) bool { return o.Known != nil && o.Known(f.ID()) }

func (o *Options) getenv(name string) string {
	if o.Getenv == nil {
		return os.Getenv(name)
	}
	return o.Getenv(name)
}

// New returns a [Screen] if w is a terminal that can show one, and [Lines] otherwise: with Plain, in CI (CI is set),
// or when TERM is dumb.
func New(w io.Writer, o Options) Monitor {
	ci := o.getenv("CI")
	if o.Plain || !isTerminal(w) || o.getenv("TERM") == "dumb" || ci != "" && ci != "false" {
		return NewLines(w, o)
	}
	return NewScreen(w, o)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// tally is what both kinds of monitor know of a campaign.
type tally struct {
	stats    teasel.Stats
	before   teasel.Stats // at the last line or picture
	severity map[string]teasel.Severity
}

func newTally(before []teasel.Finding) tally {
	t := tally{severity: map[string]teasel.Severity{}}
	for i := range before {
		t.severity[before[i].ID()] = before[i].Severity
	}
	return t
}

// found reports whether a finding is new.
func (t *tally) found(f *teasel.Finding) bool {
	_, known := t.severity[f.ID()]
	t.severity[f.ID()] = f.Severity
	return !known
}

// counts says how many findings there are of each severity, worst first; "": none.
func (t *tally) counts() string {
	n := map[teasel.Severity]int{}
	for _, s := range t.severity {
		n[s]++
	}
	var parts []string
	for _, s := range slices.Backward(slices.Sorted(maps.Keys(n))) {
		parts = append(parts, fmt.Sprintf("%d %v", n[s], s))
	}
	return strings.Join(parts, ", ")
}

// rate is executions a second between two moments.
func rate(from, to *teasel.Stats) float64 {
	if to.Elapsed <= from.Elapsed || to.Executions < from.Executions {
		return 0
	}
	return float64(to.Executions-from.Executions) / (to.Elapsed - from.Elapsed).Seconds()
}

// headline is a finding in one line.
func headline(f *teasel.Finding) string {
	flaky := ""
	if f.Stable > 0 && !f.Confirmed() {
		flaky = fmt.Sprintf(" (flaky: %d of %d)", f.Stable, f.Tries)
	}
	return fmt.Sprintf("%s  %s: %s%s", oneLine(f.Rule), oneLine(f.Subject), oneLine(f.Message), flaky)
}

// oneLine is a text that does nothing to a terminal but stand there, and is not endless.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), unicode.IsSpace), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	const most = 400
	if rs := []rune(s); len(rs) > most {
		return string(rs[:most]) + "..."
	}
	return s
}

// clock is a duration to the second.
func clock(d time.Duration) string { return d.Round(time.Second).String() }
