package session

import (
	"slices"
	"testing"
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
