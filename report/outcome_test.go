package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Beside something that was seen no format says that nothing was found, and what there was no time to reproduce fails the run, also where
// its input is empty. A run that has tested nothing does not say so either.
func TestOutcome(t *testing.T) {
	seen := teasel.Finding{Rule: "native/hang", Severity: teasel.Medium, Subject: "main", Message: "it waits", Stable: 3, Tries: 3}
	untried, failed := seen, seen
	untried.Stable, untried.Tries, failed.Stable = 0, 0, 0
	ran := teasel.Stats{Executions: 9, Corpus: 2}
	known := &Baseline{Findings: []corpus.Known{{ID: seen.ID()}}}
	for want, test := range map[string]struct {
		run   Run
		fails bool
		says  map[string]string // in each format, in place of what says that there is nothing
	}{
		"found": {Run{Summary: teasel.Summary{Stats: ran, Findings: []teasel.Finding{seen}}}, true,
			map[string]string{"text": "1 finding: 1 medium\n", "json": `"outcome":"found"`, "junit": `failures="1"`, "sarif": `"level": "warning"`}},
		"unconfirmed": {Run{Summary: teasel.Summary{Stats: ran, Unconfirmed: []teasel.Finding{untried}}}, true,
			map[string]string{"text": "Nothing confirmed; 1 unconfirmed\n", "json": `"outcome":"unconfirmed"`, "junit": `errors="1"`, "sarif": "Unconfirmed: seen, and"}},
		"not reproduced": {Run{Summary: teasel.Summary{Stats: ran, Unconfirmed: []teasel.Finding{failed}}}, false,
			map[string]string{"text": "Nothing confirmed; 1 not reproduced\n", "json": `"not_reproduced":1`, "junit": "<skipped message=\"seen, and not", "sarif": "seen, and not reproduced: medium"}},
		"untested": {Run{Summary: teasel.Summary{Stats: teasel.Stats{Executions: 9}}}, false,
			map[string]string{"text": "Nothing was tested\n", "json": `"outcome":"untested"`, "junit": "nothing was tested", "sarif": `"outcome": "untested"`}},
		"nothing": {Run{Summary: teasel.Summary{Stats: ran}}, false,
			map[string]string{"text": "Nothing found\n", "json": `"outcome":"nothing"`, "junit": `value="nothing"`, "sarif": `"results": []`}},
	} {
		o := test.run.Outcome()
		if o.String() != want || o.Fails(teasel.Low) != test.fails || o.Fails(teasel.High) {
			t.Errorf("%s: %q, fails %v at low and %v at high", want, o.String(), o.Fails(teasel.Low), o.Fails(teasel.High))
		}
		for format, says := range test.says {
			text := string(write(t, format, &test.run))
			if !strings.Contains(text, says) {
				t.Errorf("%s: %s has no %q:\n%s", want, format, says, text)
			}
			if format == "json" && !json.Valid([]byte(text)) {
				t.Errorf("%s: no JSON", want)
			}
			if want != "nothing" && strings.Contains(text, "Nothing found") {
				t.Errorf("%s: %s says that nothing was found", want, format)
			}
		}
		if test.run.Baseline = known; want == "nothing" || want == "untested" {
			continue
		}
		if o := test.run.Outcome(); o.Fails(teasel.Low) || o.String() != "nothing" {
			t.Errorf("%s: in the baseline: %q, fails %v", want, o.String(), o.Fails(teasel.Low))
		}
	}
}
