package mcp

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

func TestMentioned(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"The style, `brief` or \"full\".", []string{"brief", "full"}},
		{"Sorts the list (asc, desc or none).", []string{"asc", "desc", "none"}},
		{"Sorts the list (asc|desc).", []string{"asc", "desc"}},
		{"XXX stands for no currency. The index -1 means the end.", []string{"XXX", "-1"}},
		{"An article such as bolt-m4, or a_b.", []string{"bolt-m4", "a_b"}},
		{"Returns the message.", nil},
		{"", nil},
		{"it's what the user's dog said", []string{"s what the user"}},
	} {
		if got := mentioned(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q mentions %q, want %q", c.text, got, c.want)
		}
	}
}

func plantedSession(t *testing.T) *Session {
	t.Helper()
	s, err := (&Target{Command: []string{BuildServer(t, plantedtest.Planted), "-bugs", "none"}}).Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVocabulary: what the server offers as completions, and what one place lists, is known wherever the name is the same.
func TestVocabulary(t *testing.T) {
	s := plantedSession(t)
	if s.Pages["prompts/list"] != 3 {
		t.Errorf("prompts/list has %d pages", s.Pages["prompts/list"])
	}
	v := readVocabulary(s)
	for name, word := range map[string]string{"style": "brief", "sku": "washer", "city": "Ashbridge", "index": "-1", "currency": "XXX"} {
		if !slices.Contains(v[name], word) {
			t.Errorf("%q is not known for %s, but %q are", word, name, v[name])
		}
	}
	m := NewMutator(MutatorConfig{Session: s})
	if !slices.ContainsFunc(m.Seeds(), func(s Seed) bool { return s.Name == "prompt_daily_digest_style_brief" && s.Valid }) {
		t.Error("no seed has the style that is offered")
	}
}
