package results

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// The detail and the input of a finding are shown as far as a person reads; where the rest is, is said.
func TestShowLongFinding(t *testing.T) {
	f := &corpus.FindingFile{Finding: teasel.Finding{Rule: "net/panic", Severity: teasel.High, Subject: "SET", Message: "m",
		Detail: strings.Repeat("stack\n", 20_000), Input: []byte(strings.Repeat("é", 40_001)), Stable: 3, Tries: 3}}
	var b bytes.Buffer
	showFinding(&b, f, "out/findings/x.json")
	for _, want := range []string{"\nstack\n", "bytes more, which are in out/findings/x.json\n", "input (80002 bytes):\né", "... and 71810 bytes more: teasel show --input out/findings/x.json\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%.200s", want, b.String())
		}
	}
	if b.Len() > 3*mostShown {
		t.Errorf("%d bytes", b.Len())
	}
}

// Crashes take time, in the executions of stages: that there are none of their own is not said as 0 executions.
func TestListStages(t *testing.T) {
	var b bytes.Buffer
	listStages(&b, []teasel.StageStats{{Name: "crashes", Time: 1500 * time.Millisecond}, {Name: "havoc", Executions: 7, Kept: 1}, {Name: "trim"}})
	if want := "stage crashes\t1.5 s\nstage havoc\t7 executions, 1 testcases found\nstage trim\t0 executions, 0 testcases found\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
