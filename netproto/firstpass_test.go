package netproto

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// clientsCampaign fuzzes the server of several clients.
func clientsCampaign(t *testing.T, program string, stop int, runs uint64) teasel.Summary {
	t.Helper()
	m, err := model.Load("testdata/planted/clients.yaml")
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Model: m}
	c := Campaign(target, &dialogue.Mutator{Model: m})
	for _, s := range target.Seeds() {
		c.Seeds = append(c.Seeds, s.Input)
	}
	c.Seed, c.StopAfter, c.Runs = 1, stop, runs
	return run(t, c)
}

func run(t *testing.T, c teasel.Campaign[*dialogue.Dialogue]) teasel.Summary {
	t.Helper()
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// What takes two clients, a field at its limit, a message of the other side, or a state that no seed reaches is found by the first pass over
// the model, and nothing on the clean twin.
func TestFirstPass(t *testing.T) {
	t.Parallel()
	sum := clientsCampaign(t, plantedSource(t, "clients.c", "clang"), 4, 1500)
	var groups []string
	for _, f := range sum.Findings {
		groups = append(groups, f.Group)
		if !f.Confirmed() {
			t.Errorf("not confirmed: %s", f.Message)
		}
	}
	slices.Sort(groups)
	if want := []string{"aborted", "bus error", "floating point exception", "illegal instruction"}; !slices.Equal(groups, want) {
		t.Errorf("found %q, want %q:%s", groups, want, brief(sum.Findings))
	}
	if sum := clientsCampaign(t, plantedSource(t, "clients.c", "clang", "-DCLEAN"), 0, 1500); len(sum.Findings) > 0 {
		t.Errorf("findings on the clean twin:%s", brief(sum.Findings))
	}
}

// Without a model, what takes two clients is found by the seeds that are held side by side.
func TestTwoClientsWithoutModel(t *testing.T) {
	t.Parallel()
	for program, found := range map[string]bool{plantedSource(t, "clients.c", "clang"): true, plantedSource(t, "clients.c", "clang", "-DCLEAN"): false} {
		seeds := []*dialogue.Dialogue{dialogue.Raw([]byte("\x01\x02me"), []byte("\x02\x00")), dialogue.Raw([]byte("\x01\x02me"), []byte("\x03\x04news"))}
		c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}}, &dialogue.Mutator{Seeds: seeds})
		c.Seeds, c.Seed, c.Runs = seeds, 3, 150
		sum, two := run(t, c), false
		for _, f := range sum.Findings {
			two = two || f.Group == "bus error" && f.Confirmed()
		}
		if two != found || !found && len(sum.Findings) > 0 {
			t.Errorf("want what takes two clients: %t; found:%s", found, brief(sum.Findings))
		}
	}
}
