package mcp

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// judgeText returns the findings of the whole detector set.
func judgeText(t testing.TB, session *Session, text string) []teasel.Finding {
	t.Helper()
	obs := teasel.Observation{Evidence: parseTranscript(t, session, text)}
	var found []teasel.Finding
	for _, d := range Detectors(DetectorConfig{}) {
		found = append(found, d.Detect(&obs)...)
		for i := range found {
			found[i].Detail = found[i].Describe()
		}
	}
	return found
}
