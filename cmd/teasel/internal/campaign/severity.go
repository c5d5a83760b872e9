package campaign

import (
	"github.com/teaselfuzz/teasel"
)

// WithSeverity returns what makes the same detectors, whose findings have the severity that the configuration gives their rules.
func WithSeverity(all func() []teasel.Detector, severity map[string]string) func() []teasel.Detector {
	if len(severity) == 0 {
		return all
	}
	return func() (out []teasel.Detector) {
		for _, d := range all() {
			out = append(out, &severityDetector{d, severity})
		}
		return out
	}
}

// severityDetector is a detector whose findings have the severity that the configuration says.
type severityDetector struct {
	teasel.Detector
	severity map[string]string // by rule
}

// Detect implements [teasel.Detector].
func (s *severityDetector) Detect(o *teasel.Observation) []teasel.Finding {
	return AdjustSeverity(s.Detector.Detect(o), s.severity)
}

// AdjustSeverity returns the findings with the severity that the configuration gives their rules, without those of rules that are off.
func AdjustSeverity(all []teasel.Finding, severity map[string]string) (fs []teasel.Finding) {
	for _, f := range all {
		switch level := severity[f.Rule]; level {
		case "off":
			continue
		case "":
		default:
			f.Severity, _ = teasel.ParseSeverity(level) // was checked when it was read
		}
		fs = append(fs, f)
	}
	return fs
}
