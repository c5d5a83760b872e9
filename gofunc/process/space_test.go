package process_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

// notes keeps what a campaign says.
type notes []string

func (n *notes) Report(e teasel.Event) error {
	if e.Kind == teasel.EventNote {
		*n = append(*n, e.Text)
	}
	return nil
}

// A campaign over a type of few values ends when all have been tried, with what they have shown.
func TestAllValuesTried(t *testing.T) {
	p := target(t, "FuzzFew")
	d, err := p.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var said notes
	c := process.Campaign{Test: p, Seeds: d.Seeds, Reporters: []teasel.Reporter{&said}}
	s, err := c.Run(t.Context()) // without any limit
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || !strings.HasSuffix(s.Findings[0].Message, "the one") || !s.Findings[0].Confirmed() {
		t.Errorf("findings %+v", s.Findings)
	}
	if s.Stopped != "values" {
		t.Errorf("stopped by %q", s.Stopped)
	}
	if text := strings.Join(said, "\n"); text != "FuzzFew: all 84 values of the type process_test.few have been tried" {
		t.Errorf("said %q", text)
	}
}
