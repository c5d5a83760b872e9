package teasel_test

import (
	"fmt"
	"testing"
)

// Seeds get as many executions as what is made between them: a slow target has time for little else.
func TestSeedsComeSoon(t *testing.T) {
	c := bytesCampaign(newTrouble(0, 0))
	c.Runs, c.Seeds = 4000, nil
	for i := range 1000 {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "seed %05d", i))
	}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Waiting > 0 {
		t.Errorf("after %d runs %d of 1000 seeds are waiting", s.Executions, s.Waiting)
	}
}
