package mcpserver

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// A testcase counts once for each request that it makes, whatever came of it, with what it was the first to reach. Every tool has a row, and
// other methods where they were called.
func TestPanel(t *testing.T) {
	entry := func(first int, fs ...teasel.Feature) teasel.Entry {
		return teasel.Entry{First: first, Features: teasel.NewFeatureSet(fs...)}
	}
	result := observe.OutcomeFeatures("tools/call add", script.OutcomeResult)[0]
	failed := observe.OutcomeFeatures("tools/call add", script.OutcomeFailed)[0]
	ping := observe.OutcomeFeatures("ping", script.OutcomeResult)[0]
	got := panels(&corpus.Meta{Subjects: []string{"tools/call add", "tools/call sub"}}, "").Panels([]teasel.Entry{entry(3, result, failed), entry(1, result, ping), entry(5)})
	want := [][]string{
		{"tools/call add", "2", "4", "2", "1", "never", "never"},
		{"tools/call sub", "never", "0", "never", "never", "never", "never"},
		{"ping", "1", "1", "1", "never", "never", "never"},
	}
	if len(got) != 1 || !slices.EqualFunc(got[0].Rows, want, slices.Equal) {
		t.Errorf("got %+v, want %q", got, want)
	}
}
