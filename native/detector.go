package native

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
)

// Detect is the detector of this package: it makes a finding of a [Crash]. The same bug is known by its rule and the
// innermost functions of its stack. What the same access comes to, which depends on where it went, is one place.
func Detect(o *teasel.Observation) []teasel.Finding {
	c, ok := o.Evidence.(*Crash)
	if !ok {
		return nil
	}
	r := c.triage()
	return []teasel.Finding{{Rule: c.Rule, Severity: c.severity(), Subject: cmp.Or(r.Function(), "target"), Group: c.group(r), Place: r.Place(),
		Message: c.sentence(r), Detail: c.detail(), Signal: int(c.Signal)}}
}

var _ teasel.DetectorFunc = Detect

// severity is a guess: whoever writes where he should not can often do more.
func (c *Crash) severity() teasel.Severity {
	s := rule(c.Rule).Severity
	if c.Access == "write" && s == teasel.High {
		return teasel.Critical
	}
	return s
}

// detail is what a person wants to see: how it ended, the stack, and what was said.
func (c *Crash) detail() string {
	var b strings.Builder
	if c.Signal != 0 {
		fmt.Fprintf(&b, "signal %d (%v)\n", int(c.Signal), c.Signal)
	}
	for i, f := range c.Stack {
		if i > 1 && f == c.Stack[i-1] && f == c.Stack[i-2] {
			continue // a recursion: twice shows it
		}
		fmt.Fprintf(&b, "#%d %v\n", i, f)
	}
	if c.Report != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Report)
	}
	return b.String()
}
