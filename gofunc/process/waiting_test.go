package process

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// TestHandOn: what there is no room for stays.
func TestHandOn(t *testing.T) {
	errands := make(chan teasel.Errand, 2)
	waiting := make([]teasel.Errand, 5)
	for i := range waiting {
		waiting[i].Finding.Subject = string(rune('a' + i))
	}
	got := ""
	for len(waiting) > 0 {
		waiting = handOn(errands, waiting)
		for range len(errands) {
			got += (<-errands).Finding.Subject
		}
	}
	if got != "abcde" {
		t.Errorf("handed on %q", got)
	}
}
