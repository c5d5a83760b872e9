package report

import (
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// Provenance says how the input of a finding came to be, in one line: by which stage, from which testcase, when, and what minimising
// has made of it.
func Provenance(f *teasel.Finding) string {
	var parts []string
	if made := view.MadeBy(f.Stage, f.Parent); made != "" {
		parts = append(parts, made)
	}
	if f.Change != "" {
		parts = append(parts, plain.Line(f.Change))
	}
	when := fmt.Sprintf("execution %d of worker %d", f.Execution, f.Worker)
	if f.Found > 0 {
		when = "after " + clock.Tenths(f.Found) + ", " + when
	}
	return strings.Join(append(parts, when, minimised(f)), ", ")
}

// minimised says what minimising has made of an input.
func minimised(f *teasel.Finding) string {
	before, now := len(f.Original), len(f.Input)
	switch {
	case f.Static:
		return "depends on no input"
	case f.Minimal && before == now:
		return fmt.Sprintf("minimised: %d bytes are the least", now)
	case f.Minimal && now > before: // an input that stands for several
		return fmt.Sprintf("minimised, with what has to run before it, to %d bytes", now)
	case f.Minimal:
		return fmt.Sprintf("minimised from %d to %d bytes", before, now)
	case before > now:
		return fmt.Sprintf("made shorter, from %d to %d bytes; not minimised to the end", before, now)
	}
	return "not minimised"
}
