package native

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/triage"
)

// Detect is the detector of this package: it turns a [Crash] into a finding. Two crashes are the same bug if they have the same rule
// and the same innermost functions. Crashes by the same memory access have the same Place, whatever their rules. Detect may be
// called concurrently.
func Detect(o *teasel.Observation) []teasel.Finding {
	c, ok := o.Evidence.(*Crash)
	if !ok {
		return nil
	}
	r := c.triage()
	return []teasel.Finding{{Rule: c.Rule, Severity: c.severity(), Subject: cmp.Or(r.Function(), "target"), Group: c.group(r), Place: r.Place(),
		Message: c.sentence(r), Detail: c.detail(), Signal: int(c.Signal), Uncertain: c.Varies || c.Sampled || c.Rule == ruleHang}}
}

var _ teasel.DetectorFunc = Detect

// severity returns the severity of the rule, with two exceptions: critical for a write of high severity, which is often exploitable,
// and high for undefined behaviour that is an invalid memory access, which UndefinedBehaviorSanitizer reports before
// AddressSanitizer can.
func (c *Crash) severity() teasel.Severity {
	s := rule(c.Rule).Severity
	if c.Rule == RuleUndefined && triage.UndefinedAccess(c.Message, c.Report) {
		return teasel.High
	}
	if c.Access == "write" && s == teasel.High {
		return teasel.Critical
	}
	return s
}

// detail returns how the run ended, the stack, and the report.
func (c *Crash) detail() string {
	var b strings.Builder
	if c.Signal != 0 {
		fmt.Fprintf(&b, "signal %d (%v)\n", int(c.Signal), c.Signal)
	}
	for i, f := range c.Stack {
		if i > 1 && f == c.Stack[i-1] && f == c.Stack[i-2] {
			continue // a recursion is shown by two frames
		}
		fmt.Fprintf(&b, "#%d %v\n", i, f)
	}
	if c.Report != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Report)
	}
	return b.String()
}
