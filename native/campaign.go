package native

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Codec writes inputs as they are, so that a file of the campaign can be given to the program.
type Codec struct{}

var _ teasel.Codec[[]byte] = Codec{}

// Encode returns the input itself.
func (Codec) Encode(in []byte) ([]byte, error) { return in, nil }

// Decode returns a copy of data. Everything is an input.
func (Codec) Decode(data []byte) ([]byte, error) { return slices.Clone(data), nil }

// Campaign returns a campaign against a program, with the stages, the calibration and the detectors of this kind. The caller
// sets limits, seeds, reporters and the seed of the generator.
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

// Seeds returns the seeds of a campaign whose user has none: an empty input, an empty line, and zeros, which the operand
// stages turn into values that the program compares them with.
func Seeds() []Seed {
	return []Seed{{"empty", nil}, {"newline", []byte("\n")}, {"zeros", make([]byte, 64)}}
}

// CrashRules returns the ids of the rules whose findings are crashes: all but those of HangRules.
func CrashRules() (ids []string) {
	for _, r := range rules {
		if r.ID != ruleHang {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// HangRules returns the ids of the rules whose findings are hangs.
func HangRules() []string { return []string{ruleHang} }
