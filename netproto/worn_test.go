package netproto

import (
	"strconv"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that ends after so many messages is one finding, whichever message it was and whether it was repeated; one message that ends it
// at once is another.
func TestWornServer(t *testing.T) {
	statuses := []int{0, 1}
	if testing.Short() {
		statuses = statuses[:1]
	}
	for _, status := range statuses {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			for _, flags := range [][]string{nil, {"-DCLEAN"}} {
				target := Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "worn.c", "clang", flags...), "{port}", "60", strconv.Itoa(status)}}
				c := Campaign(target, &dialogue.Mutator{})
				for _, text := range []string{"HELO", "QUIT", "list"} {
					c.Seeds = append(c.Seeds, dialogue.Raw([]byte(text)))
				}
				c.Seed, c.Runs, c.MinimizeRuns = 1, 2000, 64
				sum, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				all := append(sum.Findings, sum.Unconfirmed...)
				worn, others := 0, 0
				for i := range all {
					switch f := &all[i]; {
					case strings.Contains(f.Message, "whatever they are") && f.Confirmed():
						worn++
					case f.Rule != judge.RuleExit || f.Group != "status 7":
						others++
					}
				}
				if want := len(flags) == 0; (worn == 1) != want || others > 0 || !want && len(all) > 0 {
					t.Errorf("%v: %s", flags, brief(all))
				}
			}
		})
	}
}
