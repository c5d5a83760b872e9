package dialogue

import (
	"math"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// The first step of a number writes its largest value, also into one of 64 bits.
func TestLargestValues(t *testing.T) {
	m, err := model.Parse([]byte(`teasel-model: 1
messages:
  m:
    seq:
      - {id: byte, type: u1}
      - {id: signed, type: s8}
      - {id: wide, type: u8}
      - {id: low, type: b64}
      - {id: variable, type: leb128}
      - {id: bits, type: b63}
      - {id: last, type: b1}
seeds:
  one: [{message: m}]
`), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tree := &Seeds(m)[0].Messages[0].Tree
	for id, want := range map[string]uint64{"byte": 255, "signed": math.MaxUint64, "wide": math.MaxUint64, "low": math.MaxUint64, "variable": math.MaxUint64, "bits": math.MaxInt64} {
		i := tree.Child(0, id)
		(&Mutator{Model: m}).stepNumber(tree, i, 0)
		if v, ok := tree.Number(i); !ok || uint64(v) != want {
			t.Errorf("%s: the largest value is %d, expected %d", id, uint64(v), want)
		}
	}
}
