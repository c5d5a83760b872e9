package view

import "testing"

// The state says why a campaign has ended in a sentence, also for a reason of a newer version.
func TestEnded(t *testing.T) {
	for stopped, want := range map[string]string{
		"gone":     "stopped early: the target takes no input any more, and is not teasel's to start again",
		"fleet":    "stopped early: the fleet was told to stop",
		"":         "stopped, or killed",
		"else\x1b": `ended: else\x1b`,
	} {
		s := State{Running: true}
		if s.Ended(stopped); s.Status != want || s.Running {
			t.Errorf("stopped by %q: status %q, want %q; running: %v", stopped, s.Status, want, s.Running)
		}
	}
}
