package netproto

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/policy"
)

// Campaign returns a campaign against a server, with everything set that this kind decides: codec, schedule, calibration,
// detectors. Limits, seeds, reporters and the generator's seed are the caller's.
func Campaign(t Target, m *dialogue.Mutator) teasel.Campaign[*dialogue.Dialogue] {
	t.Complexity = m.Complexity
	return teasel.Campaign[*dialogue.Dialogue]{
		Target:     t,
		NewMutator: func() teasel.Mutator[*dialogue.Dialogue] { return m.Clone() },
		Codec:      dialogue.Codec{Model: t.Model},
		Stages: []teasel.Stage[*dialogue.Dialogue]{newFirstPass(), compared{}, teasel.Steps[*dialogue.Dialogue]{Energy: pickSteps},
			teasel.Havoc[*dialogue.Dialogue]{Energy: pickMutants}, teasel.Splice[*dialogue.Dialogue]{Energy: pickCrossings}},
		NewScheduler: policy.NewStateScheduler,
		NewDetectors: Detectors,
		Calibrate:    2, // what earlier dialogues have left behind shows
	}
}

// What a testcase gets each time that it is picked. A dialogue takes much longer than the run of a function, so that with the
// engine's own numbers most testcases would never be picked.
const (
	pickSteps     = 48
	pickMutants   = 48
	pickCrossings = 8
)

// Detectors returns what judges the observations of a [Target]'s executors.
func Detectors() []teasel.Detector {
	return []teasel.Detector{teasel.DetectorFunc(judge.Detect)}
}

// Rules returns what is looked for.
func Rules() []teasel.Rule { return judge.Rules() }

// CrashRules are the rules whose findings are deaths of the server.
func CrashRules() []string { return judge.CrashRules() }

// HangRules are the rules whose findings are dialogues that do not end.
func HangRules() []string { return judge.HangRules() }

// Seed is an input to begin with and what to call it.
type Seed struct {
	Name  string
	Input *dialogue.Dialogue
}

// Seeds returns what a campaign begins with: the dialogues of the model or, without a model, a few messages that many
// protocols answer in some way; over UDP, where most servers answer nothing but their own protocol, a request of each of some well-known ones.
func (t Target) Seeds() (all []Seed) {
	if t.Model != nil {
		for i, d := range dialogue.Seeds(t.Model) {
			all = append(all, Seed{t.Model.Seeds[i].Name, d})
		}
		return all
	}
	if a, err := conn.ParseAddress(t.Address); err == nil && a.Network == conn.UDP {
		return datagramSeeds()
	}
	return []Seed{
		{"nothing", dialogue.Raw()},
		{"newline", dialogue.Raw([]byte("\r\n"))},
		{"help", dialogue.Raw([]byte("HELP\r\n"), []byte("QUIT\r\n"))},
		{"http", dialogue.Raw([]byte("GET / HTTP/1.0\r\n\r\n"))},
		{"zeros", dialogue.Raw(make([]byte, 16))},
	}
}
