package campaign

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// What earlier runs had no time to reproduce is listed with what this one could not, once, the worst first.
func TestWithUntried(t *testing.T) {
	finding := func(subject string, s teasel.Severity, tries int) teasel.Finding {
		return teasel.Finding{Rule: "r", Severity: s, Subject: subject, Tries: tries}
	}
	got := withUntried([]teasel.Finding{finding("a", teasel.Low, 3), finding("b", teasel.High, 0)},
		[]teasel.Finding{finding("c", teasel.Critical, 0), finding("a", teasel.Low, 0)})
	var subjects []string
	for _, f := range got {
		subjects = append(subjects, f.Subject)
	}
	if want := []string{"c", "b", "a"}; !slices.Equal(subjects, want) || got[2].Tries != 3 {
		t.Errorf("unconfirmed %q, want %q with the tries of this run", subjects, want)
	}
}
