package schema

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mutate"
)

// Failed trials count like successful ones, so that the search for violations of a large schema ends.
func TestTrialsAreCharged(t *testing.T) {
	var branches []string
	for i := range 100 {
		branches = append(branches, `{"minItems":`+itoa(3000+i)+`}`)
	}
	s := mustCompile(t, `{"anyOf":[`+strings.Join(branches, ",")+`]}`)
	nodes, breaches := 0, map[*breach]bool{}
	for _, at := range s.sites {
		for _, b := range at.variant.breaches {
			if breaches[b] {
				continue
			}
			breaches[b] = true
			old := b.make
			b.make = func(d *draw) *mutate.JSON {
				v := old(d)
				nodes += v.Len()
				return v
			}
		}
	}
	s.violations = nil
	s.findViolations()
	if nodes == 0 || nodes > maxTrialNodes {
		t.Errorf("%d nodes were drawn", nodes)
	}
}
