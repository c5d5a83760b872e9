package fuzztest

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// Campaign returns a campaign against a fuzz test that has been described, with everything set that this kind decides:
// mutator, codec, stages, calibration, detectors. Limits, seeds, reporters and the generator's seed are the caller's.
// b has the dictionary and the weights of mutations; nil: no dictionary, and the usual weights.
func Campaign(t *Target, b *mutate.Bytes) teasel.Campaign[[]byte] {
	if b == nil {
		b = &mutate.Bytes{}
	}
	return teasel.Campaign[[]byte]{
		Target:       t,
		NewMutator:   func() teasel.Mutator[[]byte] { return NewMutator(t.Kinds, b.Clone()) },
		Codec:        Codec{t.Kinds},
		Stages:       stages(),
		NewDetectors: func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(judge.Detect)} },
		Calibrate:    2, // an input that left something behind for the next one shows
		Background:   true,
	}
}

func stages() []teasel.Stage[[]byte] {
	return []teasel.Stage[[]byte]{operands.InputToState{}, operands.Gradient{}, operands.Repair{},
		operands.Tokens{}, teasel.Havoc[[]byte]{}, teasel.Splice[[]byte]{}}
}

// zeroBytes is how many bytes an argument of variable size has in the seed of zeros.
const zeroBytes = 64

// Seeds returns what a campaign begins with whose fuzz test may have no seeds: the zero value of each argument, and zeros
// that the operands stages can turn into what the code looks for.
func Seeds(kinds []agent.Kind) [][]byte {
	seeds := [][]byte{pack(nil, kinds, make([][]byte, len(kinds)))}
	if _, variable := agent.Head(kinds); variable == 0 {
		return seeds
	}
	parts := make([][]byte, len(kinds))
	for i, k := range kinds {
		if k.Size() == 0 {
			parts[i] = make([]byte, zeroBytes)
		}
	}
	return append(seeds, pack(nil, kinds, parts))
}
