package mcp

import "github.com/teaselfuzz/teasel"

// Campaign returns a campaign against a server, with everything set that this kind decides: stages, calibration,
// detectors. Limits, seeds, reporters and the generator's seed are the caller's.
func Campaign(t *Target, m *Mutator, d DetectorConfig) teasel.Campaign[Script] {
	return teasel.Campaign[Script]{
		Target:     t,
		NewMutator: func() teasel.Mutator[Script] { return m.Clone() },
		Codec:      Codec{},
		Stages: []teasel.Stage[Script]{
			teasel.Steps[Script]{Energy: 512},
			Chain{},
			teasel.Havoc[Script]{Energy: 256},
			teasel.Splice[Script]{Energy: 32},
		},
		NewDetectors: func() []teasel.Detector { return Detectors(d) },
		Calibrate:    2, // an answer with something random in it is new each time
		Notes:        noteCodec{},
		TrimRuns:     -1,
		Background:   true,
	}
}

// CrashRules are the rules whose findings are deaths of the server.
func CrashRules() []string {
	return []string{RuleAssertion, RuleCrash, RuleExit, RuleOutOfMemory, RuleSanitizer, RuleStdoutClosed}
}

// HangRules are the rules whose findings are servers that do not answer.
func HangRules() []string { return []string{RuleDeaf, RuleHang} }
