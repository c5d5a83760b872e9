package mcp

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/gen"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Campaign returns a campaign against a server, with everything set that this kind decides: stages, calibration,
// detectors. Limits, seeds, reporters and the generator's seed are the caller's.
func Campaign(t *run.Target, m *gen.Mutator, d judge.DetectorConfig) teasel.Campaign[script.Script] {
	return teasel.Campaign[script.Script]{
		Target:     t,
		NewMutator: func() teasel.Mutator[script.Script] { return m.Clone() },
		Codec:      script.Codec{},
		Stages: []teasel.Stage[script.Script]{
			teasel.Steps[script.Script]{Energy: 512},
			gen.Sequence{},
			gen.Answer{},
			teasel.Havoc[script.Script]{Energy: 256},
			teasel.Splice[script.Script]{Energy: 32},
		},
		NewDetectors: func() []teasel.Detector { return judge.Detectors(d) },
		Calibrate:    2, // an answer with something random in it is new each time
		Notes:        observe.NoteCodec{},
		TrimRuns:     -1,
		Background:   true,
	}
}

// CrashRules are the rules whose findings are deaths of the server.
func CrashRules() []string {
	return []string{judge.RuleAssertion, judge.RuleCrash, judge.RuleExit, judge.RuleGone, judge.RuleOutOfMemory, judge.RuleRefuses, judge.RuleSanitizer, judge.RuleStdoutClosed}
}

// HangRules are the rules whose findings are servers that do not answer.
func HangRules() []string { return []string{judge.RuleDeaf, judge.RuleHang} }
