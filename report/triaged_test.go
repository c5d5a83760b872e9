package report

import (
	"testing"

	"github.com/teaselfuzz/teasel/corpus"
)

// TestTextTriaged: the counts of files are in the singular where there is one.
func TestTextTriaged(t *testing.T) {
	shows := corpus.Triaged{File: "a", Key: "1", Exit: "crash", Finding: "f"}
	hangs := corpus.Triaged{File: "b", Key: "2", Exit: "hang", Finding: "g"}
	silent := corpus.Triaged{File: "c", Key: "3", Exit: "ok"}
	waits := corpus.Triaged{File: "d", Key: "4"}
	for _, test := range []struct {
		files []corpus.Triaged
		want  string
	}{
		{[]corpus.Triaged{shows}, "1 input: 1 reproduces a finding"},
		{[]corpus.Triaged{shows, hangs, silent, waits}, "4 inputs: 2 reproduce a finding, 1 of them hangs; 1 was not run; 1 reproduces nothing: c"},
		{[]corpus.Triaged{silent, silent, waits, waits}, "4 inputs (2 different): 0 reproduce a finding; 2 were not run; 2 reproduce nothing: c, c"},
	} {
		if got := (&Run{Triaged: test.files}).textTriaged(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
