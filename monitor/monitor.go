// Package monitor shows a campaign while it runs as [Lines], for logs and CI: a reporter that neither holds up nor ends a campaign, since
// output that cannot be written at once is left out. [Stream] lends the terminal to those that show a campaign in another way.
package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// Options says what is shown, and how. The zero value is fine.
type Options struct {
	Every  time.Duration    // between lines; 0: 10 seconds
	Before []teasel.Finding // known from an earlier run of the campaign: counted, not shown

	// Known reports whether the finding with an id is known, by a baseline for example, and is labelled so; nil: none is.
	Known func(id string) bool
}

func (o *Options) known(f *teasel.Finding) bool { return o.Known != nil && o.Known(f.ID()) }

// counts has the figures of a campaign that are shown.
type counts struct {
	stats    teasel.Stats
	before   teasel.Stats               // at the last line
	severity map[string]teasel.Severity // of the findings, by id
	seeding  view.Seeding
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

// findings says how many findings there are, and how many were seen and wait to be confirmed.
func (c *counts) findings() string {
	s := fmt.Sprintf("%d", len(c.severity))
	if len(c.severity) > 0 {
		s += " (" + c.bySeverity() + ")"
	}
	if c.stats.Pending > 0 {
		s += fmt.Sprintf(", %d unconfirmed", c.stats.Pending)
	}
	return s
}

// begun says how many seeds have run and how far a stage is that comes to an end, as long as there is more of them; "": all is done.
func (c *counts) begun() string {
	if c.stats.SeedsRun < c.stats.Seeds {
		s := fmt.Sprintf("seeds %d of %d", c.stats.SeedsRun, c.stats.Seeds)
		if left, ok := c.seeding.Left(&c.stats); ok {
			s += ", about " + clock.Seconds(left) + " left"
		}
		return s
	}
	for _, g := range c.stats.Stages {
		if g.Executions < g.Planned {
			return fmt.Sprintf("%s %d of %d", oneLine(g.Name), g.Executions, g.Planned)
		}
	}
	return ""
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
	const most = 400
	if rs := []rune(plain.Line(s)); len(rs) > most {
		return string(rs[:most]) + "..."
	}
	return plain.Line(s)
}
