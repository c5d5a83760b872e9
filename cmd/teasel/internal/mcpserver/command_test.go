package mcpserver

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/gen"
)

// A ratio that is set is honoured, 0 as well; without one it is the profile's.
func TestMutateRatio(t *testing.T) {
	for _, c := range []struct {
		set   bool
		ratio float64
		want  float64
	}{
		{false, 0, gen.Standard.MutateRatio}, {true, 0, -1}, {true, 0.3, 0.3}, {true, 1, 1},
	} {
		o := &options{MutateRatio: c.ratio}
		if err := o.setDefaults(func(name string) bool { return c.set && name == "mutate-ratio" }); err != nil {
			t.Fatal(err)
		}
		if p, err := o.profile(); err != nil || p.MutateRatio != c.want {
			t.Errorf("--mutate-ratio %v, set %t: %v, %v, want %v", c.ratio, c.set, p.MutateRatio, err, c.want)
		}
	}
}
