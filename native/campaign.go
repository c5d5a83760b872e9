package native

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Codec stores inputs unchanged, so that a file of the campaign can be passed to the program.
type Codec struct{}

var _ teasel.Codec[[]byte] = Codec{}

// Encode returns the input itself.
func (Codec) Encode(in []byte) ([]byte, error) { return in, nil }

// Decode returns a copy of data. It never fails.
func (Codec) Decode(data []byte) ([]byte, error) { return slices.Clone(data), nil }

// Campaign returns a campaign for a target, with the stages, the calibration and the detectors of this kind. m is cloned for each
// worker. The caller sets limits, seeds, reporters and the seed of the generator.
func Campaign(t Target, m *mutate.Bytes) teasel.Campaign[[]byte] {
	return teasel.Campaign[[]byte]{
		Target:       t,
		NewMutator:   func() teasel.Mutator[[]byte] { return NewMutator(m.Clone()) },
		Codec:        Codec{},
		Stages:       Stages(),
		NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(Detect)} },
		Calibrate:    2, // the second run differs if the first has left state behind
		Background:   true,
	}
}

// Seed is an initial input and its name.
type Seed struct {
	Name  string
	Input []byte
}

// Seeds returns the default seeds: an empty input, an empty line, and zeros, which the operand stages replace by values with which
// the program compares them.
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
