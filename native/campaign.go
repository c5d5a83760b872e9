package native

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Codec keeps inputs as they are: a file of the campaign is what the program takes.
type Codec struct{}

var _ teasel.Codec[[]byte] = Codec{}

// Encode returns the input itself.
func (Codec) Encode(in []byte) ([]byte, error) { return in, nil }

// Decode returns a copy of data. Everything is an input.
func (Codec) Decode(data []byte) ([]byte, error) { return slices.Clone(data), nil }

// Campaign returns a campaign against a program, with everything set that this kind decides: stages, calibration,
// detectors. Limits, seeds, reporters and the generator's seed are the caller's.
func Campaign(t Target, m *mutate.Bytes) teasel.Campaign[[]byte] {
	return teasel.Campaign[[]byte]{
		Target:       t,
		NewMutator:   func() teasel.Mutator[[]byte] { return m.Clone() },
		Codec:        Codec{},
		Stages:       Stages(),
		NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(Detect)} },
		Calibrate:    2, // an input that left something behind for the next one shows
	}
}

// Seed is an input to begin with and what to call it.
type Seed struct {
	Name  string
	Input []byte
}

// Seeds returns what a campaign begins with whose user has no inputs: nothing, a line without text, and zeros, which the
// operands stage can turn into what the program looks for.
func Seeds() []Seed {
	return []Seed{{"empty", nil}, {"newline", []byte("\n")}, {"zeros", make([]byte, 64)}}
}

// CrashRules are the rules whose findings are deaths of the program.
func CrashRules() (ids []string) {
	for _, r := range rules {
		if r.ID != ruleHang {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// HangRules are the rules whose findings are runs without an end.
func HangRules() []string { return []string{ruleHang} }
