package dialogue

import (
	"bytes"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// fixedHeader is a protocol whose messages begin with four bytes that must not change.
func fixedHeader(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.Parse([]byte(`teasel-model: 1
types:
  option:
    seq:
      - {id: tag, type: u2, value: 0x5458, mutable: false}
      - {id: text, type: str, terminator: ";", value: abc}
messages:
  m:
    seq:
      - {id: header, type: u4, value: 0x11223344, mutable: false}
      - {id: flags, type: b3}
      - {id: kind, type: b13}
      - {id: size, type: u2}
      - {id: body, size: size, value: hello world}
      - {id: options, type: option, repeat: expr, repeat-expr: 2}
seeds:
  one: [{message: m}]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tags returns the values of the immutable fields within options.
func tags(msg *Message) (out []int64) {
	for i := range msg.Nodes {
		if msg.Nodes[i].Field.ID == "tag" {
			v, _ := msg.Number(i)
			out = append(out, v)
		}
	}
	return out
}

// kept checks that no immutable field has changed.
func kept(t *testing.T, what string, d *Dialogue) {
	t.Helper()
	for i := range d.Messages {
		msg := &d.Messages[i]
		if msg.Name == "" { // it was made, not changed
			continue
		}
		if !bytes.HasPrefix(msg.Data, []byte{0x11, 0x22, 0x33, 0x44}) {
			t.Fatalf("%s: the message begins with %x: %s", what, msg.Data[:min(4, len(msg.Data))], msg.AppendLayout(nil))
		}
		for _, tag := range tags(msg) {
			if tag != 0x5458 {
				t.Fatalf("%s: an option has the tag %x", what, tag)
			}
		}
	}
}

// What the model calls immutable keeps its value, whatever is done to a message and in whichever mode.
func TestImmutableFieldsStay(t *testing.T) {
	m := fixedHeader(t)
	seed := Seeds(m)[0]
	for _, mode := range []Mode{ByteLevel, Structure, Hybrid} {
		mut := &Mutator{Model: m, Mode: mode, MaxMessages: 4, MaxBytes: 2048}
		pool := []*Dialogue{seed}
		changed := 0
		for i := range uint64(iterations(5000)) {
			r := random(i)
			d := mut.Mutate(r, nil, pool[int(i)%len(pool)])
			kept(t, "a mutant", d)
			sound(t, m, d, "a mutant")
			if !bytes.Equal(d.Messages[0].Data, seed.Messages[0].Data) {
				changed++
			}
			other := mut.Cross(r, nil, d, pool[r.IntN(len(pool))])
			kept(t, "a cross", other)
			sound(t, m, other, "a cross")
			if out, ok := mut.Replace(nil, d, r.IntN(20), r.IntN(4), "%n"); ok {
				kept(t, "a replaced text", out)
			}
			if len(pool) < 50 {
				pool = append(pool, d)
			} else {
				pool[r.IntN(len(pool))] = seed
			}
		}
		if changed < iterations(5000)/2 {
			t.Errorf("mode %d: only %d messages were changed", mode, changed)
		}
		for k := uint64(0); ; k++ {
			d, ok := mut.Step(k, nil, seed)
			if !ok {
				if k < 50 {
					t.Errorf("mode %d: there are only %d steps", mode, k)
				}
				break
			}
			kept(t, "a step", d)
		}
		for k := uint64(0); ; k++ {
			d, ok := mut.Simplify(k, nil, seed)
			if !ok {
				break
			}
			kept(t, "a simpler one", d)
		}
	}
}

// A compared value is put in the place of what was found, but not into an immutable field.
func TestRepairLeavesImmutableFields(t *testing.T) {
	m := fixedHeader(t)
	seed := Seeds(m)[0]
	mut := &Mutator{Model: m}
	header := teasel.Operand{Size: 4, A: 0x11223344, B: 0x55667788}
	d, _ := mut.Repair(nil, seed, []teasel.Operand{header})
	kept(t, "a repaired dialogue", d)
}

// With named fields nothing else is changed, by no way of changing.
func TestNamedFieldsOnly(t *testing.T) {
	m := fixedHeader(t)
	seed := Seeds(m)[0]
	for _, mode := range []Mode{ByteLevel, Structure, Hybrid} {
		mut := &Mutator{Model: m, Mode: mode, OrderShare: -1, Fields: []string{"m.body"}}
		changed := 0
		for i := range uint64(iterations(2000)) {
			d := mut.Mutate(random(i), nil, seed)
			msg := &d.Messages[0]
			before := seed.Messages[0].Data
			if !bytes.HasPrefix(msg.Data, before[:6]) || !bytes.HasSuffix(msg.Data, before[19:]) {
				t.Fatalf("mode %d: more than the body and its size has changed: %s, %x", mode, msg.AppendLayout(nil), msg.Data)
			}
			at := msg.Child(0, "body")
			if at < 0 || !bytes.Equal(msg.Bytes(at), []byte("hello world")) {
				changed++
			}
		}
		if changed < iterations(2000)/2 {
			t.Errorf("mode %d: the body was changed %d times", mode, changed)
		}
	}
}

// Where the order of messages is not to be changed, ordered steps leave it too.
func TestNoStepsOfTheOrder(t *testing.T) {
	seed := Seeds(fixedHeader(t))[0]
	mut := &Mutator{Model: fixedHeader(t), OrderShare: -1}
	for k := uint64(0); ; k++ {
		d, ok := mut.Step(k, nil, seed)
		if !ok {
			return
		}
		if len(d.Messages) != 1 || d.Messages[0].NoWait {
			t.Fatalf("step %d has %d messages", k, len(d.Messages))
		}
	}
}
