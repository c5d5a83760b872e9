package flags

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/mutate"
)

// Mutation switches stages, minimising and single mutations, in every kind. It is stored with the campaign.
type Mutation struct {
	Stages     []string       `json:"stages,omitempty"` // nil: all
	NoMinimize bool           `json:"no_minimize,omitempty"`
	Weights    map[string]int `json:"weights,omitempty"`
	BitRatio   float64        `json:"bit_ratio,omitempty"`
	ByteRatio  float64        `json:"byte_ratio,omitempty"`
}

// AddMutation adds the flags.
func AddMutation(f *pflag.FlagSet, m *Mutation) {
	f.StringSliceVar(&m.Stages, "stages", nil, "stages that make inputs, such as deterministic,operands,havoc,splice, and no others (default all)")
	AddMinimize(f, m)
	f.StringToIntVar(&m.Weights, "weights", nil, "how likely mutations are, NAME=WEIGHT,...; 0 switches one off")
	f.Float64Var(&m.BitRatio, "bit-ratio", 0, "share of bits that the mutation bit-flips inverts; 0: 0.01")
	f.Float64Var(&m.ByteRatio, "byte-ratio", 0, "share of bytes that the mutation byte-flips replaces; 0: 0.05")
}

// AddMinimize adds the flag that switches minimising.
func AddMinimize(f *pflag.FlagSet, m *Mutation) {
	minimize := f.VarPF((*inverted)(&m.NoMinimize), "minimize", "", "make the inputs of findings as small as they get")
	minimize.NoOptDefVal, minimize.DefValue = "true", "true"
}

// inverted is the flag for a variable that is true when the flag is false, so that the zero value of the variable is the default.
type inverted bool

func (v *inverted) String() string { return strconv.FormatBool(!bool(*v)) }
func (v *inverted) Type() string   { return "bool" }

func (v *inverted) Set(text string) error {
	on, err := strconv.ParseBool(text)
	*v = inverted(!on)
	return err
}

// maxWeight is the greatest weight. Byte-level mutations have less: a greater one counts as 255.
const maxWeight = 1000

// byteLevel stands before the name of a byte-level mutation where a kind has mutations of its own.
const byteLevel = "bytes-"

// SetBytes sets what is said of byte-level mutations, of a kind that has no others.
func (m *Mutation) SetBytes(b *mutate.Bytes) error {
	weights, _, err := OwnWeights[mutate.Operator](m, nil)
	b.Weights, b.BitRatio, b.ByteRatio = weights, m.BitRatio, m.ByteRatio
	return err
}

func (m *Mutation) checkRatios() error {
	for _, r := range []struct {
		flag  string
		value float64
	}{{"bit-ratio", m.BitRatio}, {"byte-ratio", m.ByteRatio}} {
		if !(r.value >= 0 && r.value <= 1) { // NaN is neither
			return exit.Usage("", "--%s %v: expected a share from 0 to 1", r.flag, r.value)
		}
	}
	return nil
}

// OwnWeights returns the weights of byte-level mutations, and those of the mutations that a kind has itself. If it has any, the names
// of byte-level ones begin with "bytes-".
func OwnWeights[Op interface {
	comparable
	fmt.Stringer
}](m *Mutation, own []Op) (bytes map[mutate.Operator]int, kinds map[Op]int, err error) {
	if err := m.checkRatios(); err != nil {
		return nil, nil, err
	}
	var known []string
	ofBytes, ofKind := map[string]mutate.Operator{}, map[string]Op{}
	for _, op := range own {
		known, ofKind[op.String()] = append(known, op.String()), op
	}
	for _, op := range mutate.Operators() {
		if op == mutate.OpSpliceInsert || op == mutate.OpSpliceOverwrite { // those are a stage
			continue
		}
		if len(own) == 0 {
			known = append(known, op.String())
			ofBytes[op.String()] = op
		} else {
			known = append(known, byteLevel+op.String())
		}
		ofBytes[byteLevel+op.String()] = op
	}
	for _, name := range slices.Sorted(maps.Keys(m.Weights)) {
		weight := m.Weights[name]
		if weight < 0 || weight > maxWeight {
			return nil, nil, exit.Usage("", "weights: %s = %d: expected a number from 0 to %d", name, weight, maxWeight)
		}
		if op, ok := ofKind[name]; ok {
			if kinds == nil {
				kinds = map[Op]int{}
			}
			kinds[op] = weight
		} else if op, ok := ofBytes[name]; ok {
			if bytes == nil {
				bytes = map[mutate.Operator]int{}
			}
			bytes[op] = weight
		} else {
			return nil, nil, exit.Usage("known are "+strings.Join(known, ", "), "weights: there is no mutation %q", name)
		}
	}
	return bytes, kinds, nil
}
