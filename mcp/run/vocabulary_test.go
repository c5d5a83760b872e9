package run

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestVocabulary: what the server offers as completions, and what one place lists, is known wherever the name is the same.
func TestVocabulary(t *testing.T) {
	s, err := planted(mcptest.BuildServer(t, plantedtest.Planted), "none").Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Pages["prompts/list"] != 3 {
		t.Errorf("prompts/list has %d pages", s.Pages["prompts/list"])
	}
	v := session.ReadVocabulary(s)
	for name, word := range map[string]string{"style": "brief", "sku": "washer", "city": "Ashbridge", "index": "-1", "currency": "XXX"} {
		if !slices.Contains(v[name], word) {
			t.Errorf("%q is not known for %s, but %q are", word, name, v[name])
		}
	}
	m := gen.NewMutator(gen.MutatorConfig{Session: s})
	if !slices.ContainsFunc(m.Seeds(), func(s gen.Seed) bool { return s.Name == "prompt_daily_digest_style_brief" && s.Valid }) {
		t.Error("no seed has the style that is offered")
	}
}
