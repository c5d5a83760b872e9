package process_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

// asks supplies errands, once.
type asks struct{ errands []teasel.Errand }

func (a *asks) Pull(context.Context) (s teasel.Supply, err error) {
	s.Errands, a.errands = a.errands, nil
	return s, nil
}

// awaits ends a campaign when so many findings were confirmed or tried in vain.
type awaits struct {
	left int
	end  context.CancelFunc
}

func (a *awaits) Report(e teasel.Event) error {
	if e.Kind == teasel.EventFound || e.Kind == teasel.EventUnconfirmed {
		if a.left--; a.left == 0 {
			a.end()
		}
	}
	return nil
}

// What others have had no time for is reproduced, also if nothing would lead this campaign to it, and reported as unconfirmed if it shows nothing or
// is no value of the type.
func TestErrands(t *testing.T) {
	p := target(t, "FuzzWord")
	p.MinimizeRuns = -1
	encoded := func(json string) []byte { return link.File([]byte(json)) }
	found, err := process.Judge(t.Context(), p, encoded(`"zz-magic-word"`))
	if err != nil || found.Rule == "" {
		t.Fatalf("judged as %+v, %v", found, err)
	}
	errand := func(subject string, input []byte) teasel.Errand {
		f := found
		f.Input = input
		if subject != "" {
			f.Subject = subject
		}
		return teasel.Errand{Finding: f, Worker: -1}
	}
	source := &asks{[]teasel.Errand{errand("harmless", encoded(`"a word"`)), errand("foreign", encoded(`{"no":"text"}`)), errand("", encoded(`"zz-magic-word"`))}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := process.Campaign{Test: p, Source: source, Reporters: []teasel.Reporter{&awaits{3, cancel}}}
	s, err := c.Run(ctx)
	if err != nil || len(s.Findings) != 1 || s.Findings[0].ID() != found.ID() || s.Findings[0].Stable != 3 {
		t.Errorf("findings %+v, %v", s.Findings, err)
	}
	tries := map[string]int{}
	for _, f := range s.Unconfirmed {
		tries[f.Subject] = f.Tries
	}
	if n, ok := tries["foreign"]; len(tries) != 2 || tries["harmless"] != 3 || n != 0 || !ok {
		t.Errorf("unconfirmed %+v", s.Unconfirmed)
	}
}
