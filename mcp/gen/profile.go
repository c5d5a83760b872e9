package gen

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mutate"
)

// Profile is how hard a mutator tries. The named ones are [Quick], [Standard], [Intensive] and [CI]; a field that is
// zero in a profile of one's own means what Standard says.
type Profile struct {
	Name        string
	Weights     map[Mutation]int        // instead of [Mutation.Weight]; 0 switches one off
	ByteWeights map[mutate.Operator]int // of the mutations of the bytes of a line; 0 switches one off
	BitRatio    float64                 // share of bits that [mutate.OpBitFlips] inverts; 0: 1 %
	ByteRatio   float64                 // share of bytes that [mutate.OpByteFlips] replaces; 0: 5 %
	Stack       int                     // mutations on top of each other, at most
	MutateRatio float64                 // share of mutants that are made from a testcase, the rest is made from nothing; negative: none
	Adversarial int                     // percentage of generated arguments that are hostile; another 30 are in part
	FreshEvery  int                     // one script in so many has a process of its own; negative: none but seeds
	NoGrowth    bool                    // seeds do not measure how time and memory grow
}

// The profiles.
var (
	Quick = Profile{
		Name:    "quick",
		Weights: map[Mutation]int{ResourceExhaustion: 0, RapidFire: 0, ConnectionDrop: 0, PartialMessage: 1, DeepNesting: 2},
		Stack:   3, MutateRatio: 0.85, Adversarial: 25, FreshEvery: 100_000,
	}
	Standard = Profile{
		Name:  "standard",
		Stack: 4, MutateRatio: 0.9, Adversarial: 25, FreshEvery: 40_000,
	}
	Intensive = Profile{
		Name: "intensive",
		Weights: map[Mutation]int{
			DeepNesting: 12, InvalidID: 12, ResourceExhaustion: 6, RapidFire: 12, PartialMessage: 8, LineHavoc: 20, SequenceViolation: 60,
		},
		Stack: 6, MutateRatio: 0.9, Adversarial: 35, FreshEvery: 10_000,
	}
	CI = Profile{
		Name:    "ci",
		Weights: map[Mutation]int{ResourceExhaustion: 0, RapidFire: 0, ConnectionDrop: 0, PartialMessage: 0, DeepNesting: 2},
		Stack:   3, MutateRatio: 0.85, Adversarial: 25, FreshEvery: -1, NoGrowth: true,
	}
)

// Profiles returns the named profiles, the quickest first.
func Profiles() []Profile { return []Profile{Quick, Standard, Intensive, CI} }

// ParseProfile returns the profile of that name.
func ParseProfile(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("no such profile %q, expected quick, standard, intensive or ci", name)
}

// orStandard fills in what making scripts needs to know.
func (p Profile) orStandard() Profile {
	if p.Stack == 0 {
		p.Stack = Standard.Stack
	}
	if p.MutateRatio == 0 {
		p.MutateRatio = Standard.MutateRatio
	}
	if p.Adversarial == 0 {
		p.Adversarial = Standard.Adversarial
	}
	if p.FreshEvery == 0 {
		p.FreshEvery = Standard.FreshEvery
	}
	if p.Weights == nil {
		p.Weights = Standard.Weights
	}
	return p
}
