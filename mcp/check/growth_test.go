package check

import (
	"slices"
	"testing"
)

func TestSuggestedGrowths(t *testing.T) {
	for place, want := range map[string]string{
		"find_jobs /glob": "stars", "check /address/email": "address", "read /filePath": "slashes", "jobs://{status}/x pattern": "stars", "say /message": "",
	} {
		if got := suggestedGrowths(place); want != "" && !slices.Contains(got, want) || want == "" && len(got) > 0 {
			t.Errorf("%s suggests %v, want %q", place, got, want)
		}
	}
	for _, s := range suggested {
		for _, name := range s.growths {
			if !slices.ContainsFunc(Growths, func(g Growth) bool {
				return g.name == name
			}) {
				t.Errorf("no growth is called %s", name)
			}
		}
	}
}
