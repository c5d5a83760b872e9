package teasel

import "testing"

// TestUnconfirmedOfAllSeverities: many unconfirmed findings of one severity do not hide one of another, and one that another covers by now
// is unconfirmed no more.
func TestUnconfirmedOfAllSeverities(t *testing.T) {
	s := newFindingSet()
	add := func(severity Severity, subject int) bool {
		return s.addUnconfirmed(&Finding{Rule: "r", Subject: string(rune('a' + subject)), Severity: severity, Tries: 3})
	}
	for i := range severityFindings {
		if !add(Low, i) {
			t.Fatalf("low finding %d was refused", i)
		}
	}
	if add(Low, severityFindings) {
		t.Error("there is no limit")
	}
	if !add(Critical, severityFindings+1) {
		t.Error("a critical finding was refused")
	}
}
