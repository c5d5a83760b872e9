package dialogue

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// A packed dialogue is the same again, with all of its fields.
func TestPacked(t *testing.T) {
	for _, mod := range append([]*model.Model{nil}, exampleModels(t)...) {
		c := Codec{Model: mod}
		m := &Mutator{Model: mod}
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			d := m.Generate(r)
			for range r.IntN(4) {
				d = m.Mutate(r, nil, d)
			}
			packed := AppendPacked(nil, d)
			got := c.Unpack(packed)
			if again := AppendPacked(nil, got); !bytes.Equal(again, packed) || len(got.Messages) != len(d.Messages) {
				t.Fatalf("%q is %q when it is packed again", packed, again)
			}
			for i := range d.Messages {
				want, have := &d.Messages[i], &got.Messages[i]
				if have.Name != want.Name || have.Reconnect != want.Reconnect || have.NoWait != want.NoWait ||
					!bytes.Equal(have.Data, want.Data) || len(have.Nodes) != len(want.Nodes) || len(want.Nodes) > 0 && !reflect.DeepEqual(have.Nodes, want.Nodes) {
					t.Fatalf("message %d is\n%+v, want\n%+v", i, have, want)
				}
			}
		}
	}
	if d := (Codec{}).Unpack(AppendPacked(nil, &Dialogue{})); len(d.Messages) != 0 {
		t.Errorf("an empty dialogue has %d messages", len(d.Messages))
	}
}
