package gotest

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// Why a run has ended is what has ended it, and not what the time would have been for: a run that was paused longer than its duration is
// ended by its executions.
func TestStoppedBy(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		want    string
		limited context.Context
		each    string // why the campaign of a test has ended
		over    bool
	}{
		{"runs", t.Context(), "runs", false},
		{"duration", t.Context(), "duration", true},
		{"findings", done, "interrupted", true},
		{"fleet", t.Context(), "fleet", false},
		{"values", t.Context(), "values", true},
		{"memory", t.Context(), "memory", false},
	} {
		tests := []*fuzzTest{{summary: teasel.Summary{Stopped: tc.each}}}
		if got := stoppedBy(t.Context(), tc.limited, tests, tc.over); got != tc.want {
			t.Errorf("it was ended by %s, want %s", got, tc.want)
		}
	}
	if got := stoppedBy(done, done, nil, true); got != "interrupted" {
		t.Errorf("it was ended by %s, want interrupted", got)
	}
}
