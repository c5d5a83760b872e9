package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// Spread collects where faults show that have one cause, such as a check that an SDK lacks: each of these is one finding, and
// a Spread knows on how many methods and tools it was seen. The zero value is ready. Its methods may be called at once.
type Spread struct {
	mu    sync.Mutex
	shown map[string]map[string]string // by the finding's id, then by subject: the shortest message that shows it
}

// Bounds of what is remembered of one cause, and of what is reported.
const (
	maxSpread   = 512
	maxExamples = 8
	maxExample  = 160 // bytes
)

func (p *Spread) add(id, subject string, line []byte) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown == nil {
		p.shown = make(map[string]map[string]string)
	}
	subjects := p.shown[id]
	if subjects == nil {
		subjects = make(map[string]string)
		p.shown[id] = subjects
	}
	known, seen := subjects[subject]
	if text := jsonrpc.Cut(line, maxExample); !seen && len(subjects) < maxSpread || seen && len(text) < len(known) {
		subjects[subject] = text
	}
}

// Describe adds to a finding on how many methods and tools it was seen, with an example of each of some, unless that is one
// only.
func (p *Spread) Describe(f *teasel.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	subjects := p.shown[f.ID()]
	if len(subjects) < 2 {
		return
	}
	methods, tools, others := 0, 0, 0
	var b strings.Builder
	for i, subject := range slices.Sorted(maps.Keys(subjects)) {
		switch {
		case strings.HasPrefix(subject, "tools/call ") || strings.HasPrefix(subject, "tools/list "):
			tools++
		case strings.HasPrefix(subject, "("):
			others++
		default:
			methods++
		}
		if i < maxExamples {
			fmt.Fprintf(&b, "%s: %s\n", subject, subjects[subject])
		}
	}
	if more := len(subjects) - maxExamples; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	f.Message += " The same was seen on " + sum(methods, tools, others) + "."
	f.Detail = b.String() + f.Detail
}

// sum says on how many methods, tools and messages that are neither, such as batches, something was seen.
func sum(methods, tools, others int) string {
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{methods, "method"}, {tools, "tool"}, {others, "unusual message"}} {
		if part.n > 0 {
			parts = append(parts, noun.Count(part.n, part.noun, ""))
		}
	}
	last := len(parts) - 1
	return strings.Join(append(parts[:max(last-1, 0)], strings.Join(parts[max(last-1, 0):], " and ")), ", ")
}

// reportCause reports a fault whose cause is known: it is one finding, whatever it shows on. line is what brought it about. It returns the
// finding, to be added to before the next one.
func (j *judge) reportCause(rule string, severity teasel.Severity, subject, cause string, line []byte, message string) *teasel.Finding {
	f := j.reportAs(rule, severity, subject, cause, message)
	f.Fault = cause
	j.cfg.Spread.add(f.ID(), subject, line)
	return f
}
