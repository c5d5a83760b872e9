package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/operands"
	"github.com/teaselfuzz/teasel/policy"
)

func TestChooseStages(t *testing.T) {
	all := append(operands.Stages(), teasel.Steps[[]byte]{}, operands.Tokens{}, teasel.Havoc[[]byte]{}, teasel.Splice[[]byte]{})
	for names, want := range map[string]string{
		"":                     "all",
		"splice havoc":         "havoc splice",
		"deterministic":        "deterministic",
		"operands havoc havoc": "all but deterministic splice",
	} {
		got, err := policy.ChooseStages(all, strings.Fields(names))
		if err != nil {
			t.Fatal(err)
		}
		var ran []string
		for _, s := range got {
			ran = append(ran, s.Name())
		}
		expected := strings.Fields(want)
		if rest, ok := strings.CutPrefix(want, "all"); ok {
			expected = nil
			for _, s := range all {
				if !slices.Contains(strings.Fields(rest), s.Name()) {
					expected = append(expected, s.Name())
				}
			}
		}
		if !slices.Equal(ran, expected) {
			t.Errorf("%q: %q, want %q", names, ran, expected)
		}
	}
	if _, err := policy.ChooseStages(all, []string{"havoc", "steps"}); err == nil || !strings.Contains(err.Error(), "operands, deterministic, havoc, splice") {
		t.Errorf("an unknown name: %v", err)
	}
}
