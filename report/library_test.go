package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// What the library does that a target is built on is shown once, apart from the target's own findings, and fails a run from a severity of
// its own on. No format leaves it out.
func TestLibrary(t *testing.T) {
	own := teasel.Finding{Rule: "mcp/hang", Severity: teasel.Low, Subject: "tools/call own", Message: "It hangs.", Stable: 3, Tries: 3}
	theirs := teasel.Finding{Rule: "mcp/no-reply", Severity: teasel.Medium, Subject: "(request id)", Message: "There was no answer.", Stable: 3, Tries: 3}
	run := func(severity teasel.Severity, fs ...teasel.Finding) *Run {
		return &Run{Kind: "mcp", Library: "sdk 1.2.3", LibraryFails: severity, OfLibrary: func(f teasel.Finding) bool { return f.Rule == theirs.Rule },
			Summary: teasel.Summary{Findings: fs, Stats: teasel.Stats{Executions: 9, Corpus: 1}}}
	}
	for _, tt := range []struct {
		run   *Run
		least teasel.Severity
		fails bool
		last  string
	}{
		{run(0, theirs), teasel.Low, false, "No finding of the target's own; 1 of sdk 1.2.3"},
		{run(teasel.Medium, theirs), teasel.Low, true, "No finding of the target's own; 1 of sdk 1.2.3"},
		{run(teasel.Low, theirs), teasel.High, false, "No finding of the target's own; 1 of sdk 1.2.3"},
		{run(0, own, theirs), teasel.Low, true, "1 finding: 1 low; 1 of sdk 1.2.3"},
		{run(0, own), teasel.Low, true, "1 finding: 1 low"},
	} {
		outcome := tt.run.Outcome()
		if outcome.Fails(tt.least) != tt.fails || outcome.String() != "found" {
			t.Errorf("%q fails: %v; outcome %q", tt.last, !tt.fails, outcome.String())
		}
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := Write(&b, format, tt.run); err != nil {
				t.Fatal(err)
			}
			for _, f := range tt.run.Summary.Findings {
				if strings.Count(b.String(), f.Message) == 0 {
					t.Errorf("%q: %s has no %s", tt.last, format, f.Rule)
				}
			}
			if len(outcome.Library) > 0 && format != "sarif" && format != "html" && !strings.Contains(b.String(), "sdk 1.2.3") {
				t.Errorf("%q: %s does not name the library", tt.last, format)
			}
			if format == "text" && !strings.Contains(b.String(), "\n"+tt.last+"\n") && !strings.HasPrefix(b.String(), tt.last) {
				t.Errorf("want the line %q:\n%s", tt.last, b.String())
			}
		}
	}
}
