package mcpserver

import (
	"io"
	"testing"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
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
		o := &options{Launch: flags.Launch{Command: []string{"server"}}, MutateRatio: c.ratio}
		if err := o.Prepare(func(name string) bool { return c.set && name == "mutate-ratio" }, io.Discard); err != nil {
			t.Fatal(err)
		}
		if p, err := o.profile(); err != nil || p.MutateRatio != c.want {
			t.Errorf("--mutate-ratio %v, set %t: %v, %v, want %v", c.ratio, c.set, p.MutateRatio, err, c.want)
		}
	}
}
