package netserver

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// mutation says how dialogues are changed. It is stored with the campaign.
type mutation struct {
	Mode           string   `json:"mode,omitempty"`
	StructureShare int      `json:"structure_share"`
	OrderShare     int      `json:"order_share"`
	Fields         []string `json:"field,omitempty"`
	MaxMessages    int      `json:"max_messages,omitempty"`
	MaxBytes       int      `json:"max_bytes,omitempty"`
}

// defaultMutation has the defaults of the flags.
func defaultMutation() mutation { return mutation{StructureShare: 70, OrderShare: 25} }

var modes = []string{"bytes", "structure", "hybrid"}

// maxMessageBytes is the highest limit on the length of a message.
const maxMessageBytes = 16 << 20

// addMutation adds the flags.
func addMutation(f *pflag.FlagSet, o *mutation) {
	defaults := defaultMutation()
	f.Var(flags.Choice(&o.Mode, modes), "mode", "what of messages is changed: their bytes, their fields, or both (default hybrid)")
	f.IntVar(&o.StructureShare, "structure-share", defaults.StructureShare, "in mode hybrid, how many of a hundred changes of messages are those of fields")
	f.IntVar(&o.OrderShare, "order-share", defaults.OrderShare, "how many of a hundred changes are those of the order of messages")
	f.StringArrayVar(&o.Fields, "field", nil, "field that may be changed, MESSAGE.FIELD, and no others; may be given several times (default all)")
	f.IntVar(&o.MaxMessages, "max-messages", 0, "messages that a dialogue may have; 0: 64")
	f.IntVar(&o.MaxBytes, "max-bytes", 0, "bytes that a message may grow to; 0: 131072")
	flags.SetGroup(f, "Mutation", "mode", "structure-share", "order-share", "field", "max-messages", "max-bytes")
}

// check refuses values that make no sense.
func (o *mutation) check() error {
	for _, s := range []struct {
		flag  string
		value int
	}{{"structure-share", o.StructureShare}, {"order-share", o.OrderShare}} {
		if s.value < 0 || s.value > 100 {
			return exit.Usage("", "--%s %d: expected a number from 0 to 100", s.flag, s.value)
		}
	}
	if o.MaxMessages < 0 {
		return exit.Usage("", "--max-messages %d: expected a number of messages, 0 for 64", o.MaxMessages)
	}
	if o.MaxBytes < 0 || o.MaxBytes > maxMessageBytes {
		return exit.Usage("", "--max-bytes %d: expected a number of bytes up to %d, 0 for 131072", o.MaxBytes, maxMessageBytes)
	}
	return nil
}

// mutator returns the mutator with these settings.
func (o *mutation) mutator(m *model.Model, d *mutate.Dictionary, w *flags.Mutation) (*dialogue.Mutator, error) {
	if m == nil && (o.Mode == "structure" || len(o.Fields) > 0) {
		what := "--mode structure"
		if o.Mode != "structure" {
			what = "--field " + o.Fields[0]
		}
		return nil, exit.Usage("'teasel net new NAME' writes a model to begin with", "%s: without --model messages have no fields", what)
	}
	out := newMutator(m, d)
	out.Fields, out.MaxMessages, out.MaxBytes = o.Fields, o.MaxMessages, o.MaxBytes
	out.BitRatio, out.ByteRatio = w.BitRatio, w.ByteRatio
	if at := slices.Index(modes, o.Mode); at >= 0 {
		out.Mode = []dialogue.Mode{dialogue.ByteLevel, dialogue.Structure, dialogue.Hybrid}[at]
	}
	out.StructureShare, out.OrderShare = shareOf(o.StructureShare), shareOf(o.OrderShare)
	var err error
	if out.ByteWeights, out.Weights, err = flags.OwnWeights(w, dialogue.Operators()); err != nil {
		return nil, err
	}
	if missing := out.Missing(); len(missing) > 0 {
		return nil, exit.Usage(fmt.Sprintf("'teasel net check %s' lists the fields of the seeds; *.FIELD stands for those of all messages", m.File),
			"--field %s: no message has such a field", missing[0])
	}
	return out, nil
}

// shareOf returns a share as the mutator takes it: there 0 is the default, and -1 is none.
func shareOf(percent int) int {
	if percent == 0 {
		return -1
	}
	return percent
}

// newMutator changes dialogues of a protocol.
func newMutator(m *model.Model, d *mutate.Dictionary) *dialogue.Mutator {
	return &dialogue.Mutator{Model: m, Dictionary: d}
}
