// Package monitor shows a campaign while it runs: [Lines] for logs and CI, [Screen] for a terminal. Both are reporters
// that neither hold up nor end a campaign: output that cannot be written at once is left out.
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

// Monitor is a reporter that shows events to people. Close shows the last state, and never returns an error.
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

	// Known reports whether the finding with an id is known, by a baseline for example, and is labelled so; nil: none is.
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

// counts has the figures of a campaign that both kinds of monitor show.
type counts struct {
	stats    teasel.Stats
	before   teasel.Stats               // at the last line or picture
	severity map[string]teasel.Severity // of the findings, by id
}

func newCounts(before []teasel.Finding) counts {
	c := counts{severity: map[string]teasel.Severity{}}
	for i := range before {
		c.severity[before[i].ID()] = before[i].Severity
	}
	return c
}

// found counts a finding, and reports whether it is new.
func (c *counts) found(f *teasel.Finding) bool {
	_, known := c.severity[f.ID()]
	c.severity[f.ID()] = f.Severity
	return !known
}

// bySeverity says how many findings there are of each severity, worst first; "": none.
func (c *counts) bySeverity() string {
	n := map[teasel.Severity]int{}
	for _, s := range c.severity {
		n[s]++
	}
	var parts []string
	for _, s := range slices.Backward(slices.Sorted(maps.Keys(n))) {
		parts = append(parts, fmt.Sprintf("%d %v", n[s], s))
	}
	return strings.Join(parts, ", ")
}

// rate is the executions per second between two sets of figures.
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

// oneLine returns a text on one line, shortened, without characters that control a terminal.
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

// clock rounds a duration to the second.
func clock(d time.Duration) string { return d.Round(time.Second).String() }
