package dialogue

import (
	"bytes"
	"maps"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Mode says what mutations work on.
type Mode uint8

// The modes. The zero value means [Hybrid].
const (
	ModeInvalid Mode = iota
	ByteLevel        // the bytes of messages only
	Structure        // their fields only; a message that has none, since it does not fit the model, is changed as bytes
	Hybrid           // both
)

// Mutator makes dialogues and changes them. The zero value is ready and knows bytes only; fields must not be changed once
// it was used. What it does is a pure function of its fields and the arguments. One goroutine at a time may use it.
type Mutator struct {
	// Model is where fields, message kinds and states come from. nil: messages are bytes.
	Model *model.Model
	// Mode says what is changed.
	Mode Mode
	// StructureShare is how many of a hundred changes of messages are those of fields, in [Hybrid] mode. 0: 70.
	StructureShare int
	// OrderShare is how many of a hundred changes are those of the order of messages. 0: 25; negative: none.
	OrderShare int
	// Weights overrides how likely operators are among those of their kind; 0 switches one off.
	Weights map[Operator]int
	// ByteWeights does the same for the mutations of bytes, among one another.
	ByteWeights map[mutate.Operator]int
	// Bytes changes the bytes of messages and fields. nil: the operators of mutate.Bytes with the weights of the families bit
	// flip 20, byte flip 20, arithmetic 15, interesting values 20, havoc 15, and Dictionary.
	Bytes *mutate.Bytes
	// BitRatio is the share of bits that the inversion of bits inverts, where Bytes is nil. 0: 1 %.
	BitRatio float64
	// ByteRatio is the share of bytes that the replacement of bytes replaces, where Bytes is nil. 0: 5 %.
	ByteRatio float64
	// Dictionary is where tokens come from. nil: none.
	Dictionary *mutate.Dictionary
	// Fields are the fields that may be changed, as paths such as publish.body.topic, * standing for any message. What follows
	// from them, such as a length, is computed anew; all else stays, in each mode. nil: all that the model calls mutable.
	Fields []string
	// Seeds are dialogues that the first pass holds side by side, beside the model's. Without a model, their messages are those that are
	// put into other dialogues, in place of the model's. nil: there are no others.
	Seeds []*Dialogue
	// MaxMessages is how many messages a dialogue has at most. 0: 64.
	MaxMessages int
	// MaxBytes is how long a message may grow. 0: 128 KiB.
	MaxBytes int

	ready   bool
	chances [onOrder + 1]chances
	allowed map[*model.Field]bool
	missing []string    // of Fields, those that name none
	samples []*Dialogue // one message each, by the order of the model; without one, of the seeds
	first   *firstPass  // nil: it was not asked for yet
	scratch model.Tree
	nodes   []int
	between []span
	fields  []steppable
	buf     []byte
}

var (
	_ teasel.Mutator[*Dialogue]    = (*Mutator)(nil)
	_ teasel.Stepper[*Dialogue]    = (*Mutator)(nil)
	_ teasel.Simplifier[*Dialogue] = (*Mutator)(nil)
	_ teasel.Crosser[*Dialogue]    = (*Mutator)(nil)
	_ teasel.Joiner[*Dialogue]     = (*Mutator)(nil)
	_ teasel.Repairer[*Dialogue]   = (*Mutator)(nil)
)

// Clone returns a mutator of the same settings for another worker. They share the model and the dictionary.
func (m *Mutator) Clone() *Mutator {
	c := &Mutator{Model: m.Model, Mode: m.Mode, StructureShare: m.StructureShare, OrderShare: m.OrderShare, Weights: m.Weights, ByteWeights: m.ByteWeights,
		BitRatio: m.BitRatio, ByteRatio: m.ByteRatio, Dictionary: m.Dictionary, Fields: m.Fields, Seeds: m.Seeds, MaxMessages: m.MaxMessages, MaxBytes: m.MaxBytes}
	if m.Bytes != nil {
		c.Bytes = m.Bytes.Clone()
	}
	return c
}

// chances draws operators by weight.
type chances struct {
	ops   []Operator
	until []int // sums of weights
}

func (c *chances) draw(r *teasel.Rand) Operator {
	if len(c.ops) == 0 {
		return OpInvalid
	}
	x := r.IntN(c.until[len(c.until)-1])
	for i, limit := range c.until {
		if x < limit {
			return c.ops[i]
		}
	}
	return OpInvalid
}

// prepare computes what the settings come to.
func (m *Mutator) prepare() {
	if m.ready {
		return
	}
	m.ready = true
	for _, op := range Operators() {
		weight, named := m.Weights[op]
		if !named {
			weight = operators[op].weight
		}
		if weight <= 0 {
			continue
		}
		c := &m.chances[operators[op].family]
		sum := weight
		if n := len(c.until); n > 0 {
			sum += c.until[n-1]
		}
		c.ops, c.until = append(c.ops, op), append(c.until, sum)
	}
	if m.Bytes == nil {
		m.Bytes = &mutate.Bytes{MaxLen: m.maxBytes(), BitRatio: m.BitRatio, ByteRatio: m.ByteRatio, Dictionary: m.Dictionary, Weights: maps.Clone(byteWeights)}
		maps.Copy(m.Bytes.Weights, m.ByteWeights)
	}
	if m.Model != nil {
		for _, kind := range m.Model.Messages {
			if s := m.Model.Sample(kind.Name); s != nil {
				d := &Dialogue{}
				d.add(s)
				m.samples = append(m.samples, d)
			}
		}
	} else {
		m.samples = messagesOf(m.Seeds)
	}
	m.allow()
}

// Missing returns those of Fields that no message of the model has, as far as its seeds or default values show.
func (m *Mutator) Missing() []string {
	m.prepare()
	return m.missing
}

// byteWeights are the weights of the byte-level mutations: those of one family have its weight together.
var byteWeights = map[mutate.Operator]int{
	mutate.OpBitFlip: 10, mutate.OpBitFlips: 10,
	mutate.OpByteFlip: 5, mutate.OpByteFlips: 10, mutate.OpXor: 5,
	mutate.OpArith8: 3, mutate.OpArith16: 4, mutate.OpArith32: 6, mutate.OpArith64: 2,
	mutate.OpInteresting8: 5, mutate.OpInteresting16: 6, mutate.OpInteresting32: 6, mutate.OpInteresting64: 3,
	mutate.OpInsert: 2, mutate.OpDelete: 3, mutate.OpDuplicate: 2, mutate.OpShuffle: 2, mutate.OpCopyInsert: 1, mutate.OpFixedInsert: 1,
	mutate.OpCopyOverwrite: 1, mutate.OpFixedOverwrite: 1, mutate.OpRepeat: 1, mutate.OpSwap: 1,
	mutate.OpLine: 1, mutate.OpNumber: 2, mutate.OpTokenOverwrite: 3, mutate.OpTokenInsert: 3,
}

func (m *Mutator) maxMessages() int {
	if m.MaxMessages <= 0 {
		return 64
	}
	return m.MaxMessages
}

func (m *Mutator) maxBytes() int {
	if m.MaxBytes <= 0 {
		return 128 << 10
	}
	return m.MaxBytes
}

func share(configured, usual int) int {
	if configured == 0 {
		return usual
	}
	return min(max(configured, 0), 100)
}

const maxTries = 16 // to make a mutant that differs

// Mutate returns src after one operator, or after up to eight on one another. It differs from src.
func (m *Mutator) Mutate(r *teasel.Rand, dst, src *Dialogue) *Dialogue {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	dst.CopyFrom(src)
	for range maxTries {
		ops := 1
		for ops < 8 && r.Uint32()%10 < 7 {
			ops++
		}
		for range ops {
			m.change(r, dst)
		}
		if !equal(dst, src) {
			return dst
		}
		dst.CopyFrom(src)
	}
	m.force(r, dst)
	return dst
}

// force makes a change that is certain to be one.
func (m *Mutator) force(r *teasel.Rand, d *Dialogue) {
	if len(d.Messages) == 0 || len(d.Messages) < m.maxMessages() && r.IntN(2) == 0 {
		d.resize(len(d.Messages) + 1)
		last := &d.Messages[len(d.Messages)-1]
		last.copyFrom(&Message{})
		last.SetRaw([]byte{byte(r.Uint32())})
		return
	}
	msg := &d.Messages[r.IntN(len(d.Messages))]
	switch {
	case m.fixed(msg):
		msg.NoWait = !msg.NoWait
	case len(msg.Data) == 0:
		msg.SetRaw([]byte{byte(r.Uint32())})
	default:
		msg.Data[r.IntN(len(msg.Data))] ^= 1 << r.IntN(8) // fields stay where they are
	}
}

// change applies one operator.
func (m *Mutator) change(r *teasel.Rand, d *Dialogue) {
	order := share(m.OrderShare, 25)
	if len(d.Messages) == 0 || r.IntN(100) < order {
		m.reorder(r, m.chances[onOrder].draw(r), d)
		return
	}
	msg := draw(r, d)
	structured := len(msg.Nodes) > 0 && m.Mode != ByteLevel
	if structured && m.Mode != Structure {
		structured = r.IntN(100) < share(m.StructureShare, 70)
	}
	if structured {
		for range maxTries / 4 {
			if m.field(r, m.chances[onField].draw(r), d, msg) {
				return
			}
		}
		if m.Mode == Structure {
			return
		}
	}
	m.bytes(r, m.chances[onBytes].draw(r), d, msg)
}

// draw draws a message, those with much in them more often: a ping of two bytes has few mutants.
func draw(r *teasel.Rand, d *Dialogue) *Message {
	weight := func(msg *Message) int { return min(1+len(msg.Data), 128) }
	sum := 0
	for i := range d.Messages {
		sum += weight(&d.Messages[i])
	}
	x := r.IntN(sum)
	for i := range d.Messages {
		if x -= weight(&d.Messages[i]); x < 0 {
			return &d.Messages[i]
		}
	}
	return &d.Messages[0]
}

// Apply applies one operator at a drawn place; false if it does not fit. It is for tests and for those who want one
// certain change.
func (m *Mutator) Apply(r *teasel.Rand, op Operator, d *Dialogue) bool {
	m.prepare()
	if operators[op].family == onOrder {
		return m.reorder(r, op, d)
	}
	if len(d.Messages) == 0 {
		return false
	}
	msg := &d.Messages[r.IntN(len(d.Messages))]
	if operators[op].family == onField {
		return len(msg.Nodes) > 0 && m.field(r, op, d, msg)
	}
	return m.bytes(r, op, d, msg)
}

// equal reports whether two dialogues send the same.
func equal(a, b *Dialogue) bool {
	if len(a.Messages) != len(b.Messages) {
		return false
	}
	for i := range a.Messages {
		x, y := &a.Messages[i], &b.Messages[i]
		if x.NoWait != y.NoWait || x.Reconnect != y.Reconnect || x.Client != y.Client || !bytes.Equal(x.Data, y.Data) {
			return false
		}
	}
	return true
}

// Generate makes a dialogue: a walk through the states of the model, or some of its messages, or drawn bytes.
func (m *Mutator) Generate(r *teasel.Rand) *Dialogue {
	m.prepare()
	d := &Dialogue{}
	switch {
	case len(m.samples) == 0 || m.Model == nil && r.IntN(2) == 0:
		return Raw(m.Bytes.Generate(r))
	case m.Model == nil || len(m.Model.States) == 0:
		for range 1 + r.IntN(4) {
			m.insert(d, len(d.Messages), &m.samples[r.IntN(len(m.samples))].Messages[0])
		}
		return d
	}
	state := m.Model.States[0]
	for range 1 + r.IntN(8) {
		if len(state.Transitions) == 0 {
			break
		}
		t := &state.Transitions[r.IntN(len(state.Transitions))]
		if s := m.sample(t.Send); s != nil {
			m.insert(d, len(d.Messages), s)
		}
		if t.To != "" {
			state = m.Model.State(t.To)
		}
	}
	if len(d.Messages) == 0 {
		m.insert(d, 0, &m.samples[r.IntN(len(m.samples))].Messages[0])
	}
	return d
}

// sample returns a message as the model has it, nil if it has none of that name.
func (m *Mutator) sample(name string) *Message {
	for _, s := range m.samples {
		if s.Messages[0].Name == name {
			return &s.Messages[0]
		}
	}
	return nil
}

// insert puts a copy of a message in front of the i-th.
func (m *Mutator) insert(d *Dialogue, i int, msg *Message) {
	d.resize(len(d.Messages) + 1)
	last := len(d.Messages) - 1
	moved := d.Messages[last] // its memory is used again
	copy(d.Messages[i+1:], d.Messages[i:last])
	d.Messages[i] = moved
	d.Messages[i].copyFrom(msg)
}

// Repair puts what the server compared with in the place of what it found, in each message.
func (m *Mutator) Repair(dst, src *Dialogue, ops []teasel.Operand) (*Dialogue, bool) {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	dst.CopyFrom(src)
	repaired := false
	for i := range dst.Messages {
		out, ok := m.Bytes.Repair(m.buf[:0], dst.Messages[i].Data, ops)
		m.buf = out
		if ok {
			repaired = m.setBytes(&dst.Messages[i], out) || repaired
		}
	}
	return dst, repaired
}
