package operands

import (
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

// TestSpliceKeepsLimit: a splice does not make an input longer than the limit of the mutator.
func TestSpliceKeepsLimit(t *testing.T) {
	for _, test := range []struct {
		most      int
		src, want string
	}{
		{0, "ab12cd", "abvaluecd"},
		{8, "ab12cd", "abvaluec"},
		{4, "ab12cd", "abvalu"}, // not shorter than the source
	} {
		if got := string(splice(&mutate.Bytes{MaxLen: test.most}, nil, []byte(test.src), 2, 2, "value")); got != test.want {
			t.Errorf("at most %d bytes: %q, expected %q", test.most, got, test.want)
		}
	}
}
