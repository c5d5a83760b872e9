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

// slowToClose is a server that closes what its clients have cut a while later.
type slowToClose struct {
	Metered
	open  int
	after int // looks
}

func (s *slowToClose) Files() int {
	if s.after--; s.after < 0 {
		return 9
	}
	return s.open
}

// TestSettled: open files are counted when a server that gets little processor has closed them too; those that stay open are seen.
func TestSettled(t *testing.T) {
	for _, tt := range []struct{ after, want int }{{0, 9}, {20, 9}, {1000, 33}} {
		if got := settled(&slowToClose{open: 33, after: tt.after}, 9); got != tt.want {
			t.Errorf("closed after %d looks: %d, want %d", tt.after, got, tt.want)
		}
	}
}
