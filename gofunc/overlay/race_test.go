package overlay

import (
	"slices"
	"testing"
)

func TestRaces(t *testing.T) {
	const ours = "GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0"
	for _, test := range []struct {
		env  []string
		want string
	}{
		{nil, ours},
		{[]string{"GORACE=halt_on_error=1", "GORACE=suppress_equal_stacks=1", "NOGORACE=x"}, ours + " suppress_equal_stacks=1"},
	} {
		if got := Races(test.env); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%q: %q, want %q", test.env, got, test.want)
		}
	}
}
