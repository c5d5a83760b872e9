package server

import "testing"

// TestUnanswered: an id is in doubt while an earlier request with it has no answer, in whatever notation.
func TestOwed(t *testing.T) {
	o := make(Unanswered)
	for _, tt := range []struct {
		id    string
		again bool
	}{{`1.0`, false}, {`"1"`, true}, {`"a"`, false}, {`" "`, false}, {`""`, true}, {`2`, false}} {
		if got := o.Take(tt.id); got != tt.again {
			t.Errorf("%s is in doubt: %v, want %v", tt.id, got, tt.again)
		}
	}
	for _, want := range []bool{true, true, false} {
		if got := o.Free(`1e0`); got != want {
			t.Errorf("an answer was owed: %v, want %v", got, want)
		}
	}
	if o.Take(`1`) {
		t.Error("what was answered is in doubt")
	}
}
