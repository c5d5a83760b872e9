package judge

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// judgeText returns the findings of the whole detector set.
func judgeText(t testing.TB, session *session.Session, text string) []teasel.Finding {
	t.Helper()
	obs := teasel.Observation{Evidence: mcptest.ParseTranscript(t, session, text)}
	var found []teasel.Finding
	for _, d := range Detectors(DetectorConfig{}) {
		found = append(found, d.Detect(&obs)...)
		for i := range found {
			found[i].Describe(&found[i])
		}
	}
	return found
}
