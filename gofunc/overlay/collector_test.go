package overlay

import (
	"slices"
	"testing"
)

// What the user has set stays.
func TestCollector(t *testing.T) {
	for _, test := range []struct {
		env    []string
		memory uint64
		want   []string
	}{
		{nil, 0, []string{"GOGC=400"}},
		{[]string{"PATH=/bin", "NOGOGC=1"}, 1 << 30, []string{"GOGC=400", "GOMEMLIMIT=536870912"}},
		{[]string{"GOMEMLIMIT=1GiB"}, 1 << 30, []string{"GOGC=400"}},
		{[]string{"GOGC=off"}, 1 << 30, nil},
	} {
		if got := Collector(test.env, test.memory); !slices.Equal(got, test.want) {
			t.Errorf("%q with %d bytes: %q, expected %q", test.env, test.memory, got, test.want)
		}
	}
}
