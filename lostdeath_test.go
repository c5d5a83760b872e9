package teasel_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// diesAt names the place where the process of a batchProcessTarget dies, whatever it was in flight.
func diesAt(place string) func() []teasel.Detector {
	return func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if o.Exit != teasel.ExitCrash {
				return nil
			}
			return []teasel.Finding{{Rule: "crash", Severity: teasel.High, Subject: "process", Fault: place, Message: "it died"}}
		})}
	}
}

// A death with several inputs in flight is that of the fault at its place: there is no further finding, whether the fault was found before or is
// found later, and one that is not reproduced says where and how it was.
func TestDeathAtKnownPlace(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		kills       func([]byte) bool
		found       int
		unconfirmed string
	}{
		{"again and again", strings.Repeat("x"+strings.Repeat(".", 90), 5), anyOf("x"), 1, ""},
		{"never again", strings.Repeat(".", 200), onceAt(100), 0, "the target died in main.go:7, and no input that it had run reproduces that; how it died: it died"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			c := bytesCampaign(batchProcessTarget{size: 64, late: 1000, kills: tt.kills, calls: &calls})
			c.Mutator, c.Seeds, c.Runs = blockMutator{}, [][]byte{{'-'}}, uint64(len(tt.text)+1)
			c.Stages, c.NewDetectors = []teasel.Stage[[]byte]{letters(tt.text)}, diesAt("main.go:7")
			s, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			unconfirmed := ""
			for _, f := range s.Unconfirmed {
				unconfirmed += f.Message
			}
			if len(s.Findings) != tt.found || unconfirmed != tt.unconfirmed {
				t.Errorf("found %s, unconfirmed %q", bisected(s), unconfirmed)
			}
		})
	}
}

// onceAt kills a process at its nth input, and none later.
func onceAt(n int) func([]byte) bool {
	total := 0
	return func([]byte) bool {
		total++
		return total == n
	}
}
