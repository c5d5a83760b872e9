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

// TestUnconfirmedAtKnownPlace: what goes wrong at the place of a finding that is confirmed, and has another name by chance, as an access far beyond a
// buffer has that of whatever lies there, is not reported as unconfirmed beside it, unless it is more severe or somewhere else.
func TestUnconfirmedAtKnownPlace(t *testing.T) {
	s := newFindingSet()
	s.put(Finding{Rule: "overflow", Severity: High, Place: "parse", Stable: 3, Tries: 3})
	s.put(Finding{Rule: "flaky", Severity: High, Place: "format", Stable: 1, Tries: 3})
	for _, test := range []struct {
		f    Finding
		want bool
	}{
		{Finding{Rule: "use after free", Severity: High, Place: "parse", Tries: 3}, false},
		{Finding{Rule: "read", Severity: Medium, Place: "parse"}, false},
		{Finding{Rule: "write", Severity: Critical, Place: "parse", Tries: 3}, true},
		{Finding{Rule: "use after free", Severity: High, Place: "print", Tries: 3}, true},
		{Finding{Rule: "abort", Severity: High, Tries: 3}, true},
		{Finding{Rule: "read", Severity: High, Place: "format", Tries: 3}, false},
	} {
		if got := s.addUnconfirmed(&test.f); got != test.want {
			t.Errorf("%s at %q: reported is %v, want %v", test.f.Rule, test.f.Place, got, test.want)
		}
	}
}
