package server

import (
	"strings"
	"testing"
)

// TestUnanswered: an id is in doubt while an earlier request with it has no answer, in whatever notation.
func TestUnanswered(t *testing.T) {
	o := make(Unanswered)
	for _, tt := range []struct {
		id    string
		again bool
	}{{`1.0`, false}, {`"1"`, true}, {`"a"`, false}, {`" "`, false}, {`""`, true}, {`2`, false}, {`0`, false}, {`"-0"`, true}} {
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

// TestLongIDs: of ids as long as a line only the beginning is kept, so that 4096 of them take no more than a megabyte.
func TestLongIDs(t *testing.T) {
	o, long := make(Unanswered), strings.Repeat("1", 1<<20)
	for _, id := range []string{`"a` + long + `"`, `"b` + long + `"`, "1" + long} {
		if o.Take(id) || !o.Take(id) || !o.Free(id) || !o.Free(id) || o.Free(id) {
			t.Errorf("%s… is not counted", id[:8])
		}
		o.Take(id)
	}
	for key := range o {
		if len(key) > maxUnansweredKey {
			t.Errorf("an id of %d bytes is kept", len(key))
		}
	}
}
